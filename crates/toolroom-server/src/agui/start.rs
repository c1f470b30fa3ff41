//! Turns the input of a client into a run that starts or resumes, or into no run.

use std::collections::HashSet;
use std::sync::Arc;

use toolroom::agent::{RunError, SendRequest};
use toolroom::approval::Responder;
use toolroom::call::{DeliverError, Delivery};
use toolroom::conversation::{
    ConversationId, Conversations as _, NumberedEvent, Run, RunFilter, RunId, RunState,
};
use toolroom::ledger::LedgerError;
use toolroom::model::{Message as ModelMessage, Role as ModelRole};
use toolroom::provenance::CallSource;
use toolroom::scope::Scope;

use super::answers::{ProtocolViolation, ResumeOutcome, ThreadQuestions, asks_event};
use super::calls::announced;
use super::event::Interrupt;
use super::input::Input;
use super::interrupt::question;
use super::message::{Message, PartError, Role, blocks};
use super::narrate::{Narrator, NarratorContext};
use super::state::SharedState;
use super::thread::{ATTEMPTS, conversation_of, merge_thread, run_of};
use crate::agents::AgentChoice;
use crate::app::App;
use crate::identity::Caller;
use crate::runs::{Position, Runs, Segment, StartRunError, StartedRun};

/// The entrance of these runs.
const ENTRANCE: &str = "agui";

pub(crate) struct Started {
    pub(crate) narrator: Narrator,
    /// Whether the client needs the whole thread.
    pub(crate) whole: bool,
    pub(crate) next: NextStep,
}

pub(crate) enum NextStep {
    /// Stream a run from a position.
    Watch { begun: StartedRun, from: Option<Position> },
    /// Nothing new, except calls that the client has to execute.
    Rest { pending: Vec<String> },
    /// The client has cancelled its run.
    Cancelled,
    /// The input violates the protocol. Open interrupts are sent again.
    Refused { refusal: ProtocolViolation, interrupts: Vec<Interrupt> },
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("a run of this thread is in progress; wait for it to end, or cancel it")]
    Busy,
    #[error(transparent)]
    Begin(#[from] StartRunError),
    #[error(transparent)]
    Part(#[from] PartError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Handles one input.
pub(crate) struct Start {
    app: Arc<App>,
    runs: Arc<Runs>,
    scope: Scope,
    source: CallSource,
    call_owner: Arc<str>,
    responder: Responder,
    choice: AgentChoice,
    conversation: ConversationId,
    input: Input,
}

impl Start {
    pub(crate) fn new(
        app: Arc<App>,
        runs: Arc<Runs>,
        caller: &Caller,
        choice: AgentChoice,
        input: Input,
    ) -> Self {
        let (scope, source) = (caller.scope.clone(), caller.source());
        let conversation = conversation_of(&scope, &input.thread);
        let (call_owner, responder) = (caller.call_owner(), caller.responder_as_caller());
        Self { app, runs, scope, source, call_owner, responder, choice, conversation, input }
    }

    fn questions(&self) -> ThreadQuestions<'_> {
        let Self { app, scope, responder, conversation, .. } = self;
        ThreadQuestions { room: &app.room, scope, by: responder, conversation }
    }

    /// Starts or resumes a run, if the input asks for it.
    ///
    /// # Errors
    /// When that fails.
    pub(crate) async fn begin(self) -> Result<Started, StartError> {
        let newest = self.newest().await?;
        // Questions, results and messages of a thread belong to the agent of its run.
        if let Some(Run { id, agent, .. }) = &newest
            && self.choice.agent.as_deref().is_some_and(|asked| asked != agent.as_str())
        {
            let (run, agent) = (id.clone(), agent.clone());
            return Err(StartRunError::from(RunError::OtherAgent { run, agent }).into());
        }
        match newest.map(|run| (run.state, run)) {
            Some((RunState::Waiting, run)) => self.go_on(run).await,
            Some((RunState::Running, run)) => self.join(run).await,
            Some((_, run)) => match &self.input.resume {
                Some(answers) if !answers.is_empty() => self.replay(run).await,
                Some(_) | None => self.say_or_rest(Some(run)).await,
            },
            None if self.input.resume.as_deref().is_some_and(|answers| !answers.is_empty()) => {
                let refusal = ProtocolViolation::new("unknown_interrupt", "this thread has no interrupts");
                self.refuse(None, refusal).await
            }
            None => self.say_or_rest(None).await,
        }
    }

    async fn newest(&self) -> Result<Option<Run>, StartError> {
        let filter = RunFilter {
            conversation: Some(self.conversation.clone()),
            limit: Some(1),
            ..RunFilter::default()
        };
        Ok(self.app.store.runs(&self.scope, filter).await?.into_iter().next())
    }

    async fn join(self, run: Run) -> Result<Started, StartError> {
        if self.runs.is_live(&run.id) {
            // Clients may send each result in a run of its own, and the first one has resumed the run.
            let is_last_word = self.input.messages.last().is_some_and(|last| last.role == Role::Tool);
            if !is_last_word {
                return Err(StartError::Busy);
            }
            self.runs.wait_until_idle(&run.id).await;
            let Some(run) = self.newest().await? else { return Err(StartError::Busy) };
            return match run.state {
                RunState::Waiting => self.go_on(run).await,
                RunState::Running => Err(StartError::Busy),
                _ => self.rest(Some(&run), Vec::new()).await,
            };
        }
        // Its process died. Resume it, unless the client sends a new message.
        match self.new_message().await? {
            Some(new) => self.send(new).await,
            None => self.resume(&run, true).await,
        }
    }

    async fn go_on(self, run: Run) -> Result<Started, StartError> {
        let events = self.app.store.events(&self.scope, &run.id, 0).await?;
        let questions = self.questions();
        let open = questions.open(&run, &events).await?;
        match &self.input.resume {
            Some(answers) if !answers.is_empty() => match questions.take(&open, answers).await? {
                ResumeOutcome::Continue => {}
                ResumeOutcome::Cancel => return self.cancel(&run).await,
                ResumeOutcome::Refused(refusal) => return self.refuse(Some(&run), refusal).await,
            },
            Some(_) | None if !open.is_empty() => {
                let mut interrupts = Vec::new();
                for one in &open {
                    let arguments = Some(one.record.arguments.as_ref().clone());
                    let answers = self.app.room.answers(one, &self.responder)?;
                    interrupts.extend(question(&asks_event(one), arguments, answers));
                }
                let message = "this thread waits for answers; send them in `resume`, or take the questions back there \
                               as `cancelled`";
                let refusal = ProtocolViolation::new("interrupted", message);
                return self.started(Some(&run), true, NextStep::Refused { refusal, interrupts }).await;
            }
            Some(_) | None => {}
        }
        let left = self.deliver(&run).await?;
        match self.new_message().await? {
            Some(new) => {
                // A new message ends the waiting run.
                self.runs.cancel(&self.scope, &run.id).await?;
                self.send(new).await
            }
            None if left.is_empty() || self.input.resume.is_some() => self.resume(&run, false).await,
            None => self.rest(Some(&run), left).await,
        }
    }

    /// Records the results the client sends. Returns the calls it still has to execute.
    async fn deliver(&self, run: &Run) -> Result<Vec<String>, StartError> {
        let mut left = Vec::new();
        let mut brought = self.input.client_results();
        for handed in self.runs.client_calls(&self.scope, &run.id).await? {
            let Some(place) = brought.iter().position(|one| one.call == handed.id.as_str()) else {
                left.push(handed.id.to_string());
                continue;
            };
            let outcome = brought.swap_remove(place).outcome;
            let delivery = Delivery::new(handed.call, self.scope.clone(), outcome);
            match self.runs.deliver(&run.id, delivery).await? {
                Ok(_) | Err(DeliverError::Over { .. } | DeliverError::Resume(_)) => {}
                Err(DeliverError::Ledger(error)) => return Err(error.into()),
                Err(error) => {
                    tracing::debug!("rejected a client tool result: {error}");
                    left.push(handed.id.to_string());
                }
            }
        }
        Ok(left)
    }

    /// Repeated answers change nothing.
    async fn replay(self, run: Run) -> Result<Started, StartError> {
        let answers = self.input.resume.as_deref().unwrap_or_default();
        match self.questions().take(&[], answers).await? {
            ResumeOutcome::Refused(refusal) => self.refuse(Some(&run), refusal).await,
            ResumeOutcome::Continue => self.say_or_rest(Some(run)).await,
            ResumeOutcome::Cancel => match self.new_message().await? {
                Some(new) if !self.is_retry(&new) => self.send(new).await,
                Some(_) | None => self.started(Some(&run), false, NextStep::Cancelled).await,
            },
        }
    }

    async fn cancel(self, run: &Run) -> Result<Started, StartError> {
        self.runs.cancel(&self.scope, &run.id).await?;
        match self.new_message().await? {
            // The cancelled message itself is not sent again.
            Some(new) if !self.is_retry(&new) => self.send(new).await,
            Some(_) | None => self.started(Some(run), false, NextStep::Cancelled).await,
        }
    }

    /// The last message of the user, if no run has handled it.
    async fn new_message(&self) -> Result<Option<NewMessage>, StartError> {
        let Some((place, message)) = self.input.last_words() else { return Ok(None) };
        for attempt in 0..ATTEMPTS {
            let run = run_of(&self.conversation, message, attempt);
            match self.app.store.run(&self.scope, &run).await? {
                None => return Ok(Some(NewMessage { place, run, attempt })),
                // The run failed; sending the message again retries it.
                Some(kept) if matches!(kept.state, RunState::Failed | RunState::Cancelled) => {}
                Some(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    fn is_retry(&self, new: &NewMessage) -> bool {
        new.attempt > 0
    }

    async fn say_or_rest(self, newest: Option<Run>) -> Result<Started, StartError> {
        let is_late_result = self.input.messages.iter().rev().find(|message| !message.is_aside());
        let is_late_result = is_late_result.is_some_and(|last| last.role == Role::Tool);
        match self.new_message().await? {
            Some(new) if !(is_late_result && self.is_retry(&new)) => self.send(new).await,
            Some(_) | None => self.rest(newest.as_ref(), Vec::new()).await,
        }
    }

    /// Starts a run with the new message.
    async fn send(self, new: NewMessage) -> Result<Started, StartError> {
        let Some(message) = self.input.messages.get(new.place) else {
            return self.rest(None, Vec::new()).await;
        };
        let mut request =
            SendRequest::new("").scope(self.scope.clone()).conversation(self.conversation.clone());
        request.message = ModelMessage { role: ModelRole::User, blocks: blocks(message)? };
        request.history = self.input.history(new.place);
        request.run = Some(new.run.clone());
        request.entrance = ENTRANCE.into();
        request.source = self.source.clone();
        request.caller = Some(Arc::clone(&self.call_owner));
        request.context = self.input.context.clone();
        request.client_tools = self.input.tools.clone();
        let entries = self.app.store.entries(&self.scope, &self.conversation, 0).await?;
        let messages = merge_thread(&self.conversation, &entries, &self.input.messages).messages;
        let begun = self.runs.send(&self.choice, request).await?;
        let caller = Some(Arc::clone(&self.call_owner));
        let setting = NarratorContext { caller, ..self.setting(&new.run, 0, messages, HashSet::new()) };
        let narrator = self.narrator(setting);
        Ok(Started { narrator, whole: false, next: NextStep::Watch { begun, from: None } })
    }

    /// Resumes a run. After a crash the client may lack earlier messages.
    async fn resume(self, run: &Run, after_crash: bool) -> Result<Started, StartError> {
        let events = self.app.store.events(&self.scope, &run.id, 0).await?;
        let entries = self.app.store.entries(&self.scope, &self.conversation, 0).await?;
        let thread = merge_thread(&self.conversation, &entries, &self.input.messages);
        let tools = Some(self.input.tools.clone()).filter(|tools| !tools.is_empty());
        let begun = self.runs.resume_with(&self.scope, &run.id, tools).await?;
        let setting = self.setting(&run.id, run.iterations, thread.messages, announced(&events));
        let setting = NarratorContext { caller: run.caller.clone(), ..setting };
        let next = NextStep::Watch { begun, from: position(&events) };
        Ok(Started { narrator: self.narrator(setting), whole: after_crash && !thread.is_whole, next })
    }

    async fn rest(self, run: Option<&Run>, pending: Vec<String>) -> Result<Started, StartError> {
        self.started(run, true, NextStep::Rest { pending }).await
    }

    async fn refuse(self, run: Option<&Run>, refusal: ProtocolViolation) -> Result<Started, StartError> {
        self.started(run, false, NextStep::Refused { refusal, interrupts: Vec::new() }).await
    }

    async fn started(self, run: Option<&Run>, whole: bool, next: NextStep) -> Result<Started, StartError> {
        let entries = self.app.store.entries(&self.scope, &self.conversation, 0).await?;
        let thread = merge_thread(&self.conversation, &entries, &self.input.messages);
        let id = run.map_or_else(|| RunId::new(""), |run| run.id.clone());
        let setting = self.setting(&id, 0, thread.messages, HashSet::new());
        Ok(Started { narrator: self.narrator(setting), whole, next })
    }

    fn setting(
        &self,
        run: &RunId,
        answers: u32,
        messages: Vec<Message>,
        announced: HashSet<String>,
    ) -> NarratorContext {
        let brought = self.input.client_results().into_iter().map(|one| one.call).collect();
        NarratorContext {
            thread: self.input.thread.clone(),
            name: self.input.run.clone(),
            modern: self.input.modern,
            run: run.to_string(),
            answers,
            messages,
            announced,
            brought,
            responder: self.responder.clone(),
            caller: None,
        }
    }

    fn narrator(&self, setting: NarratorContext) -> Narrator {
        let state = SharedState::new(self.input.state.clone(), &setting.run, self.conversation.as_str());
        Narrator::new(setting, state)
    }
}

/// Something new that a person says.
struct NewMessage {
    /// Its place among the client's messages.
    place: usize,
    /// The run that answers it.
    run: RunId,
    attempt: u32,
}

/// Behind the last event that was told.
fn position(events: &[NumberedEvent]) -> Option<Position> {
    let last = events.last()?;
    let segment = events.iter().rev().find_map(Segment::started_by)?;
    Some(Position { segment, seq: last.seq })
}
