//! Begins and steps: what they write and reject.

use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Row};
use toolroom::clock::Clock;
use toolroom::conversation::{
    BeginRunError, Conversations, RunEvent, RunFailure, RunId, RunState, RunStep, Spending, StepError,
};
use toolroom::ledger::Ledger;
use toolroom::model::Usage;
use toolroom::scope::Scope;

use super::{Thread, begun, usage};
use crate::database::{TestDatabase, begin, why};

async fn count(database: &TestDatabase, sql: &'static str) -> i64 {
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
}

#[tokio::test]
async fn everything_that_is_written_comes_back() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::user("p", "ana"), &*database.clock);
    let mut thread = Thread::new(clock, &scope);
    thread.run.context.insert("user".to_owned(), json!({"name": "Ana", "big": u64::MAX}));
    let begin = thread.begin(clock);
    store.begin_run(begin.clone()).await.unwrap();
    clock.advance(std::time::Duration::from_secs(1));
    let mut step = thread.step(clock, RunState::Running);
    step.events.push(thread.happened(clock, RunEvent::Text { text: "flows by".to_owned() }));
    let told = RunEvent::Done { text: "5".to_owned(), usage: Usage::default(), cost: 0.1 };
    step.events.push(thread.happened(clock, told));
    store.step(step.clone()).await.unwrap();
    thread.run.failure = Some(RunFailure { kind: "budget".to_owned(), message: "spent".to_owned() });
    thread.run.ended_at = Some(database.clock.now());
    thread.run.cost = 0.75;
    let last = RunStep { entries: Vec::new(), ..thread.step(clock, RunState::Failed) };
    store.step(last.clone()).await.unwrap();

    let id = &thread.conversation.id;
    let kept = store.conversation(&scope, id).await.unwrap().unwrap();
    assert_eq!((kept.entries, &kept.title, &kept.scope), (2, &thread.conversation.title, &scope));
    assert_eq!((kept.created_at, kept.updated_at), (begin.conversation.created_at, step.entries[0].at));
    let entries = store.entries(&scope, id, 0).await.unwrap();
    assert_eq!(entries, [begin.entries, step.entries].concat());
    assert_eq!(store.entries(&scope, id, 1).await.unwrap(), entries[1..]);
    assert_eq!(store.entries(&scope, id, u64::MAX).await.unwrap(), []);
    assert_eq!(store.run(&scope, &thread.run.id).await.unwrap(), Some(last.run));
    let structural: Vec<_> =
        [step.events, last.events].concat().into_iter().filter(|event| event.event.is_structural()).collect();
    assert_eq!(structural.len(), 3);
    assert_eq!(store.events(&scope, &thread.run.id, 0).await.unwrap(), structural);
    assert_eq!(store.events(&scope, &thread.run.id, 2).await.unwrap(), structural[1..]);
}

#[tokio::test]
async fn one_run_at_a_time_is_open_in_a_conversation() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut thread = begun(&store, clock, &scope).await;
    for state in [RunState::Running, RunState::Waiting] {
        store.step(thread.step(clock, state)).await.unwrap();
        let mut other = thread.clone();
        other.next(clock);
        let error = store.begin_run(other.begin(clock)).await.unwrap_err();
        let BeginRunError::Open { run, state: seen } = error else { panic!("{error}") };
        assert_eq!((run, seen), (thread.run.id.clone(), state));
    }
    // A waiting run has no holder, and has to be taken first.
    let error = store.step(thread.clone().step(clock, RunState::Done)).await.unwrap_err();
    assert!(matches!(error, StepError::Lost(_)), "{error}");
    store.take_run(&scope, &thread.run.id).await.unwrap();
    store.step(thread.step(clock, RunState::Done)).await.unwrap();
    thread.next(clock);
    store.begin_run(thread.begin(clock)).await.unwrap();
    assert_eq!(store.entries(&scope, &thread.conversation.id, 0).await.unwrap().len(), 5);
}

#[tokio::test]
async fn a_run_begins_only_where_its_caller_believes_to_be() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::user("p", "ana"), &*database.clock);
    let mut thread = begun(&store, clock, &scope).await;
    let first = thread.run.id.clone();
    store.step(thread.step(clock, RunState::Done)).await.unwrap();
    thread.next(clock);

    let mut late = thread.clone();
    late.conversation.entries = 1;
    let changed = store.begin_run(late.begin(clock)).await.unwrap_err();
    assert!(matches!(changed, BeginRunError::Changed(_)), "{changed}");
    for stranger in [Scope::user("p", "bob"), Scope::user("q", "ana"), Scope::project("q")] {
        let mut theirs = thread.clone();
        (theirs.run.scope, theirs.conversation.scope) = (stranger.clone(), stranger);
        let changed = store.begin_run(theirs.begin(clock)).await.unwrap_err();
        assert!(matches!(changed, BeginRunError::Changed(_)), "{changed}");
    }
    let mut gone = Thread::new(clock, &scope);
    gone.conversation.entries = 3;
    let changed = store.begin_run(gone.begin(clock)).await.unwrap_err();
    assert!(matches!(changed, BeginRunError::Changed(_)), "{changed}");
    let mut again = thread.clone();
    again.run.id = first;
    let taken = store.begin_run(again.begin(clock)).await.unwrap_err();
    assert!(matches!(taken, BeginRunError::Taken(_)), "{taken}");
    let mut over = thread.clone();
    over.run.state = RunState::Done;
    assert!(store.begin_run(over.begin(clock)).await.is_err());
    assert_eq!(store.runs(&scope, toolroom::conversation::RunFilter::default()).await.unwrap().len(), 1);

    // A scope of the whole project may continue.
    thread.run.scope = Scope::project("p");
    store.begin_run(thread.begin(clock)).await.unwrap();
}

#[tokio::test]
async fn a_step_that_does_not_fit_is_refused_alone_and_leaves_nothing() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut good = begun(&store, clock, &scope).await;
    let bad = begun(&store, clock, &scope).await;
    let mut unknown = Thread::new(clock, &scope);
    let rows = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM run_events) + (SELECT count(*) FROM usage)";
    let before = count(&database, rows).await;

    let mut gap = bad.clone();
    gap.conversation.entries += 1;
    let mut known = bad.clone();
    let told = toolroom::conversation::NumberedEvent {
        seq: 0,
        at: known.run.started_at,
        event: RunEvent::Cancelled,
    };
    let told_twice = RunStep { events: vec![told.clone(), told], ..known.step(clock, RunState::Running) };
    let mut stranger = bad.clone();
    stranger.run.scope = Scope::user("local", "bob");
    let mut endless = bad.clone();
    endless.run.cost = f64::NAN;
    let mut odd = bad.clone();
    odd.run.id = RunId::new("run\0");
    let refused = [
        store.step(gap.step(clock, RunState::Running)),
        store.step(told_twice),
        store.step(stranger.step(clock, RunState::Running)),
        store.step(endless.step(clock, RunState::Running)),
        store.step(odd.step(clock, RunState::Running)),
        store.step(unknown.step(clock, RunState::Running)),
    ];
    let written = store.step(good.step(clock, RunState::Running));
    let call = database.call(&scope);
    let called = store.begin(begin(&call));
    for step in refused {
        step.await.unwrap_err();
    }
    written.await.unwrap();
    called.await.unwrap();
    assert_eq!(count(&database, rows).await, before + 3);
    assert_eq!(store.run(&scope, &bad.run.id).await.unwrap(), Some(bad.run));
}

#[tokio::test]
async fn steps_that_are_queued_at_once_follow_each_other() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut threads: Vec<_> = (0..8).map(|_| Thread::new(clock, &scope)).collect();
    let mut answers = Vec::new();
    for thread in &mut threads {
        answers.push(Box::pin(store.begin_run(thread.begin(clock))));
    }
    let mut steps = Vec::new();
    for round in 0..10 {
        for thread in &mut threads {
            let state = if round == 9 { RunState::Done } else { RunState::Running };
            steps.push(store.step(thread.step(clock, state)));
        }
    }
    for answer in answers {
        answer.await.unwrap();
    }
    for step in steps {
        step.await.unwrap();
    }
    for thread in &threads {
        assert_eq!(store.entries(&scope, &thread.conversation.id, 0).await.unwrap().len(), 11);
        let run = store.run(&scope, &thread.run.id).await.unwrap().unwrap();
        assert_eq!((run.state, run.iterations), (RunState::Done, 10));
    }
}

#[tokio::test]
async fn what_was_spent_is_counted_by_whose_it_is_and_since_when() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (ana, bob, clock) = (Scope::user("p", "ana"), Scope::user("p", "bob"), &*database.clock);
    let mut first = begun(&store, clock, &ana).await;
    store.step(first.step(clock, RunState::Running)).await.unwrap();
    clock.advance(std::time::Duration::from_secs(60));
    let later = database.clock.now();
    let free = RunStep { usage: vec![usage(clock, &first.run, None)], ..first.step(clock, RunState::Done) };
    store.step(free).await.unwrap();
    let mut second = begun(&store, clock, &ana).await;
    store.step(second.step(clock, RunState::Done)).await.unwrap();
    let mut other = begun(&store, clock, &bob).await;
    let absurd = usage(clock, &other.run, Some(1.0));
    let absurd =
        toolroom::conversation::UsageRow { usage: Usage { input: u64::MAX, ..absurd.usage }, ..absurd };
    let step = RunStep { usage: vec![absurd.clone(), absurd], ..other.step(clock, RunState::Done) };
    store.step(step).await.unwrap();

    let spent = store.spent(&ana, None, None).await.unwrap();
    assert_eq!((spent.answers, spent.runs, spent.usage.input, spent.usage.reasoning), (3, 2, 30, 6));
    assert!((spent.cost - 0.5).abs() < 1e-9, "{}", spent.cost);
    assert_eq!(store.spent(&ana, None, Some(later)).await.unwrap().answers, 2);
    assert_eq!(store.spent(&ana, Some(&first.conversation.id), None).await.unwrap().answers, 2);
    assert_eq!(store.spent(&ana, Some(&first.conversation.id), Some(later)).await.unwrap().answers, 1);
    assert_eq!(store.spent(&bob, Some(&first.conversation.id), None).await.unwrap().answers, 0);
    assert_eq!(store.spent(&Scope::project("p"), None, None).await.unwrap().answers, 5);
    assert_eq!(store.spent(&Scope::project("q"), None, None).await.unwrap(), Default::default());

    // The record of costs outlives the conversation.
    store.delete_conversation(&ana, &first.conversation.id).await.unwrap();
    assert_eq!(store.spent(&ana, None, None).await.unwrap().answers, 3);
}

#[tokio::test]
async fn a_closed_store_refuses_and_says_so() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let (scope, clock) = (Scope::default(), &*database.clock);
    let mut thread = begun(&store, clock, &scope).await;
    store.shutdown().await.unwrap();
    let StepError::Ledger(error) = store.step(thread.step(clock, RunState::Done)).await.unwrap_err() else {
        panic!("it is no longer there")
    };
    assert!(why(&error).contains("closed"), "{error:?}");
}
