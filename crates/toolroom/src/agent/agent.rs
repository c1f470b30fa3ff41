//! An agent, and the doors to it.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::candidate::Candidate;
use super::record::AgentRecord;
use super::request::{ResumeRun, RunError, RunReport, SendRequest};
use super::teller::Teller;
use super::tools::Tools;
use super::working::{Begun, Stop, Working};
use crate::catalog::Audience;
use crate::clock::Timestamp;
use crate::conversation::{
    BeginRun, BeginRunError, Content, Conversation, ConversationId, Conversations, Entry, Run, RunEvent,
    RunId, RunState,
};
use crate::memory::Memories;
use crate::model::{Block, Message, ModelRequest, SystemPrompt, ToolUse, Usage};
use crate::policy::{PatternError, Provenance, ToolChoice};
use crate::redact::Redactor;
use crate::room::Toolroom;
use crate::scope::Scope;

/// Somebody who answers messages and uses tools for it. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    pub(super) room: Toolroom,
    pub(super) conversations: Arc<dyn Conversations>,
    pub(super) memories: Option<Arc<dyn Memories>>,
    pub(super) record: Arc<AgentRecord>,
    pub(super) choice: Arc<ToolChoice>,
    pub(super) chain: Arc<[Candidate]>,
    pub(super) local_time: LocalTime,
}

/// An instant in the words of the place where the user is. The kernel knows no time zones.
pub type LocalTime = Arc<dyn Fn(Timestamp) -> String + Send + Sync>;

impl Agent {
    /// An agent over a toolroom. `chain` are its models, the first one first; the others are asked when it fails.
    ///
    /// # Errors
    /// When one of its patterns of tools is none.
    pub fn new(
        room: Toolroom,
        conversations: Arc<dyn Conversations>,
        record: AgentRecord,
        chain: impl IntoIterator<Item = Candidate>,
    ) -> Result<Self, PatternError> {
        let choice = Arc::new(ToolChoice::parse(&record.allow, &record.deny)?);
        Ok(Self {
            room,
            conversations,
            memories: None,
            record: Arc::new(record),
            choice,
            chain: chain.into_iter().collect(),
            local_time: Arc::new(|at| format!("{} µs after 1970-01-01T00:00Z", at.as_micros())),
        })
    }

    /// Lets it read what is remembered of its users.
    #[must_use]
    pub fn memories(mut self, memories: Arc<dyn Memories>) -> Self {
        self.memories = Some(memories);
        self
    }

    /// Tells it how to say what time it is.
    #[must_use]
    pub fn local_time(mut self, local_time: LocalTime) -> Self {
        self.local_time = local_time;
        self
    }

    /// Takes a message and works until there is an answer, none can be had, or somebody has to be asked.
    ///
    /// # Errors
    /// When the run cannot begin, or what happens cannot be kept.
    pub async fn send(&self, request: SendRequest) -> Result<RunReport, RunError> {
        let working = self.begin(request).await?;
        working.go().await
    }

    /// Goes on with a run that waits, or whose process died. The same code after an approval and after a crash: what
    /// has been done is found in the journal and not done again.
    ///
    /// # Errors
    /// When there is nothing to go on with, or what happens cannot be kept.
    pub async fn resume(&self, request: ResumeRun) -> Result<RunReport, RunError> {
        let mut working = self.take(request).await?;
        working.remember_rounds();
        working.go().await
    }

    /// Ends a run that waits, or whose process died. What it waits for is not done.
    ///
    /// # Errors
    /// When there is nothing to end, or it cannot be written down.
    pub async fn cancel(&self, request: ResumeRun) -> Result<RunReport, RunError> {
        let mut working = self.take(request).await?;
        working.settle_open("the user stopped this run before the call ended").await?;
        working.close(Err(Stop::Cancelled)).await
    }

    async fn begin(&self, request: SendRequest) -> Result<Working<'_>, RunError> {
        let clock = Arc::clone(&self.room.clock);
        let id = request.conversation.unwrap_or_else(|| ConversationId::fresh(clock.as_ref()));
        let redactor = self.redactor(&request.scope).await?;
        let message = cleaned(request.message, &redactor);
        let now = clock.now();
        let run = Run {
            id: request.run.unwrap_or_else(|| RunId::fresh(clock.as_ref())),
            conversation: id.clone(),
            scope: request.scope,
            agent: self.record.id.clone(),
            entrance: request.entrance,
            state: RunState::Running,
            model: None,
            provenance: Provenance::NONE,
            context: request.context,
            iterations: 0,
            usage: Usage::default(),
            cost: 0.0,
            failure: None,
            started_at: now,
            ended_at: None,
        };
        let teller = Arc::new(Teller::new(clock, request.watcher.clone(), 0));
        let mut interrupted = false;
        loop {
            let (conversation, entries) = self.thread(&run.scope, &id).await?;
            let conversation = conversation.unwrap_or_else(|| Conversation {
                id: id.clone(),
                scope: run.scope.clone(),
                agent: self.record.id.clone(),
                title: message.text().chars().take(50).collect(),
                entries: 0,
                created_at: now,
                updated_at: now,
            });
            let first = Arc::new(message.clone());
            let entry = Entry {
                seq: conversation.entries,
                run: run.id.clone(),
                at: now,
                content: Content::Message(Arc::clone(&first)),
            };
            let next_entry = conversation.entries + 1;
            let begin = BeginRun { run: run.clone(), conversation, entries: vec![entry], events: Vec::new() };
            match self.conversations.begin_run(begin).await {
                Ok(()) => {
                    let mut messages = sent_again(&entries);
                    messages.push(first);
                    let started =
                        self.begun(run, messages, redactor, teller, request.cancellation, next_entry);
                    return Ok(self.start(started.await?, false));
                }
                // Its process died: what it left open is answered from the journal, once.
                Err(BeginRunError::Open { run: open, state: RunState::Running }) if !interrupted => {
                    interrupted = true;
                    let taken = ResumeRun::new(open, run.scope.clone());
                    self.take(taken).await?.interrupt().await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn take(&self, request: ResumeRun) -> Result<Working<'_>, RunError> {
        let run = self.conversations.take_run(&request.scope, &request.run).await?;
        let (_, entries) = self.thread(&run.scope, &run.conversation).await?;
        let events = self.conversations.events(&run.scope, &run.id, 0).await?;
        let next_event = events.last().map_or(0, |event| event.seq + 1);
        let next_entry = entries.last().map_or(0, |entry| entry.seq + 1);
        let redactor = self.redactor(&run.scope).await?;
        let teller = Teller::new(Arc::clone(&self.room.clock), request.watcher, next_event);
        let messages = sent_again(&entries);
        let begun =
            self.begun(run, messages, redactor, Arc::new(teller), request.cancellation, next_entry).await?;
        let mut working = self.start(begun, true);
        working.resumed = true;
        Ok(working)
    }

    fn start(&self, begun: Begun, resumed: bool) -> Working<'_> {
        begun.teller.tell(RunEvent::Started {
            run: begun.run.id.clone(),
            conversation: begun.run.conversation.clone(),
            agent: begun.run.agent.clone(),
            resumed,
        });
        Working::new(self, begun)
    }

    async fn begun(
        &self,
        run: Run,
        messages: Vec<Arc<Message>>,
        redactor: Arc<Redactor>,
        teller: Arc<Teller>,
        cancellation: CancellationToken,
        next_entry: u64,
    ) -> Result<Begun, RunError> {
        let standing = self.room.switchboard.standing(&run.scope.project).await?;
        let on_device = self.chain.first().is_some_and(|first| first.facts.on_device);
        let audience = if on_device { Audience::OnDevice } else { Audience::Full };
        let project = &run.scope.project;
        let offer =
            self.room.catalog.offer(project, &standing.switches, &run.context, audience, &self.choice);
        let tools = Tools::new(offer);
        let request = ModelRequest {
            system: self.system_prompt(&run, &tools, &redactor).await?,
            messages,
            tools: Arc::clone(&tools.shown),
            tool_use: ToolUse::Free,
            max_tokens: self.record.limits.max_tokens,
            temperature: None,
        };
        Ok(Begun { run, request, tools, redactor, teller, cancellation, next_entry })
    }

    async fn thread(
        &self,
        scope: &Scope,
        id: &ConversationId,
    ) -> Result<(Option<Conversation>, Vec<Entry>), RunError> {
        match self.conversations.conversation(scope, id).await? {
            Some(conversation) => {
                let entries = self.conversations.entries(scope, id, 0).await?;
                Ok((Some(conversation), entries))
            }
            None => Ok((None, Vec::new())),
        }
    }

    async fn redactor(&self, scope: &Scope) -> Result<Arc<Redactor>, RunError> {
        let revision = self.room.switchboard.standing(&scope.project).await?.revision;
        Ok(self.room.redactions.redactor(&scope.project, revision).await?)
    }
}

impl Agent {
    async fn system_prompt(
        &self,
        _run: &Run,
        _tools: &Tools,
        _redactor: &Redactor,
    ) -> Result<SystemPrompt, RunError> {
        Ok(SystemPrompt {
            lasting: self.record.prompt.as_str().into(),
            changing: (self.local_time)(self.room.clock().now()).into(),
        })
    }
}

/// What is sent again of a conversation: its last summary, and what was said after the part it stands for.
fn sent_again(entries: &[Entry]) -> Vec<Arc<Message>> {
    entries
        .iter()
        .filter_map(|entry| match &entry.content {
            Content::Message(message) => Some(Arc::clone(message)),
            Content::Summary(_) => None,
        })
        .collect()
}

/// A message as it may be kept and sent: without secrets.
fn cleaned(mut message: Message, redactor: &Redactor) -> Message {
    for block in &mut message.blocks {
        if let Block::Text { text, .. } = block {
            *text = redactor.redact_text(text).into_owned();
        }
    }
    message
}
