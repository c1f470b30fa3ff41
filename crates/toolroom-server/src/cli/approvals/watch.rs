//! `toolroom approvals watch`: questions as they come, and what becomes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toolroom::approval::Responder;
use toolroom::call::CancellationToken;
use toolroom::ledger::{CallId, OpenQuestions, Question, QuestionState};
use toolroom::scope::Scope;
use toolroom_host::interrupt::Interrupts;

use super::prompt::{Prompt, Prompted};
use super::question_columns;
use crate::app::App;
use crate::cli::console::exit::{Exit, Usage};
use crate::cli::console::output::Output;
use crate::documents::{QuestionDocument, state, why_unreadable};

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Whether to ask about what waits, or only to tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watching {
    Tell,
    Ask,
}

/// Watches until it is interrupted.
pub(super) async fn run(
    app: &App,
    scope: &Scope,
    watching: Watching,
    output: Output,
) -> anyhow::Result<Exit> {
    let stop = CancellationToken::new();
    let stopped = stop.clone();
    let _interrupts = Interrupts::watch(move || stopped.cancel())?;
    let prompt = match watching {
        Watching::Tell => None,
        Watching::Ask => {
            let prompt = Prompt::open(app, scope, Responder::Operator, &stop, output);
            let nobody = || Usage("there is no terminal to ask on; leave `--answer` away".to_owned());
            Some(prompt.ok_or_else(nobody)?)
        }
    };
    if !output.is_json() {
        output.talk("watching; Ctrl-C ends it");
    }
    let mut known = Known::default();
    while !stop.is_cancelled() {
        let news = known.news(app, scope).await?;
        for unreadable in &news.unreadable {
            output.error(&why_unreadable(unreadable));
        }
        for question in news.questions {
            tell(app, &question, output)?;
            if let Some(prompt) = prompt.as_ref().filter(|_| !stop.is_cancelled()) {
                ask(app, scope, &question, prompt, output).await?;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
    Ok(Exit::Interrupted)
}

/// A line of text, or of JSON.
fn tell(app: &App, question: &Question, output: Output) -> anyhow::Result<()> {
    let now = app.room.clock().now();
    match output.is_json() {
        true => output.line_of_json(&QuestionDocument::of(question, now)),
        false => Ok(output.data(&question_columns(question, now).join("  "))?),
    }
}

/// Asks the operator, who may also leave a question to somebody else.
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
        // One question that cannot be read must not keep the others from being asked.
        Err(error) => {
            output.error(&format!("{call}: {:#}", anyhow::Error::from(error)));
            return Ok(());
        }
    };
    if state(&asked.question, app.room.clock().now()) != QuestionState::Waiting {
        return Ok(());
    }
    match prompt.ask(&asked).await? {
        Prompted::Answered(_) => {}
        Prompted::Left => output.talk(format_args!("left to others: {call}")),
    }
    Ok(())
}

/// What has been told already.
#[derive(Default)]
struct Known {
    open: BTreeMap<CallId, QuestionState>,
    unreadable: BTreeSet<CallId>,
}

impl Known {
    /// What has changed since the last look. A question that has left the list was answered, or has run: that is the
    /// last word about it.
    async fn news(&mut self, app: &App, scope: &Scope) -> anyhow::Result<OpenQuestions> {
        let now = app.room.clock().now();
        let OpenQuestions { questions, mut unreadable } = app.room.approvals().questions(scope).await?;
        unreadable.retain(|unreadable| {
            self.open.remove(&unreadable.call);
            self.unreadable.insert(unreadable.call.clone())
        });
        let mut news = Vec::new();
        let mut open = BTreeMap::new();
        for question in questions {
            let state = state(&question, now);
            open.insert(question.record.id.clone(), state);
            if self.open.remove(&question.record.id) != Some(state) {
                news.push(question);
            }
        }
        for (call, told) in std::mem::replace(&mut self.open, open) {
            let question = app.room.approvals().question(scope, &call).await?;
            news.extend(question.filter(|question| state(question, now) != told));
        }
        Ok(OpenQuestions { questions: news, unreadable })
    }
}
