//! The size of chunks.

use std::sync::Arc;

use toolroom::clock::{Clock, Timestamp};
use toolroom::conversation::{
    AgentId, BeginRun, Content, Conversation, ConversationEntry, ConversationId, Conversations, Run, RunId,
    RunState, RunStep,
};
use toolroom::ledger::{
    Artifact, ArtifactId, CallId, CallRecord, CallStatus, CloseCall, Ledger, ParkedQuestion,
};
use toolroom::model::{Message, Usage};
use toolroom::policy::Provenance;
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::ManualClock;

use super::{Age, Chunk};
use crate::sqlite::writer::{Outcome, Work};
use crate::{ProcessIdentity, PruneReport, Store, StoreOptions};

const AT: Timestamp = Timestamp::from_micros(1);
const LATER: Timestamp = Timestamp::from_micros(2);

async fn open(folder: &tempfile::TempDir) -> Store {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::at(AT));
    let process = ProcessIdentity {
        machine: "here".to_owned(),
        process: "me".to_owned(),
        probe: Arc::new(|_| Some(true)),
    };
    Store::open(&folder.path().join("t.db"), StoreOptions::new(process), clock).await.unwrap()
}

/// A call with a file of this size, filled with one byte.
async fn store_artifact(store: &Store, id: &str, bytes: usize, byte: u8) {
    let record = CallRecord {
        status: CallStatus::Done,
        ..CallRecord::arrived(CallId::new(id), Scope::default(), "t", AT)
    };
    let file = Artifact {
        id: ArtifactId::new(id),
        call: record.id.clone(),
        scope: Scope::default(),
        media_type: Artifact::TEXT.into(),
        bytes: vec![byte; bytes].into(),
        kept_at: AT,
    };
    let question = ParkedQuestion::None;
    store.close(CloseCall { record, artifacts: vec![file], enqueue: Vec::new(), question }).await.unwrap();
}

/// A finished conversation with an entry of this length.
async fn talk(store: &Store, id: &str, letters: usize) {
    let conversation = Conversation {
        id: ConversationId::new(id),
        scope: Scope::default(),
        agent: AgentId::new("default"),
        title: String::new(),
        entries: 0,
        created_at: AT,
        updated_at: AT,
    };
    let run = Run {
        id: RunId::new(id),
        conversation: conversation.id.clone(),
        scope: Scope::default(),
        agent: AgentId::new("default"),
        caller: None,
        entrance: "cli".into(),
        user_location: toolroom::call::UserLocation::Local,
        state: RunState::Running,
        model: None,
        provenance: Provenance::default(),
        source: toolroom::provenance::CallSource::default(),
        context: serde_json::Map::new(),
        client_tools: toolroom::tool::ClientTools::default(),
        iterations: 0,
        usage: Usage::default(),
        cost: 0.0,
        failure: None,
        started_at: AT,
        ended_at: None,
    };
    let content = Content::Message(Arc::new(Message::user("a".repeat(letters))));
    let entries = vec![ConversationEntry { seq: 0, run: run.id.clone(), at: AT, content }];
    let over = Run { state: RunState::Done, ended_at: Some(AT), ..run.clone() };
    store.begin_run(BeginRun { run, conversation, entries }).await.unwrap();
    let (entries, events, usage, requests) = Default::default();
    store.step(RunStep { run: over, entries, events, usage, requests }).await.unwrap();
}

/// The report of each chunk, until there are no more.
async fn chunks(store: &Store, chunk: Chunk) -> Vec<PruneReport> {
    let mut reports = Vec::new();
    loop {
        let Outcome::Pruned(pruned) = store.submit(Work::Prune(chunk.clone())).await.unwrap() else {
            unreachable!("prune work returns a pruned chunk");
        };
        reports.push(pruned.report);
        if !pruned.has_more {
            return reports;
        }
    }
}

const LARGE: usize = 6 << 20;

fn age() -> Age {
    Age::new(&ProjectId::default(), LATER)
}

#[tokio::test]
async fn large_results_go_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    for (number, id) in (1..).zip(["a", "b", "c", "d", "e"]) {
        store_artifact(&store, id, LARGE, number).await;
    }
    store_artifact(&store, "f", 4 * LARGE, 6).await;
    let reports = chunks(&store, Chunk::Results(age())).await;
    assert!(reports.len() > 3, "{reports:?}");
    let total = reports.iter().fold(PruneReport::default(), |total, report| total.and(*report));
    assert_eq!((total.artifacts, total.bytes), (6, 9 * LARGE as u64));
    for report in reports {
        assert!(report.artifacts == 1 || report.bytes <= super::CHUNK_BYTES, "{report:?}");
    }
}

#[tokio::test]
async fn calls_with_large_results_go_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    for (number, id) in (1..).zip(["a", "b", "c", "d", "e"]) {
        store_artifact(&store, id, LARGE, number).await;
    }
    let (below, counted) = ("~".to_owned(), "[]".to_owned());
    let reports = chunks(&store, Chunk::Calls { age: age(), below, counted }).await;
    let calls: Vec<u64> = reports.iter().map(|report| report.calls).collect();
    assert_eq!(calls, [2, 2, 1]);
    assert_eq!(reports.iter().map(|report| report.bytes).sum::<u64>(), 5 * LARGE as u64);
}

#[tokio::test]
async fn conversations_go_few_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder).await;
    for number in 0..45 {
        talk(&store, &format!("short {number:02}"), 10).await;
    }
    let counts = async |store: &Store| {
        let reports = chunks(store, Chunk::Conversations(age())).await;
        reports.iter().map(|report| report.conversations).collect::<Vec<_>>()
    };
    assert_eq!(counts(&store).await, [20, 20, 5]);
    for id in ["a", "b", "c"] {
        talk(&store, id, LARGE).await;
    }
    assert_eq!(counts(&store).await, [2, 1]);
}
