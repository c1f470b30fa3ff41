//! Conversations and runs: storage, leases and recovery.

mod calls;
mod crash;
mod leases;
mod listing;
mod texts;
mod writing;

use std::sync::Arc;

use serde_json::Map;
use toolroom::clock::Clock;
use toolroom::conversation::{
    AgentId, BeginRun, Content, Conversation, ConversationEntry, ConversationId, Conversations,
    NumberedEvent, Run, RunEvent, RunId, RunState, RunStep, UsageRow,
};
use toolroom::model::{Message, Usage};
use toolroom::policy::Provenance;
use toolroom::scope::Scope;
use toolroom_store::Store;

/// A conversation as the loop knows it: what comes next is counted here.
#[derive(Clone)]
pub(crate) struct Thread {
    pub(crate) conversation: Conversation,
    pub(crate) run: Run,
    events: u64,
}

impl Thread {
    /// A new conversation, and its first run.
    pub(crate) fn new(clock: &dyn Clock, scope: &Scope) -> Self {
        let conversation = Conversation {
            id: ConversationId::fresh(clock),
            scope: scope.clone(),
            agent: AgentId::new("default"),
            title: "Hello".to_owned(),
            entries: 0,
            created_at: clock.now(),
            updated_at: clock.now(),
        };
        Self { run: run(clock, &conversation), conversation, events: 0 }
    }

    /// The next run of the same conversation.
    pub(crate) fn next(&mut self, clock: &dyn Clock) {
        self.run = run(clock, &self.conversation);
        self.events = 0;
    }

    pub(crate) fn begin(&mut self, clock: &dyn Clock) -> BeginRun {
        let conversation = self.conversation.clone();
        let entries = vec![self.said(clock, "a question")];
        BeginRun { run: self.run.clone(), conversation, entries }
    }

    /// A step with one entry, one event and one paid answer; the run is `state` afterwards.
    pub(crate) fn step(&mut self, clock: &dyn Clock, state: RunState) -> RunStep {
        self.run.state = state;
        self.run.iterations += 1;
        let asking = RunEvent::Asking { model: "m/m".into(), iteration: self.run.iterations };
        RunStep {
            run: self.run.clone(),
            entries: vec![self.said(clock, "an answer")],
            events: vec![self.happened(clock, asking)],
            usage: vec![usage(clock, &self.run, Some(0.25))],
            requests: Vec::new(),
        }
    }

    pub(crate) fn said(&mut self, clock: &dyn Clock, text: &str) -> ConversationEntry {
        let seq = self.conversation.entries;
        self.conversation.entries += 1;
        let content = Content::Message(Arc::new(Message::user(text)));
        ConversationEntry { seq, run: self.run.id.clone(), at: clock.now(), content }
    }

    pub(crate) fn happened(&mut self, clock: &dyn Clock, event: RunEvent) -> NumberedEvent {
        let seq = self.events;
        self.events += 1;
        NumberedEvent { seq, at: clock.now(), event }
    }
}

fn run(clock: &dyn Clock, conversation: &Conversation) -> Run {
    Run {
        id: RunId::fresh(clock),
        conversation: conversation.id.clone(),
        scope: conversation.scope.clone(),
        agent: conversation.agent.clone(),
        caller: None,
        entrance: "cli".into(),
        user_location: toolroom::call::UserLocation::Local,
        state: RunState::Running,
        model: None,
        provenance: Provenance::default(),
        source: toolroom::provenance::CallSource::default(),
        context: Map::new(),
        client_tools: toolroom::tool::ClientTools::default(),
        iterations: 0,
        usage: Usage::default(),
        cost: 0.0,
        failure: None,
        started_at: clock.now(),
        ended_at: None,
    }
}

pub(crate) fn usage(clock: &dyn Clock, run: &Run, cost: Option<f64>) -> UsageRow {
    UsageRow {
        at: clock.now(),
        scope: run.scope.clone(),
        run: run.id.clone(),
        conversation: run.conversation.clone(),
        agent: run.agent.clone(),
        model: "m/m".into(),
        purpose: "answer".into(),
        usage: Usage { input: 10, output: 5, cache_read: 4, cache_write: 3, reasoning: 2 },
        cost,
    }
}

/// A conversation with a run that is at work.
pub(crate) async fn begun(store: &Store, clock: &dyn Clock, scope: &Scope) -> Thread {
    let mut thread = Thread::new(clock, scope);
    store.begin_run(thread.begin(clock)).await.unwrap();
    thread
}
