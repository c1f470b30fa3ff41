//! `sed` scripts: a few commands start programs or write files.

use super::invocation::Invocation;
use super::launchers::{unseen_names, valued};
use super::report::Concern;
use super::started_programs::StartedPrograms;

const UNKNOWN_SCRIPT: &str = "a script of `sed` that may start programs or write files";

pub(super) fn programs_started_by(invocation: &Invocation) -> StartedPrograms {
    let mut scripts = valued(invocation, "e", &["expression"]);
    if invocation.has_option("f", &["file"]) {
        return StartedPrograms::found(Concern::opaque("a script of `sed` in a file"));
    }
    if scripts.is_empty() {
        let first = invocation.operands().next().cloned();
        scripts.extend(first);
    }
    let harmless = scripts.iter().all(|script| script.known().is_some_and(is_harmless));
    let hidden =
        invocation.arguments().iter().any(|value| value.splits) || invocation.has_more && scripts.is_empty();
    let in_place = invocation.has_option("i", &["in-place"]);
    let empties = in_place
        && (invocation.has_option("n", &["quiet", "silent"]) || scripts.iter().any(|it| drops_all(&it.text)));
    if harmless && empties {
        return StartedPrograms::found(Concern::risk("throws away most of a file in place"));
    }
    match harmless && !hidden {
        // `xargs` appends files to `sed`, as usual.
        true if invocation.has_more => StartedPrograms::default(),
        true => unseen_names(invocation),
        false => StartedPrograms::found(Concern::opaque(UNKNOWN_SCRIPT)),
    }
}

/// Whether each command only changes the text that passes through.
fn is_harmless(script: &str) -> bool {
    commands(script, |_, _| {})
}

/// Whether a command deletes all lines, or all but a few.
fn drops_all(script: &str) -> bool {
    let mut drops = false;
    commands(script, |address, command| drops |= is_wide(address, command));
    drops
}

/// Whether a command deletes lines without a narrowing address.
fn is_wide(address: &str, command: &str) -> bool {
    let address = address.trim();
    // Letters and literal signs narrow the address to some lines.
    let is_pattern = |text: &str| !text.contains(|sign: char| !".*+?^$\\/, ~!0123456789".contains(sign));
    let is_narrow = !is_pattern(address)
        || matches!(address, "$" | "/^$/")
        || !address.is_empty() && address.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    match command.chars().next() {
        Some('d' | 'D' | 'z' | 'c') => !is_narrow || address.ends_with('!') || address.ends_with(",$"),
        Some('q' | 'Q') => true,
        Some('s') => {
            let delimiter = command.chars().nth(1).unwrap_or('/');
            let mut parts = command.get(2..).unwrap_or_default().split(delimiter);
            let (pattern, replacement) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            let is_any = pattern.contains('.') && is_pattern(pattern) && !pattern.contains("\\.");
            !is_narrow && is_any && !replacement.contains(['&', '\\'])
        }
        _ => false,
    }
}

/// Iterates over the commands and their addresses, as long as they only change the text that passes through.
fn commands(script: &str, mut see: impl FnMut(&str, &str)) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(command) = behind_addresses(rest) else { return false };
        see(rest.strip_suffix(command).unwrap_or_default(), command);
        let mut letters = command.chars();
        let Some(letter) = letters.next() else { return false };
        let body = letters.as_str();
        rest = match letter {
            's' => match behind_parts(body) {
                Some(flags) => {
                    let end = flags
                        .trim_start_matches(|flag: char| "gpiImM".contains(flag) || flag.is_ascii_digit());
                    if !ends(end) {
                        return false;
                    }
                    end
                }
                None => return false,
            },
            'y' => match behind_parts(body) {
                Some(end) if ends(end) => end,
                _ => return false,
            },
            'p' | 'd' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'D' | 'P' | '=' | 'z' if ends(body) => body,
            'q' | 'Q' | 'l' => {
                let end = body.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == ' ');
                if !ends(end) {
                    return false;
                }
                end
            }
            // A label ends where the next command may begin.
            'b' | 't' | 'T' | ':' => body
                .trim_start_matches([' ', '\t'])
                .trim_start_matches(|sign: char| !" \t\n;{}".contains(sign)),
            'a' | 'i' | 'c' => match body.split_once('\n') {
                Some((line, end)) if !line.ends_with('\\') => end,
                Some(_) => return false,
                None => "",
            },
            '{' => body,
            _ => return false,
        };
    }
}

fn ends(rest: &str) -> bool {
    rest.trim_start_matches([' ', '\t']).starts_with([';', '\n', '}']) || rest.trim().is_empty()
}

/// Skips `1,$`, `/…/` and `!`.
fn behind_addresses(script: &str) -> Option<&str> {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || " ,$!~+IM".contains(sign));
        if let Some(behind) = rest.strip_prefix('/') {
            rest = behind_delimiter(behind, '/')?;
        } else if let Some(behind) = rest.strip_prefix('\\') {
            let delimiter = behind.chars().next()?;
            rest = behind_delimiter(behind.get(delimiter.len_utf8()..)?, delimiter)?;
        } else {
            return Some(rest);
        }
    }
}

/// Skips the two parts of `s` and `y`.
fn behind_parts(body: &str) -> Option<&str> {
    let delimiter = body.chars().next().filter(|delimiter| *delimiter != '\\' && *delimiter != '\n')?;
    let rest = behind_delimiter(body.get(delimiter.len_utf8()..)?, delimiter)?;
    behind_delimiter(rest, delimiter)
}

fn behind_delimiter(text: &str, delimiter: char) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == delimiter {
            return text.get(at + delimiter.len_utf8()..);
        }
    }
    None
}
