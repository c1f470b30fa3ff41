//! `awk`: most programs only read.

use super::interpreters::{from_file, only_tells};
use super::invocation::Invocation;
use super::report::Concern;
use super::started_programs::StartedPrograms;
use super::value::Value;

/// `awk` programs that start other programs or write files need approval.
pub(super) fn programs_started_by(invocation: &Invocation) -> StartedPrograms {
    let mut at = 0;
    let mut program = None;
    while let Some(value) = invocation.arguments().get(at) {
        let text = value.text.as_str();
        at += 1;
        if value.may_be_option() && value.known().is_none() {
            return StartedPrograms::found(Concern::opaque(
                "a program of `awk` that is not known in advance",
            ));
        }
        match text {
            "-F" | "-v" | "--field-separator" | "--assign" => at += 1,
            _ if only_tells(invocation, "Vh") => return StartedPrograms::default(),
            "-f" | "--file" => {
                let file = invocation.arguments().get(at).cloned().unwrap_or_else(Value::unknown);
                return from_file(&file, StartedPrograms::default());
            }
            "--" => {
                program = invocation.arguments().get(at);
                break;
            }
            _ if text.starts_with("-F") || text.starts_with("-v") => {}
            _ if text.starts_with("--field-separator=") || text.starts_with("--assign=") => {}
            _ if text.starts_with('-') => {
                return StartedPrograms::found(Concern::opaque("an option of `awk` that is not known"));
            }
            _ => {
                program = Some(value);
                break;
            }
        }
    }
    let Some(program) = program else {
        return StartedPrograms::found(Concern::opaque("`awk` without its program"));
    };
    let Some(text) = program.known() else {
        return StartedPrograms::found(Concern::opaque("a program of `awk` that is not known in advance"));
    };
    match may_reach_out(text) {
        true => {
            StartedPrograms::found(Concern::opaque("a program of `awk` that may start others or write files"))
        }
        false => StartedPrograms::default(),
    }
}

/// Whether the program may start other programs or write files. A `>` inside brackets is a comparison.
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
            // The end of such a pattern is ambiguous.
            (b'"', Inside::Pattern) | (b'/' | b'"', Inside::Brackets) => return true,
            (b'[', Inside::Pattern) => inside = Inside::Brackets,
            (b']', Inside::Brackets) => inside = Inside::Pattern,
            (_, Inside::Pattern | Inside::Brackets) => {}
            (b'/', Inside::Program) if b"(,{};!&|~=\n".contains(&before) => inside = Inside::Pattern,
            // `@name(…)` calls a function named by a text; `@load` and `@include` load more code.
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

/// The syntax a sign of the program stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Program,
    Text,
    Pattern,
    Brackets,
}
