//! `toolroom approvals watch`: prints new approval requests and their answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toolroom::approval::Responder;
use toolroom::call::CancellationToken;
use toolroom::ledger::{CallId, OpenQuestions, Question, QuestionState};
use toolroom::scope::Scope;
use toolroom_host::interrupt::Interrupts;

use super::prompt::{Prompt, PromptResult};
use super::question_columns;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::Output;
use crate::documents::{QuestionDocument, state, why_unreadable};

/// Poll interval.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchMode {
    /// Print changes only.
    Show,
    /// Also ask for an answer on this terminal.
    Answer,
}

/// Watches until it is interrupted.
pub(super) async fn run(app: &App, scope: &Scope, mode: WatchMode, output: Output) -> anyhow::Result<Exit> {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let _interrupts = Interrupts::watch(move || stopped.cancel())?;
    let prompt = match mode {
        WatchMode::Show => None,
        WatchMode::Answer => {
            let prompt = Prompt::open(app, scope, Responder::Operator, &stop, output);
            let no_terminal = || Usage("no terminal to ask on; leave out `--answer`".to_owned());
            Some(prompt.ok_or_else(no_terminal)?)
        }
    };
    if !output.is_json() {
        output.talk("Watching; press Ctrl-C to stop");
    }
    let mut seen = SeenQuestions::default();
    while !stop.is_cancelled() {
        let changes = seen.changes(app, scope).await?;
        for unreadable in &changes.unreadable {
            output.error(&why_unreadable(unreadable));
        }
        for question in changes.questions {
            print_question(app, &question, output)?;
            if let Some(prompt) = prompt.as_ref().filter(|_| !stop.is_cancelled()) {
                ask(app, scope, &question, prompt, output).await?;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(POLL_INTERVAL) => {}
            () = stop.cancelled() => {}
        }
    }
    Ok(Exit::Interrupted)
}

/// Prints a question as text, or as a line of JSON.
fn print_question(app: &App, question: &Question, output: Output) -> anyhow::Result<()> {
    let now = app.room.clock().now();
    match output.is_json() {
        true => output.line_of_json(&QuestionDocument::of(question, now)),
        false => Ok(output.data(&question_columns(question, now).join("  "))?),
    }
}

/// Asks the operator, who may leave the question open.
async fn ask(
    app: &App,
    scope: &Scope,
    question: &Question,
    prompt: &Prompt<'_>,
    output: Output,
) -> anyhow::Result<()> {
    let call = &question.record.id;
    let asked = match app.room.question_details(scope, call).await {
        Ok(Some(asked)) => asked,
        Ok(None) => return Ok(()),
        // One unreadable question must not block the others.
        Err(error) => {
            output.error(&format!("{call}: {:#}", anyhow::Error::from(error)));
            return Ok(());
        }
    };
    if state(&asked.question, app.room.clock().now()) != QuestionState::Waiting {
        return Ok(());
    }
    match prompt.ask(&asked).await? {
        PromptResult::Answered(_) => {}
        PromptResult::LeftOpen => output.talk(format_args!("Left open: {call}")),
    }
    Ok(())
}

/// What was printed already.
#[derive(Default)]
struct SeenQuestions {
    open: BTreeMap<CallId, QuestionState>,
    unreadable: BTreeSet<CallId>,
}

impl SeenQuestions {
    /// Questions that changed since the last poll. One that left the list was answered or has run, and is reported once
    /// more.
    async fn changes(&mut self, app: &App, scope: &Scope) -> anyhow::Result<OpenQuestions> {
        let now = app.room.clock().now();
        let OpenQuestions { questions, mut unreadable } = app.room.approvals().questions(scope).await?;
        unreadable.retain(|unreadable| {
            self.open.remove(&unreadable.call);
            self.unreadable.insert(unreadable.call.clone())
        });
        let mut changes = Vec::new();
        let mut open = BTreeMap::new();
        for question in questions {
            let state = state(&question, now);
            open.insert(question.record.id.clone(), state);
            if self.open.remove(&question.record.id) != Some(state) {
                changes.push(question);
            }
        }
        for (call, old_state) in std::mem::replace(&mut self.open, open) {
            let question = app.room.approvals().question(scope, &call).await?;
            changes.extend(question.filter(|question| state(question, now) != old_state));
        }
        Ok(OpenQuestions { questions: changes, unreadable })
    }
}
