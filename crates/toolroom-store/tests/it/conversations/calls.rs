//! Calls of a run: each of the model's calls once, found by their run, kept as long as the run is open.

use std::time::Duration;

use toolroom::clock::{Clock, Timestamp};
use toolroom::conversation::{Conversations, RunState};
use toolroom::ledger::{CallFilter, CallRecord, CallStatus, Journal, Ledger};
use toolroom::scope::Scope;

use super::begun;
use crate::database::{TestDatabase, begin, done, why};

fn of_model(database: &TestDatabase, run: &str, model_call: Option<&str>) -> CallRecord {
    let call = database.call(&Scope::default());
    CallRecord { run: Some(run.into()), model_call: model_call.map(Into::into), ..call }
}

#[tokio::test]
async fn a_models_call_is_called_once() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let first = of_model(&database, "run_1", Some("toolu_1"));
    store.begin(begin(&first)).await.unwrap();

    // Queued without waiting, so that they share a transaction with others.
    let good: Vec<_> =
        [("run_1", Some("toolu_2")), ("run_2", Some("toolu_1")), ("run_1", None), ("run_1", None)]
            .map(|(run, call)| of_model(&database, run, call))
            .into();
    let again = of_model(&database, "run_1", Some("toolu_1"));
    let begun = store.begin(begin(&again));
    let others: Vec<_> = good.iter().map(|record| store.begin(begin(record))).collect();
    let closed = store.close(done(&of_model(&database, "run_1", Some("toolu_1"))));
    let error = begun.await.unwrap_err();
    assert!(format!("{error:?}").contains("CalledBefore"), "{error:?}");
    for other in others {
        other.await.unwrap();
    }
    let error = why(&closed.await.unwrap_err());
    assert!(error.contains("`toolu_1` of run `run_1` was already made"), "{error}");
    store.close(done(&first)).await.unwrap();

    assert_eq!(store.call(&scope, &again.id).await.unwrap(), None);
    let of_run = CallFilter { run: Some("run_1".to_owned()), ..CallFilter::default() };
    let found = store.calls(&scope, of_run.clone()).await.unwrap();
    let ids: Vec<_> = found.iter().map(|call| call.id.clone()).collect();
    assert_eq!(ids, [&good[3].id, &good[2].id, &good[0].id, &first.id].map(Clone::clone));
    assert_eq!(found[3].model_call.as_deref(), Some("toolu_1"));
    let older = CallFilter { before: Some(good[2].id.clone()), limit: Some(1), ..of_run.clone() };
    assert_eq!(store.calls(&scope, older).await.unwrap()[0].id, good[0].id);
    let ended = CallFilter { status: Some(CallStatus::Done), ..of_run.clone() };
    assert_eq!(store.calls(&scope, ended).await.unwrap()[0].id, first.id);
    assert_eq!(store.calls(&Scope::project("q"), of_run).await.unwrap(), []);
}

#[tokio::test]
async fn calls_of_an_open_run_are_not_pruned() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut thread = begun(&store, clock, &scope).await;
    let (kept, other) =
        (of_model(&database, thread.run.id.as_str(), Some("1")), of_model(&database, "run_gone", None));
    store.close(done(&kept)).await.unwrap();
    store.close(done(&other)).await.unwrap();
    clock.advance(Duration::from_secs(60));
    let now = database.clock.now();
    for state in [RunState::Running, RunState::Waiting] {
        store.step(thread.step(clock, state)).await.unwrap();
        let preview = store.prune_preview(&scope.project, now, &[], Timestamp::from_micros(0)).await.unwrap();
        let pruned = store.prune(&scope.project, now, &[]).await.unwrap();
        assert_eq!(preview, pruned);
        assert_eq!(pruned.calls, u64::from(state == RunState::Running), "the other one went first");
        assert!(store.call(&scope, &kept.id).await.unwrap().is_some());
    }
    store.take_run(&scope, &thread.run.id).await.unwrap();
    store.step(thread.step(clock, RunState::Done)).await.unwrap();
    assert_eq!(store.prune(&scope.project, now, &[]).await.unwrap().calls, 1);
}
