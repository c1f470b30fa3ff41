//! What a client's input leads to: a run that begins or goes on, or none.

use std::collections::HashSet;
use std::sync::Arc;

use toolroom::agent::{RunError, SendRequest};
use toolroom::approval::Responder;
use toolroom::call::{DeliverError, Delivery};
use toolroom::conversation::{
    ConversationId, Conversations as _, NumberedEvent, Run, RunFilter, RunId, RunState,
};
use toolroom::ledger::LedgerError;
use toolroom::model::{Message as Said, Role as Speaker};
use toolroom::provenance::CallSource;
use toolroom::scope::Scope;

use super::answers::{Answered, Questions, Refusal, told};
use super::calls::announced;
use super::event::Interrupt;
use super::input::Input;
use super::interrupt::question;
use super::message::{Message, PartError, Role, blocks};
use super::narrate::{Narrator, Setting};
use super::state::State;
use super::thread::{ATTEMPTS, conversation_of, joined, run_of};
use crate::agents::Choice;
use crate::app::App;
use crate::identity::Caller;
use crate::runs::{Position, Runs, Segment, StartRunError, StartedRun};

/// What is kept of where a run came from.
const ENTRANCE: &str = "agui";

/// What an input leads to.
pub(crate) struct Started {
    /// Tells of it.
    pub(crate) narrator: Narrator,
    /// Whether the client has to be told of the whole thread.
    pub(crate) whole: bool,
    pub(crate) next: Next,
}

/// What happens next.
pub(crate) enum Next {
    /// A run, watched from a place on.
    Watch { begun: StartedRun, from: Option<Position> },
    /// Nothing: there is nothing new, up to these calls that the client has to run.
    Rest { pending: Vec<String> },
    /// Nothing: the client has taken back what was asked for.
    Cancelled,
    /// Nothing: the rules were broken. What is asked is told again.
    Refused { refusal: Refusal, interrupts: Vec<Interrupt> },
}

/// Why nothing was begun.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("a run of this thread is being worked on; wait for it to end, or cancel it")]
    Busy,
    #[error(transparent)]
    Begin(#[from] StartRunError),
    #[error(transparent)]
    Part(#[from] PartError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// One input, and where it is worked on.
pub(crate) struct Start {
    app: Arc<App>,
    runs: Arc<Runs>,
    scope: Scope,
    source: CallSource,
    /// Who makes the calls of a run that begins here, and with which rights they answer.
    call_owner: Arc<str>,
    responder: Responder,
    choice: Choice,
    conversation: ConversationId,
    input: Input,
}

impl Start {
    pub(crate) fn new(app: Arc<App>, runs: Arc<Runs>, caller: &Caller, choice: Choice, input: Input) -> Self {
        let (scope, source) = (caller.scope.clone(), caller.source());
        let conversation = conversation_of(&scope, &input.thread);
        let (call_owner, responder) = (caller.call_owner(), caller.responder_as_caller());
        Self { app, runs, scope, source, call_owner, responder, choice, conversation, input }
    }

    /// What is asked in the thread.
    fn questions(&self) -> Questions<'_> {
        let Self { app, scope, responder, conversation, .. } = self;
        Questions { room: &app.room, scope, by: responder, conversation }
    }

    /// Begins what there is to begin.
    ///
    /// # Errors
    /// When nothing was begun.
    pub(crate) async fn begin(self) -> Result<Started, StartError> {
        let newest = self.newest().await?;
        // Its questions, results and words are for the agent that was asked, whoever knows the name of the thread.
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
                let refusal = Refusal::new("unknown_interrupt", "nothing was asked in this thread");
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

    /// A run that was begun, and has not ended.
    async fn join(self, run: Run) -> Result<Started, StartError> {
        if self.runs.is_live(&run.id) {
            // Clients may bring each result in a run of its own, and the first of them has set us to work.
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
        // Its process died. That is nobody's wish: it goes on, unless somebody says something else.
        match self.new_words().await? {
            Some(words) => self.send(words).await,
            None => self.resume(&run, true).await,
        }
    }

    /// A run that waits: for people, for the client, or for both.
    async fn go_on(self, run: Run) -> Result<Started, StartError> {
        let events = self.app.store.events(&self.scope, &run.id, 0).await?;
        let questions = self.questions();
        let open = questions.open(&run, &events).await?;
        match &self.input.resume {
            Some(answers) if !answers.is_empty() => match questions.take(&open, answers).await? {
                Answered::GoOn => {}
                Answered::Cancel => return self.cancel(&run).await,
                Answered::Refused(refusal) => return self.refuse(Some(&run), refusal).await,
            },
            Some(_) | None if !open.is_empty() => {
                let mut interrupts = Vec::new();
                for one in &open {
                    let arguments = Some(one.record.arguments.as_ref().clone());
                    let answers = self.app.room.answers(one, &self.responder)?;
                    interrupts.extend(question(&told(one), arguments, answers));
                }
                let message = "this thread waits for answers; send them in `resume`, or take the questions back there \
                               as `cancelled`";
                let refusal = Refusal::new("interrupted", message);
                return self.started(Some(&run), true, Next::Refused { refusal, interrupts }).await;
            }
            Some(_) | None => {}
        }
        let left = self.deliver(&run).await?;
        match self.new_words().await? {
            Some(words) => {
                // Whoever says something else does not wait any longer.
                self.runs.cancel(&self.scope, &run.id).await?;
                self.send(words).await
            }
            None if left.is_empty() || self.input.resume.is_some() => self.resume(&run, false).await,
            None => self.rest(Some(&run), left).await,
        }
    }

    /// Takes what the client brings; gives the calls that it still has to run.
    async fn deliver(&self, run: &Run) -> Result<Vec<String>, StartError> {
        let mut left = Vec::new();
        let mut brought = self.input.brought();
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
                    tracing::debug!("a client's result is not taken: {error}");
                    left.push(handed.id.to_string());
                }
            }
        }
        Ok(left)
    }

    /// What was answered before is answered again, and changes nothing.
    async fn replay(self, run: Run) -> Result<Started, StartError> {
        let answers = self.input.resume.as_deref().unwrap_or_default();
        match self.questions().take(&[], answers).await? {
            Answered::Refused(refusal) => self.refuse(Some(&run), refusal).await,
            Answered::GoOn => self.say_or_rest(Some(run)).await,
            Answered::Cancel => match self.new_words().await? {
                Some(words) if !self.is_retry(&words) => self.send(words).await,
                Some(_) | None => self.started(Some(&run), false, Next::Cancelled).await,
            },
        }
    }

    async fn cancel(self, run: &Run) -> Result<Started, StartError> {
        self.runs.cancel(&self.scope, &run.id).await?;
        match self.new_words().await? {
            // What was cancelled is not what is wanted anew.
            Some(words) if !self.is_retry(&words) => self.send(words).await,
            Some(_) | None => self.started(Some(run), false, Next::Cancelled).await,
        }
    }

    /// What the person says, if nobody has answered it.
    async fn new_words(&self) -> Result<Option<Words>, StartError> {
        let Some((place, message)) = self.input.last_words() else { return Ok(None) };
        for attempt in 0..ATTEMPTS {
            let run = run_of(&self.conversation, message, attempt);
            match self.app.store.run(&self.scope, &run).await? {
                None => return Ok(Some(Words { place, run, attempt })),
                // It came to nothing, and is wanted again.
                Some(kept) if matches!(kept.state, RunState::Failed | RunState::Cancelled) => {}
                Some(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    fn is_retry(&self, words: &Words) -> bool {
        words.attempt > 0
    }

    async fn say_or_rest(self, newest: Option<Run>) -> Result<Started, StartError> {
        let is_late_result = self.input.messages.iter().rev().find(|message| !message.is_aside());
        let is_late_result = is_late_result.is_some_and(|last| last.role == Role::Tool);
        match self.new_words().await? {
            Some(words) if !(is_late_result && self.is_retry(&words)) => self.send(words).await,
            Some(_) | None => self.rest(newest.as_ref(), Vec::new()).await,
        }
    }

    /// Begins a run with what is new.
    async fn send(self, words: Words) -> Result<Started, StartError> {
        let Some(message) = self.input.messages.get(words.place) else {
            return self.rest(None, Vec::new()).await;
        };
        let mut request =
            SendRequest::new("").scope(self.scope.clone()).conversation(self.conversation.clone());
        request.message = Said { role: Speaker::User, blocks: blocks(message)? };
        request.history = self.input.history(words.place);
        request.run = Some(words.run.clone());
        request.entrance = ENTRANCE.into();
        request.source = self.source.clone();
        request.caller = Some(Arc::clone(&self.call_owner));
        request.context = self.input.context.clone();
        request.client_tools = self.input.tools.clone();
        let entries = self.app.store.entries(&self.scope, &self.conversation, 0).await?;
        let messages = joined(&self.conversation, &entries, &self.input.messages).messages;
        let begun = self.runs.send(&self.choice, request).await?;
        let caller = Some(Arc::clone(&self.call_owner));
        let setting = Setting { caller, ..self.setting(&words.run, 0, messages, HashSet::new()) };
        let narrator = self.narrator(setting);
        Ok(Started { narrator, whole: false, next: Next::Watch { begun, from: None } })
    }

    /// Goes on with a run. After a crash the client may not have what was said before it.
    async fn resume(self, run: &Run, after_crash: bool) -> Result<Started, StartError> {
        let events = self.app.store.events(&self.scope, &run.id, 0).await?;
        let entries = self.app.store.entries(&self.scope, &self.conversation, 0).await?;
        let thread = joined(&self.conversation, &entries, &self.input.messages);
        let tools = Some(self.input.tools.clone()).filter(|tools| !tools.is_empty());
        let begun = self.runs.resume_with(&self.scope, &run.id, tools).await?;
        let setting = self.setting(&run.id, run.iterations, thread.messages, announced(&events));
        let setting = Setting { caller: run.caller.clone(), ..setting };
        let next = Next::Watch { begun, from: position(&events) };
        Ok(Started { narrator: self.narrator(setting), whole: after_crash && !thread.is_whole, next })
    }

    async fn rest(self, run: Option<&Run>, pending: Vec<String>) -> Result<Started, StartError> {
        self.started(run, true, Next::Rest { pending }).await
    }

    async fn refuse(self, run: Option<&Run>, refusal: Refusal) -> Result<Started, StartError> {
        self.started(run, false, Next::Refused { refusal, interrupts: Vec::new() }).await
    }

    async fn started(self, run: Option<&Run>, whole: bool, next: Next) -> Result<Started, StartError> {
        let entries = self.app.store.entries(&self.scope, &self.conversation, 0).await?;
        let thread = joined(&self.conversation, &entries, &self.input.messages);
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
    ) -> Setting {
        let brought = self.input.brought().into_iter().map(|one| one.call).collect();
        Setting {
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

    fn narrator(&self, setting: Setting) -> Narrator {
        let state = State::new(self.input.state.clone(), &setting.run, self.conversation.as_str());
        Narrator::new(setting, state)
    }
}

/// Something new that a person says.
struct Words {
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
