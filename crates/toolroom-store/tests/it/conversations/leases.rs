//! Leases: a run belongs to one process until it waits, ends, or its process dies.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use toolroom::conversation::{
    BeginRunError, Conversations, RunFilter, RunId, RunState, StepError, TakeRunError,
};
use toolroom::ledger::{CallStatus, Journal, Ledger};
use toolroom::scope::Scope;

use super::{Thread, begun};
use crate::database::{TestDatabase, begin};

#[tokio::test]
async fn only_waiting_runs_and_those_of_dead_processes_can_be_taken() {
    let database = TestDatabase::new();
    let (scope, clock) = (Scope::default(), &*database.clock);
    let first = database.open_as("here", "first", |_| true).await;
    let mut thread = begun(&first, clock, &scope).await;
    let id = thread.run.id.clone();
    let living = database.open_as("here", "second", |_| true).await;
    for store in [&first, &living] {
        let busy = store.take_run(&scope, &id).await.unwrap_err();
        assert!(matches!(&busy, TakeRunError::Busy(run) if *run == id), "{busy}");
    }
    let call = toolroom::ledger::CallRecord { run: Some(id.as_str().into()), ..database.call(&scope) };
    first.begin(begin(&call)).await.unwrap();

    // Opened while it lived; it dies later.
    let lives = Arc::new(AtomicBool::new(true));
    let seen = Arc::clone(&lives);
    let heir =
        database.open_as("here", "heir", move |process| process != "first" || seen.load(Relaxed)).await;
    assert!(matches!(heir.take_run(&scope, &id).await.unwrap_err(), TakeRunError::Busy(_)));
    lives.store(false, Relaxed);
    let run = heir.take_run(&scope, &id).await.unwrap();
    assert_eq!(run, thread.run);
    let found = heir.call(&scope, &call.id).await.unwrap().unwrap();
    assert_eq!(found.status, CallStatus::Unknown, "its call is recovered before the run is taken over");
    let lost = first.step(thread.clone().step(clock, RunState::Done)).await.unwrap_err();
    assert!(matches!(&lost, StepError::Lost(run) if *run == id), "{lost}");
    heir.step(thread.step(clock, RunState::Waiting)).await.unwrap();
    assert_eq!(living.take_run(&scope, &id).await.unwrap().state, RunState::Running);
    let lost = heir.step(thread.clone().step(clock, RunState::Done)).await.unwrap_err();
    assert!(matches!(lost, StepError::Lost(_)), "{lost}");
    living.step(thread.step(clock, RunState::Cancelled)).await.unwrap();
    let over = living.take_run(&scope, &id).await.unwrap_err();
    assert!(matches!(over, TakeRunError::Over { state: RunState::Cancelled, .. }), "{over}");
    let none = living.take_run(&scope, &RunId::new("run_none")).await.unwrap_err();
    assert!(matches!(none, TakeRunError::NotFound(_)), "{none}");
}

#[tokio::test]
async fn runs_of_a_process_that_signed_off_can_be_taken() {
    let database = TestDatabase::new();
    let (scope, clock) = (Scope::default(), &*database.clock);
    let first = database.open_as("here", "first", |_| true).await;
    let thread = begun(&first, clock, &scope).await;
    first.shutdown().await.unwrap();
    let second = database.open_as("here", "second", |_| true).await;
    let mut next = thread.clone();
    next.next(clock);
    let open = second.begin_run(next.begin(clock)).await.unwrap_err();
    assert!(matches!(open, BeginRunError::Open { state: RunState::Running, .. }), "{open}");
    second.take_run(&scope, &thread.run.id).await.unwrap();
}

#[tokio::test]
async fn a_run_whose_step_could_not_be_written_can_be_taken_again() {
    let database = TestDatabase::new();
    let (scope, clock) = (Scope::default(), &*database.clock);
    let store = database.open().await;
    let mut thread = begun(&store, clock, &scope).await;
    let mut gap = thread.clone();
    gap.conversation.entries += 1;
    let error = store.step(gap.step(clock, RunState::Done)).await.unwrap_err();
    assert!(matches!(error, StepError::Ledger(_)), "{error}");
    assert_eq!(store.take_run(&scope, &thread.run.id).await.unwrap(), thread.run);
    let busy = store.take_run(&scope, &thread.run.id).await.unwrap_err();
    assert!(matches!(busy, TakeRunError::Busy(_)), "{busy}");
    store.step(thread.step(clock, RunState::Done)).await.unwrap();
}

#[tokio::test]
async fn a_released_run_can_be_taken_by_any_process() {
    let database = TestDatabase::new();
    let (scope, clock) = (Scope::default(), &*database.clock);
    let store = database.open_as("here", "first", |_| true).await;
    let other = database.open_as("here", "second", |_| true).await;
    let mut thread = begun(&store, clock, &scope).await;
    // A process that does not hold it cannot release it.
    other.release_run(&thread.run.id);
    let busy = other.take_run(&scope, &thread.run.id).await.unwrap_err();
    assert!(matches!(busy, TakeRunError::Busy(_)), "{busy}");
    store.release_run(&thread.run.id);
    let lost = store.step(thread.clone().step(clock, RunState::Done)).await.unwrap_err();
    assert!(matches!(lost, StepError::Lost(_)), "{lost}");
    assert_eq!(other.take_run(&scope, &thread.run.id).await.unwrap(), thread.run);
    other.step(thread.step(clock, RunState::Done)).await.unwrap();
}

#[tokio::test]
async fn a_process_that_holds_a_run_writes_heartbeats() {
    let database = TestDatabase::new();
    let (scope, clock) = (Scope::default(), &*database.clock);
    let store = database.open_as("there", "worker", |_| true).await;
    let mut thread = begun(&store, clock, &scope).await;
    let seen = |store: toolroom_store::Store| async move { store.health().await.unwrap().instances };
    assert_eq!(seen(store.clone()).await.len(), 1);
    clock.advance(std::time::Duration::from_secs(50));
    store.step(thread.step(clock, RunState::Running)).await.unwrap();
    assert_eq!(seen(store.clone()).await[0].heartbeat_at, toolroom::clock::Clock::now(clock));

    // A process on another machine is judged by its heartbeat.
    let other = database.open_as("here", "other", |_| false).await;
    clock.advance(std::time::Duration::from_secs(60));
    let busy = other.take_run(&scope, &thread.run.id).await.unwrap_err();
    assert!(matches!(busy, TakeRunError::Busy(_)), "{busy}");
    clock.advance(std::time::Duration::from_secs(1));
    other.take_run(&scope, &thread.run.id).await.unwrap();
}

#[tokio::test]
async fn of_many_who_begin_or_take_at_once_one_wins() {
    let database = TestDatabase::new();
    let (scope, clock) = (Scope::default(), &*database.clock);
    let stores = [
        database.open_as("here", "a", |_| true).await,
        database.open_as("here", "b", |_| true).await,
        database.open_as("here", "c", |_| true).await,
    ];
    for _ in 0..crate::scale::scaled(20) {
        let thread = Thread::new(clock, &scope);
        let mut begins = Vec::new();
        for store in &stores {
            for _ in 0..3 {
                let mut own = thread.clone();
                own.next(clock);
                let begin = own.begin(clock);
                begins.push((begin.run.id.clone(), tokio::spawn(store.begin_run(begin))));
            }
        }
        let mut winners = Vec::new();
        for (run, answer) in begins {
            match answer.await.unwrap() {
                Ok(()) => winners.push(run),
                Err(BeginRunError::Open { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        let [winner] = winners.as_slice() else { panic!("{winners:?}") };
        let run = stores[0].run(&scope, winner).await.unwrap().unwrap();
        assert_eq!(stores[0].entries(&scope, &run.conversation, 0).await.unwrap().len(), 1);

        // Now it waits, and every process tries to take it.
        let mut own = thread.clone();
        (own.run, own.conversation.entries) = (run, 1);
        let mut waits = own.step(clock, RunState::Waiting);
        for event in &mut waits.events {
            event.seq += 1;
        }
        let mut left = 0;
        for store in &stores {
            left += usize::from(store.step(waits.clone()).await.is_ok());
        }
        assert_eq!(left, 1, "only its owner may write");
        let takes: Vec<_> = (0..3)
            .flat_map(|_| stores.iter().map(|store| tokio::spawn(store.take_run(&scope, winner))))
            .collect();
        let mut taken = 0;
        for take in takes {
            taken += usize::from(take.await.unwrap().is_ok());
        }
        assert_eq!(taken, 1);
    }
}

#[tokio::test]
async fn a_conversation_is_deleted_with_its_rows_unless_a_process_works_in_it() {
    let database = TestDatabase::new();
    let (scope, clock) = (Scope::user("p", "ana"), &*database.clock);
    let store = database.open_as("here", "first", |_| true).await;
    let mut thread = begun(&store, clock, &scope).await;
    let id = thread.conversation.id.clone();
    let busy = store.delete_conversation(&scope, &id).await.unwrap_err();
    assert!(matches!(&busy, StepError::Busy { run } if *run == thread.run.id), "{busy}");
    store.step(thread.step(clock, RunState::Waiting)).await.unwrap();
    for stranger in [Scope::user("p", "bob"), Scope::project("q")] {
        assert!(!store.delete_conversation(&stranger, &id).await.unwrap());
    }
    assert!(store.delete_conversation(&scope, &id).await.unwrap());
    assert!(!store.delete_conversation(&scope, &id).await.unwrap());
    assert_eq!(store.conversation(&scope, &id).await.unwrap(), None);
    assert_eq!(store.entries(&scope, &id, 0).await.unwrap(), []);
    assert_eq!(store.runs(&scope, RunFilter::default()).await.unwrap(), []);
    assert_eq!(store.events(&scope, &thread.run.id, 0).await.unwrap(), []);
    let lost = store.step(thread.step(clock, RunState::Done)).await.unwrap_err();
    assert!(matches!(lost, StepError::Lost(_)), "{lost}");

    // A conversation whose process died can be deleted.
    let left = begun(&store, clock, &scope).await;
    assert!(store.delete_conversation(&scope, &left.conversation.id).await.is_err());
    let heir = database.open_as("here", "heir", |process| process != "first").await;
    assert!(heir.delete_conversation(&scope, &left.conversation.id).await.unwrap());
}
