//! An agent: sending, resuming and cancelling runs.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::active_run::RunClaim;
use super::active_run::{ActiveRun, ActiveRunParts, Stop};
use super::agent_record::AgentRecord;
use super::ask::Candidate;
use super::client_tools::check_client_tools;
use super::event_sink::EventSink;
use super::prompt::{LocalTime, PromptParts, system_prompt};
use super::provenance::history_provenance;
use super::run_request::{ResumeRun, RunError, RunReport, SendRequest};
use super::sanitize::{clean_history, cleaned, without_secrets};
use super::selection::Selection;
use super::thread::Thread;
use super::title::title_of;
use super::tokens::Estimator;
use super::tools::Tools;
use crate::clock::Timestamp;
use crate::conversation::{
    BeginRun, BeginRunError, Content, Conversation, ConversationEntry, ConversationId, Conversations, Run,
    RunEvent, RunId, RunState,
};
use crate::memory::{Memories, Memory};
use crate::model::{Message, ModelCallId, ModelRequest, SystemPrompt, ToolUse, Usage};
use crate::policy::{PatternError, Provenance, ToolChoice};
use crate::provenance::CallSource;
use crate::redact::Redactor;
use crate::scope::Scope;
use crate::toolroom::Toolroom;

/// Answers messages with the help of models and tools. Cheap to clone.
#[derive(Clone)]
pub struct Agent {
    pub(super) room: Toolroom,
    pub(super) conversations: Arc<dyn Conversations>,
    pub(super) memories: Option<Arc<dyn Memories>>,
    pub(super) record: Arc<AgentRecord>,
    pub(super) choice: Arc<ToolChoice>,
    pub(super) chain: Arc<[Candidate]>,
    pub(super) ranker: Option<Candidate>,
    pub(super) local_clock: Option<LocalClock>,
    /// Corrects token estimates by what models report.
    pub(super) estimator: Arc<Mutex<Estimator>>,
    pub(super) selection: Arc<Selection>,
}

/// Converts an instant into the local time of the user. The kernel knows no time zones.
pub type LocalClock = Arc<dyn Fn(Timestamp) -> LocalTime + Send + Sync>;

impl Agent {
    /// An agent over a toolroom. `chain` are its models: the first is asked, the next ones if it fails.
    ///
    /// # Errors
    /// When one of its tool patterns is invalid.
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
            ranker: None,
            local_clock: None,
            estimator: Arc::default(),
            selection: Arc::default(),
        })
    }

    /// Adds the memories of its users to the prompt.
    #[must_use]
    pub fn memories(mut self, memories: Arc<dyn Memories>) -> Self {
        self.memories = Some(memories);
        self
    }

    /// Lets a small model choose among the tools when there are too many to show.
    #[must_use]
    pub fn ranker(mut self, ranker: Candidate) -> Self {
        self.ranker = Some(ranker);
        self
    }

    /// Adds the local time to the prompt.
    #[must_use]
    pub fn local_clock(mut self, local_clock: LocalClock) -> Self {
        self.local_clock = Some(local_clock);
        self
    }

    /// Which tools it may use.
    #[must_use]
    pub fn choice(&self) -> &ToolChoice {
        &self.choice
    }

    /// Runs a message until there is an answer, the run fails, or a call waits for an answer.
    ///
    /// # Errors
    /// When the run cannot begin or cannot be stored.
    pub async fn send(&self, request: SendRequest) -> Result<RunReport, RunError> {
        let active = self.begin(request).await?;
        active.run().await
    }

    /// Resumes a run that waits, or whose process died. The same code after an approval, after a delivery and after a crash:
    /// finished calls are found in the journal and not repeated.
    ///
    /// # Errors
    /// When there is no such run, it belongs to another agent, or it cannot be stored.
    pub async fn resume(&self, request: ResumeRun) -> Result<RunReport, RunError> {
        let run = self.conversations.run(&request.scope, &request.run).await?;
        // Its calls were checked against the tools of that agent.
        if let Some(Run { id: run, agent, .. }) = run.filter(|run| run.agent != self.record.id) {
            return Err(RunError::OtherAgent { run, agent });
        }
        if let Some(tools) = &request.client_tools {
            check_client_tools(tools, self.redactor(&request.scope).await?.as_ref())?;
        }
        let mut active = self.take(request).await?;
        active.remember_rounds();
        active.run().await
    }

    /// Ends a run that waits, or whose process died. Its pending calls do not run.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be stored.
    pub async fn cancel(&self, request: ResumeRun) -> Result<RunReport, RunError> {
        let mut active = self.take(request).await?;
        active.settle_open(Vec::new(), STOPPED).await?;
        active.close(Err(Stop::Cancelled)).await
    }

    async fn begin(&self, request: SendRequest) -> Result<ActiveRun<'_>, RunError> {
        let clock = Arc::clone(&self.room.clock);
        let keeps_none = request.conversation.is_none();
        let id = request.conversation.unwrap_or_else(|| ConversationId::fresh(clock.as_ref()));
        let redactor = self.redactor(&request.scope).await?;
        let message = cleaned(request.message, &redactor).ok_or(RunError::EmptyMessage)?;
        let history_provenance = history_provenance(&request.history);
        let history = clean_history(request.history, &redactor);
        check_client_tools(&request.client_tools, &redactor)?;
        // Tools may need a token of the user, so their copy of the context loses stored secrets only. The stored copy also
        // loses everything that looks like a secret.
        let for_tools = without_secrets(request.context, &redactor.without_patterns());
        let context = without_secrets(for_tools.clone(), &redactor);
        let now = clock.now();
        let mut run = Run {
            id: request.run.unwrap_or_else(|| RunId::fresh(clock.as_ref())),
            conversation: id.clone(),
            scope: request.scope,
            agent: self.record.id.clone(),
            caller: request.caller,
            entrance: request.entrance,
            user_location: request.user_location,
            state: RunState::Running,
            model: None,
            provenance: Provenance::NONE,
            // The client keeps the history, so its caller's track counts too.
            source: if keeps_none { request.source.clone() } else { CallSource::default() },
            context,
            client_tools: request.client_tools,
            iterations: 0,
            usage: Usage::default(),
            cost: 0.0,
            failure: None,
            started_at: now,
            ended_at: None,
        };
        let events = Arc::new(EventSink::new(clock, request.listener.clone(), 0));
        let mut interrupted = false;
        loop {
            let (conversation, mut entries) = self.thread(&run.scope, &id).await?;
            let before = if conversation.is_none() { history.as_slice() } else { &[] };
            if !before.is_empty() {
                let kept = self.room.provenance_of(&run.scope, id.as_str(), &request.source).await?;
                run.provenance = kept.and(history_provenance);
            }
            let conversation = conversation.unwrap_or_else(|| Conversation {
                id: id.clone(),
                scope: run.scope.clone(),
                agent: self.record.id.clone(),
                title: title_of(&message),
                entries: 0,
                created_at: now,
                updated_at: now,
            });
            let entry = |(seq, message): (u64, &Message)| ConversationEntry {
                seq,
                run: run.id.clone(),
                at: now,
                content: Content::Message(Arc::new(message.clone())),
            };
            let said = (conversation.entries..).zip(before.iter().chain([&message])).map(entry);
            let said: Vec<ConversationEntry> = said.collect();
            let begin = BeginRun { run: run.clone(), conversation, entries: said.clone() };
            let mut claim = RunClaim::new(&self.conversations, &run.id);
            let begun = self.conversations.begin_run(begin).await;
            if begun.is_err() {
                claim.forget();
            }
            match begun {
                Ok(()) => {
                    entries.extend(said);
                    let next_entry = entries.last().map_or(0, |entry| entry.seq + 1);
                    let thread = Thread::read(&entries);
                    let cancellation = request.cancellation;
                    let begun = self.begun((run, claim), thread, redactor, events, cancellation, next_entry);
                    let mut active = self.start(begun.await?, false);
                    active.context = for_tools;
                    return Ok(active);
                }
                // Its process died: answer its open calls from the journal, once.
                Err(BeginRunError::Open { run: open, state: RunState::Running }) if !interrupted => {
                    interrupted = true;
                    let taken = ResumeRun::new(open, run.scope.clone());
                    self.take(taken).await?.interrupt().await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    async fn take(&self, request: ResumeRun) -> Result<ActiveRun<'_>, RunError> {
        let mut claim = RunClaim::new(&self.conversations, &request.run);
        let taken = self.conversations.take_run(&request.scope, &request.run).await;
        let mut run = taken.inspect_err(|_| claim.forget())?;
        run.client_tools = request.client_tools.unwrap_or(run.client_tools);
        let (_, entries) = self.thread(&run.scope, &run.conversation).await?;
        let events = self.conversations.events(&run.scope, &run.id, 0).await?;
        let next_event = events.last().map_or(0, |event| event.seq + 1);
        let reported: HashSet<ModelCallId> = (events.into_iter())
            .filter_map(|event| match event.event {
                RunEvent::CallEnded { id, .. } => Some(id),
                _ => None,
            })
            .collect();
        let next_entry = entries.last().map_or(0, |entry| entry.seq + 1);
        let redactor = self.redactor(&run.scope).await?;
        let events = EventSink::new(Arc::clone(&self.room.clock), request.listener, next_event);
        let thread = Thread::read(&entries);
        let events = Arc::new(events);
        let begun = self.begun((run, claim), thread, redactor, events, request.cancellation, next_entry);
        let mut active = self.start(begun.await?, true);
        active.resumed = true;
        active.reported = reported;
        Ok(active)
    }

    fn start(&self, begun: ActiveRunParts, resumed: bool) -> ActiveRun<'_> {
        begun.events.send(RunEvent::Started {
            run: begun.run.id.clone(),
            conversation: begun.run.conversation.clone(),
            agent: begun.run.agent.clone(),
            resumed,
        });
        let ranked = begun.ranked;
        let mut active = ActiveRun::new(self, begun);
        if let (Some(usage), Some(ranker)) = (ranked, &self.ranker) {
            active.pay(ranker, "tools", usage);
        }
        active
    }

    async fn begun(
        &self,
        (run, claim): (Run, RunClaim),
        (thread, messages): (Thread, Vec<Arc<Message>>),
        redactor: Arc<Redactor>,
        events: Arc<EventSink>,
        cancellation: CancellationToken,
        next_entry: u64,
    ) -> Result<ActiveRunParts, RunError> {
        let mut tools = Tools::new(self.offer(&run).await?);
        let ranked = self.select(&mut tools, &run, &messages, &cancellation).await?;
        let (system, holds) = self.system_prompt(&run, &tools, &redactor).await?;
        // The model reads the prompt from the start.
        let mut run = run;
        let holds = holds.and(run.provenance);
        let (conversation, source) = (run.conversation.as_str(), &run.source);
        let kept = self.room.provenance_of(&run.scope, conversation, source).await?;
        if !kept.includes(holds) {
            self.room.add_provenance(&run.scope, conversation, source, holds).await?;
        }
        run.provenance = kept.and(holds);
        let request = ModelRequest {
            system,
            messages,
            tools: Arc::clone(&tools.shown),
            tool_use: ToolUse::Free,
            max_tokens: self.record.limits.max_tokens,
            temperature: None,
        };
        Ok(ActiveRunParts {
            run,
            request,
            thread,
            tools,
            redactor,
            events,
            cancellation,
            next_entry,
            claim,
            ranked,
        })
    }

    /// The prompt, with the provenance of the user data in it.
    async fn system_prompt(
        &self,
        run: &Run,
        tools: &Tools,
        redactor: &Redactor,
    ) -> Result<(SystemPrompt, Provenance), RunError> {
        let (mut memories, mut promotions) = (Vec::new(), Vec::new());
        if let Some(kept) = &self.memories {
            memories = kept.memories(&run.scope).await?;
            promotions = kept.promotions(&run.scope, &self.record.id).await?;
        }
        for memory in &mut memories {
            memory.key = redactor.redact_text(&memory.key).into_owned();
            memory.content = redactor.redact_text(&memory.content).into_owned();
        }
        let learnings: Vec<_> =
            promotions.iter().map(|promotion| redactor.redact_text(&promotion.addition)).collect();
        let learnings: Vec<&str> = learnings.iter().map(AsRef::as_ref).collect();
        let first = self.chain.first();
        let time = self.local_clock.as_ref().map(|local_clock| local_clock(self.room.clock.now()));
        let prompt = system_prompt(&PromptParts {
            identity: &redactor.redact_text(&self.record.prompt),
            learnings: &learnings,
            tools: &tools.for_prompt(),
            memories: &memories,
            context: Some(&without_secrets(run.context.clone(), redactor)),
            time: time.as_ref(),
            model: first.map_or("", |first| first.model.name()),
            on_device: first.is_some_and(|first| first.facts.on_device),
        });
        let of_context = Some(Provenance::MILDLY_PRIVATE).filter(|_| !run.context.is_empty());
        let learned = promotions.iter().map(|promotion| promotion.memory.provenance());
        let holds = memories.iter().map(Memory::provenance).chain(learned).chain(of_context);
        Ok((prompt, holds.fold(Provenance::NONE, Provenance::and)))
    }

    async fn thread(
        &self,
        scope: &Scope,
        id: &ConversationId,
    ) -> Result<(Option<Conversation>, Vec<ConversationEntry>), RunError> {
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

/// The error a model reads for a call that was stopped together with its run.
pub(super) const STOPPED: &str = "the user stopped this run before the call ended";
