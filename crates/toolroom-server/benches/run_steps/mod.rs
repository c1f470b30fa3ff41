//! Endless runs: what the agent loop writes after each model response.

use std::sync::Arc;

use tokio::sync::Mutex;
use toolroom::clock::{Clock, SystemClock};
use toolroom::conversation::{
    AgentId, BeginRun, Content, Conversation, ConversationEntry, ConversationId, Conversations,
    NumberedEvent, Run, RunEvent, RunId, RunState, RunStep, UsageRow,
};
use toolroom::model::{Message, Usage};
use toolroom::policy::Provenance;
use toolroom::scope::Scope;
use toolroom_store::Store;

/// A message of typical length.
const TEXT: &str =
    "It is cloudy in Bergen, with 7 degrees and rain from the west; take an umbrella with you today.";

/// One run and its number of steps; the first step begins it.
pub(crate) struct RunSteps {
    store: Store,
    state: Mutex<Option<(Run, u64)>>,
}

impl RunSteps {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, state: Mutex::new(None) }
    }

    /// Another run in the same database.
    pub(crate) fn for_another_caller(&self) -> Self {
        Self::new(self.store.clone())
    }

    /// Writes two entries, three events and one usage row.
    pub(crate) async fn step(&self) -> Result<(), String> {
        let mut state = self.state.lock().await;
        let (run, steps) = match state.take() {
            Some((run, steps)) => (run, steps),
            None => (self.begin().await?, 0),
        };
        let entries = (1..=2).map(|n| entry(&run, 2 * steps + n)).collect();
        let events = (0..3).map(|n| event(3 * steps + n)).collect();
        let step =
            RunStep { run: run.clone(), entries, events, usage: vec![usage(&run)], requests: Vec::new() };
        self.store.step(step).await.map_err(|error| error.to_string())?;
        *state = Some((run, steps + 1));
        Ok(())
    }

    async fn begin(&self) -> Result<Run, String> {
        let (conversation, run) = new_run();
        let entries = vec![entry(&run, 0)];
        let begin = BeginRun { run: run.clone(), conversation, entries };
        self.store.begin_run(begin).await.map_err(|error| error.to_string())?;
        Ok(run)
    }
}

fn new_run() -> (Conversation, Run) {
    let now = SystemClock.now();
    let conversation = Conversation {
        id: ConversationId::fresh(&SystemClock),
        scope: Scope::default(),
        agent: AgentId::new("default"),
        title: "The weather".to_owned(),
        entries: 0,
        created_at: now,
        updated_at: now,
    };
    let run = Run {
        id: RunId::fresh(&SystemClock),
        conversation: conversation.id.clone(),
        scope: Scope::default(),
        agent: conversation.agent.clone(),
        caller: None,
        entrance: "bench".into(),
        user_location: toolroom::call::UserLocation::Local,
        state: RunState::Running,
        model: Some("vendor/model".into()),
        provenance: Provenance::default(),
        source: toolroom::provenance::CallSource::default(),
        context: serde_json::Map::new(),
        client_tools: toolroom::tool::ClientTools::default(),
        iterations: 1,
        usage: Usage::default(),
        cost: 0.0,
        failure: None,
        started_at: now,
        ended_at: None,
    };
    (conversation, run)
}

fn entry(run: &Run, seq: u64) -> ConversationEntry {
    let content = Content::Message(Arc::new(Message::user(TEXT)));
    ConversationEntry { seq, run: run.id.clone(), at: SystemClock.now(), content }
}

fn event(seq: u64) -> NumberedEvent {
    let event = RunEvent::Asking { model: "vendor/model".into(), iteration: 1 };
    NumberedEvent { seq, at: SystemClock.now(), event }
}

fn usage(run: &Run) -> UsageRow {
    UsageRow {
        at: SystemClock.now(),
        scope: run.scope.clone(),
        run: run.id.clone(),
        conversation: run.conversation.clone(),
        agent: run.agent.clone(),
        model: "vendor/model".into(),
        purpose: "answer".into(),
        usage: Usage { input: 1_000, output: 100, ..Usage::default() },
        cost: Some(0.01),
    }
}
