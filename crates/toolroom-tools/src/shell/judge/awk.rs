//! `awk` programs: most only read.

use super::call::Call;
use super::finding::Finding;
use super::interpreters::{from_file, only_tells};
use super::unwrap::Unwrapped;
use super::value::Value;

/// `awk` programs that start others or write files ask.
pub(super) fn unwrap(call: &Call) -> Unwrapped {
    let mut at = 0;
    let mut program = None;
    while let Some(value) = call.arguments().get(at) {
        let text = value.text.as_str();
        at += 1;
        if value.may_be_option() && value.known().is_none() {
            return Unwrapped::found(Finding::opaque("a program of `awk` that is not known before"));
        }
        match text {
            "-F" | "-v" | "--field-separator" | "--assign" => at += 1,
            _ if only_tells(call, "Vh") => return Unwrapped::default(),
            "-f" | "--file" => {
                let file = call.arguments().get(at).cloned().unwrap_or_else(Value::unknown);
                return from_file(&file, Unwrapped::default());
            }
            "--" => {
                program = call.arguments().get(at);
                break;
            }
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with("--field-separator=") || text.starts_with("--assign=") => {}
            _ if text.starts_with('-') => {
                return Unwrapped::found(Finding::opaque("an option of `awk` that is not known"));
            }
            _ => {
                program = Some(value);
                break;
            }
        }
    }
    let Some(program) = program else {
        return Unwrapped::found(Finding::opaque("`awk` without its program"));
    };
    let Some(text) = program.known() else {
        return Unwrapped::found(Finding::opaque("a program of `awk` that is not known before"));
    };
    match may_reach_out(text) {
        true => Unwrapped::found(Finding::opaque("a program of `awk` that may start others or write files")),
        false => Unwrapped::default(),
    }
}

/// Whether a program may start others or write files. What it prints may stand behind a `>`, but not in brackets.
fn may_reach_out(program: &str) -> bool {
    let words = ["system", "getline", "close("];
    if words.iter().any(|word| program.contains(word)) || program.replace("||", "").contains('|') {
        return true;
    }
    let mut inside = Inside::Program;
    let (mut is_escaped, mut prints, mut open, mut before) = (false, false, 0_usize, b';');
    for (at, byte) in program.bytes().enumerate() {
        if std::mem::take(&mut is_escaped) {
            continue;
        }
        match (byte, inside) {
            (b'\\', _) => is_escaped = true,
            (b'"', Inside::Program) => inside = Inside::Text,
            (b'"', Inside::Text) => inside = Inside::Program,
            (_, Inside::Text) => {}
            (b'/', Inside::Pattern) => inside = Inside::Program,
            // Where such a pattern ends is for others to guess.
            (b'"', Inside::Pattern) | (b'/' | b'"', Inside::Brackets) => return true,
            (b'[', Inside::Pattern) => inside = Inside::Brackets,
            (b']', Inside::Brackets) => inside = Inside::Pattern,
            (_, Inside::Pattern | Inside::Brackets) => {}
            (b'/', Inside::Program) if b"(,{};!&|~=\n".contains(&before) => inside = Inside::Pattern,
            // `@name(…)` calls what a text names, `@load` and `@include` bring more of it.
            (b'@', _) if program.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphabetic) => return true,
            (b'p', _) if program.get(at..).is_some_and(|rest| rest.starts_with("print")) => prints = true,
            (b';' | b'}' | b'\n', _) => (prints, open) = (false, 0),
            (b'(', _) => open += 1,
            (b')', _) => open = open.saturating_sub(1),
            (b'>', _) if prints && open == 0 => return true,
            _ => {}
        }
        if byte != b' ' {
            before = byte;
        }
    }
    false
}

/// What a sign of a program stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Program,
    Text,
    Pattern,
    Brackets,
}
