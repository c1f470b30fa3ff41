//! Pruning.

use std::time::Duration;

use serde_json::json;
use toolroom::clock::{Clock, Timestamp};
use toolroom::conversation::{ConversationFilter, Conversations, RunState, Spending};
use toolroom::ledger::{
    Action, Answerer, Artifact, ArtifactId, Artifacts, CallFilter, CallRecord, CallStatus, CloseCall,
    Journal, Ledger, ParkCall,
};
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{PruneReport, Store};

use crate::conversations::begun;
use crate::database::{TestDatabase, begin, done};
use crate::parked::parked;

async fn close_with(database: &TestDatabase, store: &Store, scope: &Scope, content: &[u8]) -> Artifact {
    let record = database.call(scope);
    let artifact = Artifact {
        id: ArtifactId::fresh(&*database.clock),
        call: record.id.clone(),
        scope: scope.clone(),
        media_type: Artifact::TEXT.into(),
        bytes: content.to_vec().into(),
        kept_at: record.asked_at,
    };
    let enqueue = vec![Action { kind: "webhook".to_owned(), payload: json!(null) }];
    store.close(CloseCall { artifacts: vec![artifact.clone()], enqueue, ..done(&record) }).await.unwrap();
    artifact
}

#[tokio::test]
async fn old_closed_calls_are_deleted_with_their_rows() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, other) = (Scope::user("p", "ana"), Scope::project("q"));
    let shared = close_with(&database, &store, &scope, b"shared with a young call").await;
    let alone = close_with(&database, &store, &scope, b"alone").await;
    let elsewhere = close_with(&database, &store, &other, b"alone").await;
    let open = database.call(&scope);
    store.begin(begin(&open)).await.unwrap();
    let unknown = CallRecord { status: CallStatus::Unknown, ..database.call(&scope) };
    store.close(CloseCall { record: unknown.clone(), ..done(&unknown) }).await.unwrap();

    database.clock.advance(Duration::from_secs(10));
    let cut = database.clock.now();
    let young = close_with(&database, &store, &scope, b"shared with a young call").await;

    let project = ProjectId::new("p");
    let expected = PruneReport { calls: 3, artifacts: 2, conversations: 0, bytes: 5 };
    assert_eq!(store.prune_preview(&project, cut, &[], Timestamp::from_micros(0)).await.unwrap(), expected);
    assert_eq!(store.prune(&project, cut, &[]).await.unwrap(), expected);
    assert_eq!(
        store.prune_preview(&project, cut, &[], Timestamp::from_micros(0)).await.unwrap(),
        PruneReport::default()
    );
    assert_eq!(store.prune(&project, cut, &[]).await.unwrap(), PruneReport::default());

    let left = store.calls(&scope, CallFilter::default()).await.unwrap();
    let left: Vec<_> = left.into_iter().map(|call| call.id).collect();
    assert_eq!(left, [young.call.clone(), open.id.clone()]);
    assert_eq!(store.artifact(&scope, &shared.id).await.unwrap(), None);
    assert_eq!(store.artifact(&scope, &alone.id).await.unwrap(), None);
    assert_eq!(store.artifact(&scope, &young.id).await.unwrap(), Some(young));
    assert_eq!(store.artifact(&other, &elsewhere.id).await.unwrap(), Some(elsewhere));
    store.close(done(&open)).await.unwrap();
}

#[tokio::test]
async fn a_call_is_as_old_as_its_end() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, project) = (Scope::project("p"), ProjectId::new("p"));
    let long = database.call(&scope);
    store.begin(begin(&long)).await.unwrap();
    database.clock.advance(Duration::from_secs(10));
    let cut = database.clock.now();
    let ended = CallRecord { ended_at: Some(cut), ..done(&long).record };
    store.close(CloseCall { record: ended, ..done(&long) }).await.unwrap();

    let nothing = PruneReport::default();
    assert_eq!(store.prune_preview(&project, cut, &[], Timestamp::from_micros(0)).await.unwrap(), nothing);
    assert_eq!(store.prune(&project, cut, &[]).await.unwrap(), nothing);
    database.clock.advance(Duration::from_secs(1));
    assert_eq!(store.prune(&project, database.clock.now(), &[]).await.unwrap().calls, 1);
}

#[tokio::test]
async fn more_than_one_chunk_is_deleted() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let answers: Vec<_> = (0..2500).map(|_| store.close(done(&database.call(&scope)))).collect();
    for answer in answers {
        answer.await.unwrap();
    }
    database.clock.advance(Duration::from_secs(1));
    let report = store.prune(&scope.project, database.clock.now(), &[]).await.unwrap();
    assert_eq!(report, PruneReport { calls: 2500, ..PruneReport::default() });
}

#[tokio::test]
async fn old_results_are_deleted_and_their_calls_stay() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let shared = close_with(&database, &store, &scope, b"shared with a young call").await;
    let alone = close_with(&database, &store, &scope, b"alone").await;
    // An open run may read the results of its calls.
    let thread = begun(&store, &*database.clock, &scope).await;
    let run = Some(thread.run.id.as_str().into());
    let needed = CallRecord { run, model_call: Some("one".into()), ..database.call(&scope) };
    let kept = Artifact { id: ArtifactId::fresh(&*database.clock), call: needed.id.clone(), ..alone.clone() };
    store.close(CloseCall { artifacts: vec![kept.clone()], ..done(&needed) }).await.unwrap();
    database.clock.advance(Duration::from_secs(10));
    let cut = database.clock.now();
    let young = close_with(&database, &store, &scope, b"shared with a young call").await;

    let expected = PruneReport { artifacts: 2, bytes: 0, ..PruneReport::default() };
    assert_eq!(store.prune_results_preview(&scope.project, cut).await.unwrap(), expected);
    assert_eq!(store.prune_results(&scope.project, cut).await.unwrap(), expected);
    assert_eq!(store.prune_results(&scope.project, cut).await.unwrap(), PruneReport::default());
    for gone in [&shared, &alone] {
        assert_eq!(store.artifact(&scope, &gone.id).await.unwrap(), None);
        assert!(store.call(&scope, &gone.call).await.unwrap().is_some());
    }
    for here in [&kept, &young] {
        assert!(store.artifact(&scope, &here.id).await.unwrap().is_some());
    }
}

#[tokio::test]
async fn old_conversations_are_deleted_unless_they_have_open_work() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let mut ended = begun(&store, &*database.clock, &scope).await;
    store.step(ended.step(&*database.clock, RunState::Done)).await.unwrap();
    let mut waiting = begun(&store, &*database.clock, &scope).await;
    store.step(waiting.step(&*database.clock, RunState::Waiting)).await.unwrap();
    let mut asking = begun(&store, &*database.clock, &scope).await;
    store.step(asking.step(&*database.clock, RunState::Done)).await.unwrap();
    let park = parked(&*database.clock, &scope, Answerer::Caller);
    let thread = Some(asking.conversation.id.as_str().into());
    store.park(ParkCall { record: CallRecord { thread, ..park.record }, ..park }).await.unwrap();
    let mut elsewhere = begun(&store, &*database.clock, &Scope::project("q")).await;
    store.step(elsewhere.step(&*database.clock, RunState::Done)).await.unwrap();
    database.clock.advance(Duration::from_secs(10));
    let cut = database.clock.now();
    let mut young = begun(&store, &*database.clock, &scope).await;
    store.step(young.step(&*database.clock, RunState::Done)).await.unwrap();

    let spent =
        store.spent(&scope, None, Some(database.clock.now().before(Duration::from_secs(60)))).await.unwrap();
    let preview = store.prune_conversations_preview(&scope.project, cut).await.unwrap();
    assert_eq!((preview.conversations, preview.calls, preview.artifacts), (1, 0, 0));
    assert!(preview.bytes > 0);
    assert_eq!(store.prune_conversations(&scope.project, cut).await.unwrap(), preview);
    assert_eq!(store.prune_conversations(&scope.project, cut).await.unwrap(), PruneReport::default());
    let left = store.conversations(&scope, ConversationFilter::default()).await.unwrap();
    let mut left: Vec<_> = left.into_iter().map(|conversation| conversation.id).collect();
    left.sort();
    let mut stay = [&waiting, &asking, &young].map(|thread| thread.conversation.id.clone());
    stay.sort();
    assert_eq!(left, stay);
    assert!(store.run(&scope, &ended.run.id).await.unwrap().is_none());
    let again =
        store.spent(&scope, None, Some(database.clock.now().before(Duration::from_secs(60)))).await.unwrap();
    assert_eq!(again, spent, "what was spent stays spent");
}
