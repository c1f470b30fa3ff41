//! One message, until there is an answer or nobody can be asked.

use serde_json::{Map, Value};
use toolroom::agent::{Agent, EventListener, ResumeRun, RunError, RunReport, SendRequest};
use toolroom::call::{CancellationToken, UserLocation};
use toolroom::conversation::{BeginRunError, ConversationId, RunId, RunState, TakeRunError};
use toolroom::ledger::{Answerer, CallId};
use toolroom::model::Message;
use toolroom::scope::Scope;
use toolroom_host::terminal::{QuietMode, Terminal};

use super::canvas::{Canvas, Look};
use super::interrupt::Hand;
use super::renderer::Painter;
use crate::app::App;
use crate::cli::approvals::resolve::{Beforehand, Patience, Settled, Settler, Stage, stage};
use crate::cli::console::exit::{Exit, Missing, Refused};
use crate::cli::console::output::{DIM, Output, visible};

/// What the turns of a conversation have in common.
pub(in crate::cli) struct Turn<'a> {
    pub(in crate::cli) app: &'a App,
    pub(in crate::cli) scope: &'a Scope,
    pub(in crate::cli) look: Look,
    /// Nothing moves.
    pub(in crate::cli) is_plain: bool,
    /// Somebody sits there and may type meanwhile, which is not to be seen in the middle of an answer.
    pub(in crate::cli) is_talk: bool,
    pub(in crate::cli) beforehand: Beforehand,
    pub(in crate::cli) context: Map<String, Value>,
    pub(in crate::cli) hand: &'a Hand,
    pub(in crate::cli) output: Output,
}

/// What a run is done with next.
enum Step {
    Send(Box<SendRequest>),
    Resume(RunId),
    Cancel(RunId),
}

impl Turn<'_> {
    /// Says something and sees it through.
    pub(super) async fn say(
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
        let stop = self.hand.begin();
        let report = self.step(agent, Step::Send(Box::new(request)), &stop).await?;
        self.see_through(agent, report, &stop).await
    }

    /// Goes on with a run that waits, or was broken off.
    pub(in crate::cli) async fn resume(&self, agent: &Agent, run: RunId) -> anyhow::Result<RunReport> {
        let stop = self.hand.begin();
        let report = self.step(agent, Step::Resume(run), &stop).await?;
        self.see_through(agent, report, &stop).await
    }

    /// Ends a run that waits, or was broken off.
    pub(in crate::cli) async fn cancel(&self, agent: &Agent, run: RunId) -> anyhow::Result<RunReport> {
        let stop = self.hand.begin();
        self.step(agent, Step::Cancel(run), &stop).await
    }

    /// Asks whoever may be asked, as long as the run waits and somebody answers.
    async fn see_through(
        &self,
        agent: &Agent,
        mut report: RunReport,
        stop: &CancellationToken,
    ) -> anyhow::Result<RunReport> {
        while report.run.state == RunState::Waiting {
            let answered = self.settle(&report.waiting, stop).await?;
            report = if stop.is_cancelled() {
                // Whoever stops what they are asked about does not want it any more.
                self.step(agent, Step::Cancel(report.run.id.clone()), &CancellationToken::new()).await?
            } else if answered {
                self.step(agent, Step::Resume(report.run.id.clone()), stop).await?
            } else {
                break;
            };
        }
        Ok(report)
    }

    /// Gets answers to all of these; says whether there is one to each.
    async fn settle(&self, waiting: &[CallId], stop: &CancellationToken) -> anyhow::Result<bool> {
        let settler = Settler {
            app: self.app,
            scope: self.scope,
            beforehand: self.beforehand,
            patience: Patience::None,
            stop,
            output: self.output,
        };
        let mut all = true;
        for call in waiting {
            let question = self.app.room.approvals().question(self.scope, call).await?;
            // After a yes it is the client's turn, and there is nothing to go on with here.
            let by = question.map_or(Answerer::Caller, |question| match question.waits_for_client() {
                true => Answerer::Client,
                false => question.approval.by,
            });
            let answered = match stage(self.app, self.scope, call).await? {
                Stage::Waiting | Stage::Answered if by == Answerer::Client => false,
                Stage::Waiting => matches!(settler.settle(call, by).await?, Settled::Answered(_)),
                Stage::Replaced(_) | Stage::Answered | Stage::Late => true,
            };
            if !answered && !stop.is_cancelled() {
                self.tell_waiting(call, by);
            }
            all &= answered;
        }
        Ok(all)
    }

    fn tell_waiting(&self, call: &CallId, by: Answerer) {
        if matches!(self.look, Look::Events | Look::Document) {
            return;
        }
        let who = match by {
            Answerer::Caller => "",
            Answerer::Operator => " of the operator",
            Answerer::Client => {
                return self.output.hint(&format!("{call} waits for the client that runs it"));
            }
        };
        self.output.hint(&format!(
            "{call} waits for an answer{who}: `toolroom approvals show {call}`, then `toolroom approvals approve {call}`"
        ));
    }

    /// Whether every one of these calls has its answer by now, or can be asked about here.
    pub(super) async fn can_go_on(&self, waiting: &[CallId]) -> anyhow::Result<bool> {
        for call in waiting {
            let question = self.app.room.approvals().question(self.scope, call).await?;
            let Some(question) = question else { continue };
            let now = self.app.room.clock().now();
            if question.waits_for_client() && !question.is_late(now) {
                return Ok(false);
            }
            let is_operators = question.approval.by == Answerer::Operator;
            if is_operators && matches!(stage(self.app, self.scope, call).await?, Stage::Waiting) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Works on a run until nothing more happens by itself, and shows it.
    async fn step(&self, agent: &Agent, step: Step, stop: &CancellationToken) -> anyhow::Result<RunReport> {
        // What is typed is read when its turn comes.
        let _unechoed = if self.is_talk { unechoed() } else { None };
        let painter = Painter::start(Canvas::new(self.look, self.is_plain, self.output));
        let listener = painter.listener();
        let done = match step {
            Step::Send(mut request) => {
                request.cancellation = stop.clone();
                request.listener = Some(listener);
                agent.send(*request).await
            }
            Step::Resume(run) => agent.resume(self.taken(run, listener, stop)).await,
            Step::Cancel(run) => agent.cancel(self.taken(run, listener, stop)).await,
        };
        let painted = painter.finish().await?;
        let report = done.map_err(refused)?;
        if let Some(broken) = painted.broken {
            return Err(broken);
        }
        let answered = report.run.model.as_deref().filter(|_| report.run.state == RunState::Done);
        if let (true, Some(answered), Some(first)) = (self.look.is_read_along(), answered, painted.first)
            && answered != first
        {
            self.output.talk(format_args!("{DIM}answered by {}{DIM:#}", visible(answered)));
        }
        Ok(report)
    }

    fn taken(&self, run: RunId, listener: EventListener, stop: &CancellationToken) -> ResumeRun {
        let mut taken = ResumeRun::new(run, self.scope.clone());
        taken.cancellation = stop.clone();
        taken.listener = Some(listener);
        taken
    }
}

fn unechoed() -> Option<QuietMode> {
    Terminal::open().and_then(|mut terminal| terminal.unechoed().ok())
}

/// What is told of a run that could not begin or go on, and what to do.
pub(in crate::cli) fn refused(error: RunError) -> anyhow::Error {
    match error {
        RunError::Begin(BeginRunError::Open { run, state: RunState::Waiting }) => Refused(format!(
            "`{run}` waits for an answer in this conversation; `toolroom approvals` says to what, `toolroom runs resume \
             {run}` goes on, `toolroom runs cancel {run}` ends it"
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

/// How the process ends after this run.
pub(in crate::cli) fn exit_of(report: &RunReport) -> Exit {
    match report.run.state {
        RunState::Done => Exit::Done,
        RunState::Running | RunState::Failed => Exit::Failed,
        RunState::Waiting => Exit::Pending,
        RunState::Cancelled => Exit::Interrupted,
    }
}
