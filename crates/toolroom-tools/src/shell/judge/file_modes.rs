//! File modes that lock out the owner or give access to all users.

use super::invocation::Invocation;
use super::launchers::valued;
use super::value::Value;

/// Why the mode set by `chmod` needs approval.
pub(super) fn risk(invocation: &Invocation) -> Option<&'static str> {
    match invocation.name() {
        "chmod" => {
            let is_flag = |text: &str| {
                text.strip_prefix('-')
                    .is_some_and(|letters| letters.trim_matches(['R', 'v', 'c', 'f', '-']).is_empty())
            };
            let long =
                ["--recursive", "--verbose", "--changes", "--silent", "--quiet", "--help", "--version"];
            let is_option = |value: &&Value| is_flag(&value.text) || long.contains(&value.text.as_str());
            let mode = invocation.arguments().iter().find(|value| !is_option(value));
            mode.and_then(judged)
        }
        "install" | "mkdir" | "mkfifo" => valued(invocation, "m", &["mode"]).iter().find_map(judged),
        "umask" => {
            let mask = invocation.operands().next()?;
            let is_open = match mask.known().and_then(|text| u32::from_str_radix(text, 8).ok()) {
                Some(mask) => mask & 0o002 == 0,
                None => true,
            };
            is_open.then_some("lets all users write the files that follow")
        }
        _ => None,
    }
}

fn judged(mode: &Value) -> Option<&'static str> {
    const UNKNOWN: &str = "sets permissions that are not known in advance";
    const RUNS: &str = "lets other users run a program with its owner's rights";
    const OPENS: &str = "lets all users write a file";
    const CLOSES: &str = "locks the owner out of a file";
    let Some(text) = mode.known() else { return Some(UNKNOWN) };
    if let Ok(bits) = u32::from_str_radix(text.trim_start_matches(['=', '+']), 8) {
        return match bits {
            _ if bits & 0o6000 != 0 => Some(RUNS),
            _ if bits & 0o002 != 0 => Some(OPENS),
            _ if bits & 0o400 == 0 => Some(CLOSES),
            _ => None,
        };
    }
    for clause in text.split(',') {
        let start = clause.find(['+', '-', '=']).unwrap_or(clause.len());
        let (who, changes) = clause.split_at(start);
        if changes.is_empty() || !who.chars().all(|letter| "ugoa".contains(letter)) {
            return Some(UNKNOWN);
        }
        let of_owner = who.is_empty() || who.contains(['u', 'a']);
        let mut rest = changes;
        while let Some(sign) = rest.chars().next() {
            let behind = rest.get(1..).unwrap_or_default();
            let end = behind.find(['+', '-', '=']).unwrap_or(behind.len());
            let (letters, next) = behind.split_at(end);
            rest = next;
            if !letters.chars().all(|letter| "rwxXstugo".contains(letter)) {
                return Some(UNKNOWN);
            }
            if sign != '-' && letters.contains('s') {
                return Some(RUNS);
            }
            if sign != '-' && who.contains(['o', 'a']) && letters.contains(['w', 'u', 'g']) {
                return Some(OPENS);
            }
            if of_owner && (sign == '-') == letters.contains('r') && sign != '+' {
                return Some(CLOSES);
            }
        }
    }
    None
}
