//! Standing answers: look-up and display.

use toolroom::ledger::{Answerer, StandingAnswer};
use toolroom::policy::Ruling;
use toolroom::scope::Scope;

use crate::app::App;
use crate::cli::console::exit::{Missing, Usage};
use crate::cli::console::output::{BOLD, DIM, Output, visible};

/// All standing answers of a project, oldest first.
pub(crate) async fn all(app: &App, scope: &Scope) -> anyhow::Result<Vec<StandingAnswer>> {
    let standing = app.room.switchboard().standing(&scope.project).await?;
    let mut answers: Vec<StandingAnswer> = standing.answers.iter().cloned().collect();
    answers.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(answers)
}

/// Finds a standing answer by id or by the ending of its id.
pub(crate) async fn find(app: &App, scope: &Scope, name: &str) -> anyhow::Result<StandingAnswer> {
    let answers = all(app, scope).await?;
    if let Some(answer) = answers.iter().find(|answer| answer.id.as_str() == name) {
        return Ok(answer.clone());
    }
    let mut ending =
        answers.into_iter().filter(|answer| !name.is_empty() && answer.id.as_str().ends_with(name));
    match (ending.next(), ending.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => {
            Err(Usage(format!("several answer ids end in `{name}`; give more of the id")).into())
        }
        (None, _) => Err(Missing(format!("no standing answer `{name}`; see `toolroom policy list`")).into()),
    }
}

/// Shows an answer as a sentence, and how many past calls it would have decided.
pub(crate) async fn show(app: &App, answer: &StandingAnswer, output: Output) -> anyhow::Result<()> {
    output.talk(format_args!("  {BOLD}rule{BOLD:#}  {}", visible(&sentence(answer))));
    // The log does not record destinations.
    if answer.destination.is_some() {
        return Ok(());
    }
    let reach = app.room.coverage(answer).await?;
    output.talk(format_args!(
        "  {DIM}would have decided {} of the last {} calls of this tool{DIM:#}",
        reach.matched, reach.of
    ));
    Ok(())
}

/// Prints a note if another rule still asks about calls like this one (decision 7).
pub(crate) fn print_next(rule: Option<&str>, output: Output) {
    if let Some(rule) = rule {
        output.talk(format_args!("Calls like this one still need approval because of the rule `{rule}`"));
    }
}

/// The answer as a sentence.
pub(crate) fn sentence(answer: &StandingAnswer) -> String {
    let verb = match answer.effect {
        Ruling::Allow => "allow",
        Ruling::Ask => "ask about",
        Ruling::Deny => "deny",
    };
    let when = answer.when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
    let what = match &answer.destination {
        Some(destination) => format!("sending to {destination}"),
        None => answer.tool.to_string(),
    };
    let place = match (&answer.thread, &answer.destination) {
        (Some(origin), Some(_)) => format!(" from {origin}"),
        (Some(thread), None) => format!(" in conversation {thread}"),
        (None, _) => String::new(),
    };
    let who = answer.scope.user.as_ref().map(|user| format!(" for {user}")).unwrap_or_default();
    let by = match answer.by {
        Answerer::Caller => "the caller",
        Answerer::Operator => "the operator",
        Answerer::Client => "the client",
    };
    format!("{verb} {what}{when}{who}{place}, set by {by}")
}
