//! Forgetting.

use std::time::Duration;

use serde_json::json;
use toolroom::clock::Clock;
use toolroom::ledger::{
    Action, Artifact, ArtifactId, Artifacts, CallFilter, CallRecord, CallStatus, CloseCall, Journal, Ledger,
};
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{PruneReport, Store};

use crate::place::{Place, begin, done};

async fn close_with(place: &Place, store: &Store, scope: &Scope, content: &[u8]) -> Artifact {
    let record = place.call(scope);
    let artifact = Artifact {
        id: ArtifactId::fresh(&*place.clock),
        call: record.id.clone(),
        scope: scope.clone(),
        media_type: Artifact::TEXT,
        bytes: content.into(),
        kept_at: record.asked_at,
    };
    let enqueue = vec![Action { kind: "webhook".to_owned(), payload: json!(null) }];
    store.close(CloseCall { artifact: Some(artifact.clone()), enqueue, ..done(&record) }).await.unwrap();
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
    let expected = PruneReport { calls: 3, artifacts: 2, bytes: 5 };
    assert_eq!(store.prune_preview(&project, cut).await.unwrap(), expected);
    assert_eq!(store.prune(&project, cut).await.unwrap(), expected);
    assert_eq!(store.prune_preview(&project, cut).await.unwrap(), PruneReport::default());
    assert_eq!(store.prune(&project, cut).await.unwrap(), PruneReport::default());

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
async fn more_than_one_chunk_goes() {
    let place = Place::new();
    let store = place.open().await;
    let scope = Scope::default();
    let answers: Vec<_> = (0..2500).map(|_| store.close(done(&place.call(&scope)))).collect();
    for answer in answers {
        answer.await.unwrap();
    }
    place.clock.advance(Duration::from_secs(1));
    let report = store.prune(&scope.project, place.clock.now()).await.unwrap();
    assert_eq!(report, PruneReport { calls: 2500, artifacts: 0, bytes: 0 });
}
