//! Forgetting.

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

use crate::asking::parked;
use crate::place::{Place, begin, done};
use crate::threads::begun;

async fn close_with(place: &Place, store: &Store, scope: &Scope, content: &[u8]) -> Artifact {
    let record = place.call(scope);
    let artifact = Artifact {
        id: ArtifactId::fresh(&*place.clock),
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
async fn old_closed_calls_go_with_all_that_hangs_on_them() {
    let place = Place::new();
    let store = place.open().await;
    let (scope, other) = (Scope::user("p", "ana"), Scope::project("q"));
    let shared = close_with(&place, &store, &scope, b"shared with a young call").await;
    let alone = close_with(&place, &store, &scope, b"alone").await;
    let elsewhere = close_with(&place, &store, &other, b"alone").await;
    let open = place.call(&scope);
    store.begin(begin(&open)).await.unwrap();
    let unknown = CallRecord { status: CallStatus::Unknown, ..place.call(&scope) };
    store.close(CloseCall { record: unknown.clone(), ..done(&unknown) }).await.unwrap();

    place.clock.advance(Duration::from_secs(10));
    let cut = place.clock.now();
    let young = close_with(&place, &store, &scope, b"shared with a young call").await;

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
    let place = Place::new();
    let store = place.open().await;
    let (scope, project) = (Scope::project("p"), ProjectId::new("p"));
    let long = place.call(&scope);
    store.begin(begin(&long)).await.unwrap();
    place.clock.advance(Duration::from_secs(10));
    let cut = place.clock.now();
    let ended = CallRecord { ended_at: Some(cut), ..done(&long).record };
    store.close(CloseCall { record: ended, ..done(&long) }).await.unwrap();

    let nothing = PruneReport::default();
    assert_eq!(store.prune_preview(&project, cut, &[], Timestamp::from_micros(0)).await.unwrap(), nothing);
    assert_eq!(store.prune(&project, cut, &[]).await.unwrap(), nothing);
    place.clock.advance(Duration::from_secs(1));
    assert_eq!(store.prune(&project, place.clock.now(), &[]).await.unwrap().calls, 1);
}

#[tokio::test]
async fn more_than_one_chunk_goes() {
    let place = Place::new();
    let store = place.open().await;
    let scope = Scope::default();
    let answers: Vec<_> = (0..2500).map(|_| store.close(done(&place.call(&scope)))).collect();
    for answer in answers {
        answer.await.unwrap();
    }
    place.clock.advance(Duration::from_secs(1));
    let report = store.prune(&scope.project, place.clock.now(), &[]).await.unwrap();
    assert_eq!(report, PruneReport { calls: 2500, ..PruneReport::default() });
}

#[tokio::test]
async fn old_results_go_and_their_calls_stay() {
    let place = Place::new();
    let store = place.open().await;
    let scope = Scope::default();
    let shared = close_with(&place, &store, &scope, b"shared with a young call").await;
    let alone = close_with(&place, &store, &scope, b"alone").await;
    // A run that is still at work may ask for what its calls brought.
    let thread = begun(&store, &*place.clock, &scope).await;
    let run = Some(thread.run.id.as_str().into());
    let needed = CallRecord { run, model_call: Some("one".into()), ..place.call(&scope) };
    let kept = Artifact { id: ArtifactId::fresh(&*place.clock), call: needed.id.clone(), ..alone.clone() };
    store.close(CloseCall { artifacts: vec![kept.clone()], ..done(&needed) }).await.unwrap();
    place.clock.advance(Duration::from_secs(10));
    let cut = place.clock.now();
    let young = close_with(&place, &store, &scope, b"shared with a young call").await;

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
async fn old_conversations_go_but_for_those_that_somebody_waits_for() {
    let place = Place::new();
    let store = place.open().await;
    let scope = Scope::default();
    let mut ended = begun(&store, &*place.clock, &scope).await;
    store.step(ended.step(&*place.clock, RunState::Done)).await.unwrap();
    let mut waiting = begun(&store, &*place.clock, &scope).await;
    store.step(waiting.step(&*place.clock, RunState::Waiting)).await.unwrap();
    let mut asking = begun(&store, &*place.clock, &scope).await;
    store.step(asking.step(&*place.clock, RunState::Done)).await.unwrap();
    let park = parked(&*place.clock, &scope, Answerer::Caller);
    let thread = Some(asking.conversation.id.as_str().into());
    store.park(ParkCall { record: CallRecord { thread, ..park.record }, ..park }).await.unwrap();
    let mut elsewhere = begun(&store, &*place.clock, &Scope::project("q")).await;
    store.step(elsewhere.step(&*place.clock, RunState::Done)).await.unwrap();
    place.clock.advance(Duration::from_secs(10));
    let cut = place.clock.now();
    let mut young = begun(&store, &*place.clock, &scope).await;
    store.step(young.step(&*place.clock, RunState::Done)).await.unwrap();

    let spent =
        store.spent(&scope, None, Some(place.clock.now().before(Duration::from_secs(60)))).await.unwrap();
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
        store.spent(&scope, None, Some(place.clock.now().before(Duration::from_secs(60)))).await.unwrap();
    assert_eq!(again, spent, "what was spent stays spent");
}
