//! `tar` runs texts for checkpoints, members, volumes and compression.

use super::call::Call;
use super::finding::Finding;
use super::started_by::{unseen_names, valued};
use super::unwrap::Unwrapped;
use super::value::Value;

const RUNNING: [&str; 6] =
    ["to-command", "info-script", "new-volume-script", "rsh-command", "rmt-command", "use-compress-program"];

/// What a call of `tar` would start.
pub(super) fn unwrap(call: &Call) -> Unwrapped {
    let mut unwrapped = unseen_names(call);
    unwrapped.texts = valued(call, "IF", &RUNNING);
    for action in valued(call, "", &["checkpoint-action"]) {
        match action.text.strip_prefix("exec=") {
            Some(text) => unwrapped.texts.push(Value { text: text.to_owned(), ..action.clone() }),
            None if action.known().is_none() => unwrapped.texts.push(action),
            None => {}
        }
    }
    if call.arguments().iter().any(|value| value.may_be_option() && value.known().is_none()) {
        let why = "options of `tar` that are not known before may start programs";
        unwrapped.findings.push(Finding::opaque(why));
    }
    // Without a dash the first word holds the options.
    let first = call.argument(0).unwrap_or_default();
    if !first.starts_with('-') && first.contains(['I', 'F']) {
        unwrapped.findings.push(Finding::opaque("an option of `tar` that starts a program"));
    }
    if !first.starts_with('-') && first.contains(['P', 'U']) {
        unwrapped.findings.push(Finding::risk("writes where the archive says, over what is there"));
    }
    let mut archives = valued(call, "f", &["file"]);
    archives.extend(value_behind_letters(call, 'f'));
    if archives.iter().any(|archive| archive.text.contains(':')) && !call.has_option("", &["force-local"]) {
        unwrapped.findings.push(Finding::risk("an archive on another machine"));
    }
    unwrapped
}

/// The value of a letter in a first word without a dash, as in `tar xfC a.tar out`: the values follow in the order of
/// their letters.
pub(super) fn value_behind_letters(call: &Call, letter: char) -> Option<Value> {
    let letters = call.argument(0).filter(|letters| !letters.starts_with('-'))?;
    let before = letters.split_once(letter)?.0;
    let valued = before.chars().filter(|letter| "bfgCFIKLNTVX".contains(*letter)).count();
    call.arguments().get(1 + valued).cloned()
}
