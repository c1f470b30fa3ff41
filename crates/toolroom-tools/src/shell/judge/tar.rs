//! `tar` runs commands for checkpoints, members, volumes and compression.

use super::invocation::Invocation;
use super::launchers::{unseen_names, valued};
use super::report::Concern;
use super::started_programs::StartedPrograms;
use super::value::Value;

const RUNNING: [&str; 6] =
    ["to-command", "info-script", "new-volume-script", "rsh-command", "rmt-command", "use-compress-program"];

/// The programs an invocation of `tar` would start.
pub(super) fn programs_started_by(invocation: &Invocation) -> StartedPrograms {
    let mut started = unseen_names(invocation);
    started.texts = valued(invocation, "IF", &RUNNING);
    for action in valued(invocation, "", &["checkpoint-action"]) {
        match action.text.strip_prefix("exec=") {
            Some(text) => started.texts.push(Value { text: text.to_owned(), ..action.clone() }),
            None if action.known().is_none() => started.texts.push(action),
            None => {}
        }
    }
    if invocation.arguments().iter().any(|value| value.may_be_option() && value.known().is_none()) {
        let why = "options of `tar` that are not known in advance may start programs";
        started.concerns.push(Concern::opaque(why));
    }
    // Without a dash the first word has the options.
    let first = invocation.argument(0).unwrap_or_default();
    if !first.starts_with('-') && first.contains(['I', 'F']) {
        started.concerns.push(Concern::opaque("an option of `tar` that starts a program"));
    }
    if !first.starts_with('-') && first.contains(['P', 'U']) {
        started.concerns.push(Concern::risk("writes where the archive says, over what is there"));
    }
    let mut archives = valued(invocation, "f", &["file"]);
    archives.extend(value_behind_letters(invocation, 'f'));
    if archives.iter().any(|archive| archive.text.contains(':'))
        && !invocation.has_option("", &["force-local"])
    {
        started.concerns.push(Concern::risk("an archive on another machine"));
    }
    started
}

/// The value of a letter in a first word without a dash, as in `tar xfC a.tar out`: values follow in the order of their
/// letters.
pub(super) fn value_behind_letters(invocation: &Invocation, letter: char) -> Option<Value> {
    let letters = invocation.argument(0).filter(|letters| !letters.starts_with('-'))?;
    let before = letters.split_once(letter)?.0;
    let valued = before.chars().filter(|letter| "bfgCFIKLNTVX".contains(*letter)).count();
    invocation.arguments().get(1 + valued).cloned()
}
