//! A call that asks: whoever is there is asked, or an answer is waited for.

use std::time::Duration;

use tokio::time::Instant;
use toolroom::approval::Responder;
use toolroom::call::CancellationToken;
use toolroom::ledger::{Answer, Answerer, CallId, QuestionState};
use toolroom::scope::Scope;

use super::prompt::{Prompt, Prompted};
use crate::app::App;
use crate::approvals::{ApprovalService, Reply};
use crate::cli::console::output::Output;

/// Between two looks at a question that somebody else may answer.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long to wait for somebody's answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patience {
    None,
    Until(Instant),
    Endless,
}

impl Patience {
    /// From now on. What no clock can count to is as good as endless.
    pub(crate) fn of(span: Duration) -> Self {
        Instant::now().checked_add(span).map_or(Self::Endless, Self::Until)
    }

    fn end(self) -> Option<Instant> {
        match self {
            Self::Until(end) => Some(end),
            Self::None | Self::Endless => None,
        }
    }
}

/// What the caller has said beforehand about questions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Beforehand {
    /// Yes, once.
    Yes,
    /// To be asked where there is a terminal.
    Ask,
    /// Not to be asked.
    Silent,
}

/// Gets answers to the parked calls of one command.
pub(crate) struct Settler<'a> {
    pub(crate) app: &'a App,
    pub(crate) scope: &'a Scope,
    pub(crate) beforehand: Beforehand,
    pub(crate) patience: Patience,
    pub(crate) stop: &'a CancellationToken,
    pub(crate) output: Output,
}

/// What came of a parked call. An edit may have put another one in its place.
pub(crate) enum Settled {
    /// It can be gone on with.
    Answered(CallId),
    /// It stays parked.
    Parked(CallId),
}

impl Settler<'_> {
    /// Gets an answer, if anybody gives one.
    pub(crate) async fn settle(&self, call: &CallId, by: Answerer) -> anyhow::Result<Settled> {
        if self.stop.is_cancelled() {
            return Ok(Settled::Parked(call.clone()));
        }
        if by == Answerer::Client {
            self.output.hint("this call waits for the client that runs it; there is nothing to answer");
            return Ok(Settled::Parked(call.clone()));
        }
        match (self.beforehand, by) {
            (Beforehand::Yes, Answerer::Caller) => return self.say_yes(call).await,
            (Beforehand::Yes, Answerer::Operator) => {
                self.output
                    .hint("`--yes` answers for the caller; this call has to be answered by the operator");
            }
            (Beforehand::Ask, Answerer::Caller) => {
                if let Some(settled) = self.ask(call).await? {
                    return Ok(settled);
                }
            }
            (Beforehand::Ask, Answerer::Operator) | (Beforehand::Silent, _) | (_, Answerer::Client) => {}
        }
        match self.patience {
            Patience::None => Ok(Settled::Parked(call.clone())),
            Patience::Until(_) | Patience::Endless => self.wait(call.clone()).await,
        }
    }

    async fn say_yes(&self, call: &CallId) -> anyhow::Result<Settled> {
        let approvals = ApprovalService::new(&self.app.room, self.scope, &Responder::Approver);
        approvals.reply(call, Reply::Answer(Answer::Once)).await?;
        Ok(Settled::Answered(call.clone()))
    }

    /// Asks the person at the terminal; `None` where nobody sits at one.
    async fn ask(&self, call: &CallId) -> anyhow::Result<Option<Settled>> {
        let prompt = Prompt::open(self.app, self.scope, Responder::Approver, self.stop, self.output);
        let Some(prompt) = prompt else { return Ok(None) };
        let Some(asked) = self.app.room.question_details(self.scope, call).await? else { return Ok(None) };
        Ok(Some(match prompt.until(self.patience.end()).ask(&asked).await? {
            Prompted::Answered(call) => Settled::Answered(call),
            Prompted::Left => Settled::Parked(call.clone()),
        }))
    }

    /// Waits until the question is no longer one, whoever answers it, wherever.
    async fn wait(&self, mut call: CallId) -> anyhow::Result<Settled> {
        self.output.talk(format_args!(
            "{call} waits for approval; `toolroom approvals approve {call}` in another terminal"
        ));
        loop {
            match stage(self.app, self.scope, &call).await? {
                Stage::Waiting => {}
                Stage::Replaced(by) => {
                    self.output.talk(format_args!("its arguments were edited; {by} takes its place"));
                    call = by;
                    continue;
                }
                Stage::Answered | Stage::Late => return Ok(Settled::Answered(call)),
            }
            let now = Instant::now();
            let end = self.patience.end();
            if end.is_some_and(|end| end <= now) {
                return Ok(Settled::Parked(call));
            }
            let next = now + LOOK_EVERY;
            tokio::select! {
                // The question stays; the call is told as what it is.
                () = self.stop.cancelled() => return Ok(Settled::Parked(call)),
                () = tokio::time::sleep_until(end.map_or(next, |end| end.min(next))) => {}
            }
        }
    }
}

/// How far a question has got, for somebody who waits for its answer.
pub(crate) enum Stage {
    Waiting,
    /// Edited: another call takes its place.
    Replaced(CallId),
    Answered,
    /// Nobody has answered in time.
    Late,
}

pub(crate) async fn stage(app: &App, scope: &Scope, call: &CallId) -> anyhow::Result<Stage> {
    let Some(question) = app.room.approvals().question(scope, call).await? else {
        return Ok(Stage::Answered);
    };
    let late = question.is_late(app.room.clock().now());
    Ok(match (question.replaced_by, question.state) {
        (Some(by), _) => Stage::Replaced(by),
        (None, QuestionState::Waiting) if !late => Stage::Waiting,
        (None, QuestionState::Waiting | QuestionState::Expired) => Stage::Late,
        (
            None,
            QuestionState::Granted | QuestionState::Used | QuestionState::Refused | QuestionState::Void,
        ) => Stage::Answered,
    })
}
