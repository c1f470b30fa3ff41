//! `make`: what its arguments make it run.

use super::call::Call;
use super::finding::Finding;
use super::paths::is_descriptor;
use super::started_by::valued;
use super::unwrap::Unwrapped;
use super::value::Value;
use super::variables;

/// What a call of `make` would start, beside what its file says.
pub(super) fn unwrap(call: &Call) -> Unwrapped {
    let mut unwrapped = Unwrapped::default();
    let from_input = |file: &Value| file.text == "-" || file.known().is_none() || is_descriptor(&file.text);
    let runs_text = call.has_option("E", &["eval"])
        || call.has_more
        || call.has_argument(&["-"])
        || valued(call, "f", &["file", "makefile"]).iter().any(from_input);
    if runs_text {
        unwrapped.findings.push(Finding::opaque("rules that stand in no file"));
    }
    for value in call.operands() {
        let Some((name, text)) = value.text.split_once('=') else { continue };
        let name = name.trim_end_matches([':', '+', '?', '!']);
        unwrapped.findings.extend(variables::judged(name));
        if text.contains(['$', '`']) || matches!(name, "SHELL" | ".SHELLFLAGS" | "MAKE") {
            unwrapped.findings.push(Finding::opaque("a variable of `make` that starts a program"));
        } else if variables::is_command(name) || !text.starts_with('-') && text.contains(' ') {
            unwrapped.texts.push(Value { text: text.to_owned(), ..value.clone() });
        }
    }
    unwrapped
}
