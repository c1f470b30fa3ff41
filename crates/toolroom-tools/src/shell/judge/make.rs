//! `make`: programs started through its arguments.

use super::invocation::Invocation;
use super::launchers::valued;
use super::paths::is_descriptor;
use super::report::Concern;
use super::started_programs::StartedPrograms;
use super::value::Value;
use super::variables;

/// The programs an invocation of `make` would start, besides those of its makefile.
pub(super) fn programs_started_by(invocation: &Invocation) -> StartedPrograms {
    let mut started = StartedPrograms::default();
    let from_input = |file: &Value| file.text == "-" || file.known().is_none() || is_descriptor(&file.text);
    let runs_text = invocation.has_option("E", &["eval"])
        || invocation.has_more
        || invocation.has_argument(&["-"])
        || valued(invocation, "f", &["file", "makefile"]).iter().any(from_input);
    if runs_text {
        started.concerns.push(Concern::opaque("rules that stand in no file"));
    }
    for value in invocation.operands() {
        let Some((name, text)) = value.text.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '+', '?', '!']);
        started.concerns.extend(variables::judged(name));
        if text.contains(['$', '`']) || matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKE") {
            started.concerns.push(Concern::opaque("a variable of `make` that starts a program"));
        } else if variables::is_command(name) || !text.starts_with('-') && text.contains(' ') {
            started.texts.push(Value { text: text.to_owned(), ..value.clone() });
        }
    }
    started
}
