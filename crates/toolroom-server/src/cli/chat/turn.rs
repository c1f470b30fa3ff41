//! Sends a message or resumes a run, and asks for approvals until it ends or has to wait.

use serde_json::{Map, Value};
use toolroom::agent::{Agent, EventListener, ResumeRun, RunError, RunReport, SendRequest};
use toolroom::call::{CancellationToken, UserLocation};
use toolroom::conversation::{BeginRunError, ConversationId, RunId, RunState, TakeRunError};
use toolroom::ledger::{Answerer, CallId};
use toolroom::model::Message;
use toolroom::scope::Scope;
use toolroom_host::terminal::{QuietMode, Terminal};

use super::canvas::{DisplayMode, RunDisplay};
use super::interrupt::RunInterrupt;
use super::renderer::Renderer;
use crate::app::App;
use crate::cli::approvals::resolve::{
    ApprovalMode, ApprovalResolver, QuestionStage, Resolution, WaitLimit, question_stage,
};
use crate::cli::console::exit::{Exit, Missing, Refused};
use crate::cli::console::output::{DIM, Output, visible};

/// What all turns of a chat share.
pub(in crate::cli) struct Turn<'a> {
    pub(in crate::cli) app: &'a App,
    pub(in crate::cli) scope: &'a Scope,
    pub(in crate::cli) mode: DisplayMode,
    /// No animation.
    pub(in crate::cli) is_plain: bool,
    /// Interactive: input typed during an answer is not echoed.
    pub(in crate::cli) is_interactive: bool,
    pub(in crate::cli) approval_mode: ApprovalMode,
    pub(in crate::cli) context: Map<String, Value>,
    pub(in crate::cli) interrupt: &'a RunInterrupt,
    pub(in crate::cli) output: Output,
}

enum RunStep {
    Send(Box<SendRequest>),
    Resume(RunId),
    Cancel(RunId),
}

impl Turn<'_> {
    /// Sends a message.
    pub(super) async fn send(
        &self,
        agent: &Agent,
        message: Message,
        conversation: Option<ConversationId>,
    ) -> anyhow::Result<RunReport> {
        let mut request = SendRequest::new("").scope(self.scope.clone());
        request.message = message;
        request.conversation = conversation;
        request.entrance = "cli".into();
        request.user_location = UserLocation::Local;
        request.context = self.context.clone();
        let stop = self.interrupt.next_token();
        let report = self.step(agent, RunStep::Send(Box::new(request)), &stop).await?;
        self.resolve_approvals(agent, report, &stop).await
    }

    /// Resumes a run that waits, or whose process died.
    pub(in crate::cli) async fn resume(&self, agent: &Agent, run: RunId) -> anyhow::Result<RunReport> {
        let stop = self.interrupt.next_token();
        let report = self.step(agent, RunStep::Resume(run), &stop).await?;
        self.resolve_approvals(agent, report, &stop).await
    }

    /// Cancels a run that waits, or whose process died.
    pub(in crate::cli) async fn cancel(&self, agent: &Agent, run: RunId) -> anyhow::Result<RunReport> {
        let stop = self.interrupt.next_token();
        self.step(agent, RunStep::Cancel(run), &stop).await
    }

    /// Asks for approvals and resumes the run as long as it waits and gets answers.
    async fn resolve_approvals(
        &self,
        agent: &Agent,
        mut report: RunReport,
        stop: &CancellationToken,
    ) -> anyhow::Result<RunReport> {
        while report.run.state == RunState::Waiting {
            let answered = self.resolve(&report.waiting, stop).await?;
            report = if stop.is_cancelled() {
                // An interrupt at the prompt cancels the run.
                self.step(agent, RunStep::Cancel(report.run.id.clone()), &CancellationToken::new()).await?
            } else if answered {
                self.step(agent, RunStep::Resume(report.run.id.clone()), stop).await?
            } else {
                break;
            };
        }
        Ok(report)
    }

    /// Gets answers to all pending calls. Returns whether there is one to each.
    async fn resolve(&self, waiting: &[CallId], stop: &CancellationToken) -> anyhow::Result<bool> {
        let resolver = ApprovalResolver {
            app: self.app,
            scope: self.scope,
            mode: self.approval_mode,
            wait_limit: WaitLimit::None,
            stop,
            output: self.output,
        };
        let mut all = true;
        for call in waiting {
            let question = self.app.room.approvals().question(self.scope, call).await?;
            // After its approval a client's call waits for the client, not for an answer here.
            let by = question.map_or(Answerer::Caller, |question| match question.waits_for_client() {
                true => Answerer::Client,
                false => question.approval.by,
            });
            let answered = match question_stage(self.app, self.scope, call).await? {
                QuestionStage::Waiting | QuestionStage::Answered if by == Answerer::Client => false,
                QuestionStage::Waiting => {
                    matches!(resolver.resolve(call, by).await?, Resolution::Answered(_))
                }
                QuestionStage::Replaced(_) | QuestionStage::Answered | QuestionStage::Expired => true,
            };
            if !answered && !stop.is_cancelled() {
                self.hint_waiting(call, by);
            }
            all &= answered;
        }
        Ok(all)
    }

    fn hint_waiting(&self, call: &CallId, by: Answerer) {
        if matches!(self.mode, DisplayMode::Events | DisplayMode::Document) {
            return;
        }
        let by_whom = match by {
            Answerer::Caller => "",
            Answerer::Operator => " by the operator",
            Answerer::Client => {
                return self.output.hint(&format!("{call} is waiting for its client to run it"));
            }
        };
        self.output.hint(&format!(
            "{call} is waiting for approval{by_whom}: `toolroom approvals show {call}`, then `toolroom approvals approve {call}`"
        ));
    }

    /// Whether every pending call is answered, or can be answered here.
    pub(super) async fn can_resume(&self, waiting: &[CallId]) -> anyhow::Result<bool> {
        for call in waiting {
            let question = self.app.room.approvals().question(self.scope, call).await?;
            let Some(question) = question else { continue };
            let now = self.app.room.clock().now();
            if question.waits_for_client() && !question.is_late(now) {
                return Ok(false);
            }
            let is_operators = question.approval.by == Answerer::Operator;
            if is_operators
                && matches!(question_stage(self.app, self.scope, call).await?, QuestionStage::Waiting)
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Runs one step of the agent and displays it.
    async fn step(
        &self,
        agent: &Agent,
        step: RunStep,
        stop: &CancellationToken,
    ) -> anyhow::Result<RunReport> {
        // Input typed meanwhile is read at the next prompt.
        let _unechoed = if self.is_interactive { disable_echo() } else { None };
        let renderer = Renderer::start(RunDisplay::new(self.mode, self.is_plain, self.output));
        let listener = renderer.listener();
        let result = match step {
            RunStep::Send(mut request) => {
                request.cancellation = stop.clone();
                request.listener = Some(listener);
                agent.send(*request).await
            }
            RunStep::Resume(run) => agent.resume(self.resume_request(run, listener, stop)).await,
            RunStep::Cancel(run) => agent.cancel(self.resume_request(run, listener, stop)).await,
        };
        let displayed = renderer.finish().await?;
        let report = result.map_err(run_error)?;
        if let Some(failure) = displayed.failure {
            return Err(failure);
        }
        let answered = report.run.model.as_deref().filter(|_| report.run.state == RunState::Done);
        if let (true, Some(answered), Some(first)) = (self.mode.is_live(), answered, displayed.first_model)
            && answered != first
        {
            self.output.talk(format_args!("{DIM}Answered by {}{DIM:#}", visible(answered)));
        }
        Ok(report)
    }

    fn resume_request(&self, run: RunId, listener: EventListener, stop: &CancellationToken) -> ResumeRun {
        let mut request = ResumeRun::new(run, self.scope.clone());
        request.cancellation = stop.clone();
        request.listener = Some(listener);
        request
    }
}

fn disable_echo() -> Option<QuietMode> {
    Terminal::open().and_then(|mut terminal| terminal.unechoed().ok())
}

/// Maps errors at the start of a run to refusals with a hint.
pub(in crate::cli) fn run_error(error: RunError) -> anyhow::Error {
    match error {
        RunError::Begin(BeginRunError::Open { run, state: RunState::Waiting }) => Refused(format!(
            "`{run}` in this conversation is waiting for approval; see `toolroom approvals`, then continue with `toolroom runs \
             resume {run}` or cancel it with `toolroom runs cancel {run}`"
        ))
        .into(),
        RunError::Begin(error @ BeginRunError::Open { .. }) => Refused(error.to_string()).into(),
        RunError::Take(error @ TakeRunError::NotFound(_)) => Missing(error.to_string()).into(),
        RunError::Take(error @ (TakeRunError::Over { .. } | TakeRunError::Busy(_))) => {
            Refused(error.to_string()).into()
        }
        error => error.into(),
    }
}

/// The exit code of a run.
pub(in crate::cli) fn exit_of(report: &RunReport) -> Exit {
    match report.run.state {
        RunState::Done => Exit::Done,
        RunState::Running | RunState::Failed => Exit::Failed,
        RunState::Waiting => Exit::Pending,
        RunState::Cancelled => Exit::Interrupted,
    }
}
