//! Gets answers to the parked calls of a command: from a flag, from the terminal, or by waiting for another process.

use std::time::Duration;

use tokio::time::Instant;
use toolroom::approval::Responder;
use toolroom::call::CancellationToken;
use toolroom::ledger::{Answer, Answerer, CallId, QuestionState};
use toolroom::scope::Scope;

use super::prompt::{Prompt, PromptResult};
use crate::app::App;
use crate::approvals::{ApprovalReply, ApprovalService};
use crate::cli::console::output::Output;

/// Poll interval of a question that may be answered elsewhere.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long to wait for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WaitLimit {
    None,
    Until(Instant),
    Forever,
}

impl WaitLimit {
    /// Starts now. A span beyond the range of the clock counts as forever.
    pub(crate) fn after(span: Duration) -> Self {
        Instant::now().checked_add(span).map_or(Self::Forever, Self::Until)
    }

    fn end(self) -> Option<Instant> {
        match self {
            Self::Until(end) => Some(end),
            Self::None | Self::Forever => None,
        }
    }
}

/// How a command answers approval requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ApprovalMode {
    /// Approve once.
    Yes,
    /// Ask on the terminal, if there is one.
    Ask,
    /// Do not ask.
    Silent,
}

/// Gets answers to the parked calls of one command.
pub(crate) struct ApprovalResolver<'a> {
    pub(crate) app: &'a App,
    pub(crate) scope: &'a Scope,
    pub(crate) mode: ApprovalMode,
    pub(crate) wait_limit: WaitLimit,
    pub(crate) stop: &'a CancellationToken,
    pub(crate) output: Output,
}

/// The result for a parked call. An edit may have replaced the call.
pub(crate) enum Resolution {
    /// Answered; the call can be resumed.
    Answered(CallId),
    /// The call stays parked.
    Parked(CallId),
}

impl ApprovalResolver<'_> {
    /// Gets an answer, if there is one in time.
    pub(crate) async fn resolve(&self, call: &CallId, by: Answerer) -> anyhow::Result<Resolution> {
        if self.stop.is_cancelled() {
            return Ok(Resolution::Parked(call.clone()));
        }
        if by == Answerer::Client {
            self.output.hint("this call is run by its client; there is nothing to approve here");
            return Ok(Resolution::Parked(call.clone()));
        }
        match (self.mode, by) {
            (ApprovalMode::Yes, Answerer::Caller) => return self.approve_once(call).await,
            (ApprovalMode::Yes, Answerer::Operator) => {
                self.output.hint("`--yes` answers as the caller; only the operator may approve this call");
            }
            (ApprovalMode::Ask, Answerer::Caller) => {
                if let Some(resolution) = self.ask(call).await? {
                    return Ok(resolution);
                }
            }
            (ApprovalMode::Ask, Answerer::Operator) | (ApprovalMode::Silent, _) | (_, Answerer::Client) => {}
        }
        match self.wait_limit {
            WaitLimit::None => Ok(Resolution::Parked(call.clone())),
            WaitLimit::Until(_) | WaitLimit::Forever => self.wait(call.clone()).await,
        }
    }

    async fn approve_once(&self, call: &CallId) -> anyhow::Result<Resolution> {
        let approvals = ApprovalService::new(&self.app.room, self.scope, &Responder::Approver);
        approvals.reply(call, ApprovalReply::Answer(Answer::Once)).await?;
        Ok(Resolution::Answered(call.clone()))
    }

    /// Asks on the terminal; `None` without one.
    async fn ask(&self, call: &CallId) -> anyhow::Result<Option<Resolution>> {
        let prompt = Prompt::open(self.app, self.scope, Responder::Approver, self.stop, self.output);
        let Some(prompt) = prompt else { return Ok(None) };
        let Some(asked) = self.app.room.question_details(self.scope, call).await? else { return Ok(None) };
        Ok(Some(match prompt.deadline(self.wait_limit.end()).ask(&asked).await? {
            PromptResult::Answered(call) => Resolution::Answered(call),
            PromptResult::LeftOpen => Resolution::Parked(call.clone()),
        }))
    }

    /// Waits until the question is answered by another process, or expires.
    async fn wait(&self, mut call: CallId) -> anyhow::Result<Resolution> {
        self.output.talk(format_args!(
            "{call} waits for approval; run `toolroom approvals approve {call}` in another terminal"
        ));
        loop {
            match question_stage(self.app, self.scope, &call).await? {
                QuestionStage::Waiting => {}
                QuestionStage::Replaced(by) => {
                    self.output.talk(format_args!("Arguments edited; replaced by {by}"));
                    call = by;
                    continue;
                }
                QuestionStage::Answered | QuestionStage::Expired => return Ok(Resolution::Answered(call)),
            }
            let now = Instant::now();
            let end = self.wait_limit.end();
            if end.is_some_and(|end| end <= now) {
                return Ok(Resolution::Parked(call));
            }
            let next = now + POLL_INTERVAL;
            tokio::select! {
                // The question stays open; the call is reported as pending.
                () = self.stop.cancelled() => return Ok(Resolution::Parked(call)),
                () = tokio::time::sleep_until(end.map_or(next, |end| end.min(next))) => {}
            }
        }
    }
}

/// The state of a question for a waiting command.
pub(crate) enum QuestionStage {
    Waiting,
    /// Edited: replaced by another call.
    Replaced(CallId),
    Answered,
    Expired,
}

pub(crate) async fn question_stage(app: &App, scope: &Scope, call: &CallId) -> anyhow::Result<QuestionStage> {
    let Some(question) = app.room.approvals().question(scope, call).await? else {
        return Ok(QuestionStage::Answered);
    };
    let late = question.is_late(app.room.clock().now());
    Ok(match (question.replaced_by, question.state) {
        (Some(by), _) => QuestionStage::Replaced(by),
        (None, QuestionState::Waiting) if !late => QuestionStage::Waiting,
        (None, QuestionState::Waiting | QuestionState::Expired) => QuestionStage::Expired,
        (
            None,
            QuestionState::Granted | QuestionState::Used | QuestionState::Refused | QuestionState::Void,
        ) => QuestionStage::Answered,
    })
}
