//! Guarantees between processes that share a database: atomicity, exact rates, single use, recovery.

use std::time::Duration;

use toolroom::ledger::{
    Answer, Answerer, Approvals, Attempt, BeginCall, BeginError, CallFilter, CallId, CallStatus, DecideError,
    Journal, Ledger, ParkedQuestion, QuestionState, RateKey, RateLimit,
};
use toolroom::scope::Scope;

use super::Backend;
use crate::database::{begin, call, done};
use crate::parked::{SealedState, begun, decision, edit, ended, parked, parked_state, resumed};

async fn status(journal: &impl Journal, id: &CallId) -> CallStatus {
    journal.call(&Scope::default(), id).await.unwrap().unwrap().status
}

pub(super) async fn two_stores_write_at_once_and_lose_nothing<B: Backend>() {
    let database = B::create();
    let scope = Scope::default();
    let mut tasks = Vec::new();
    for store in [database.open().await, database.open().await] {
        for _ in 0..8 {
            let records: Vec<_> = (0..50).map(|_| call(database.clock(), &scope)).collect();
            let store = store.clone();
            tasks.push(tokio::spawn(async move {
                for record in records {
                    drop(store.begin(begin(&record)));
                    store.close(done(&record)).await.unwrap();
                }
            }));
        }
    }
    for task in tasks {
        task.await.unwrap();
    }
    let store = database.open().await;
    let filter = CallFilter { status: Some(CallStatus::Done), limit: Some(10_000), ..CallFilter::default() };
    assert_eq!(store.calls(&scope, filter).await.unwrap().len(), 800);
}

pub(super) async fn limits_are_exact_across_stores<B: Backend>() {
    let database = B::create();
    let limit = RateLimit { max: 37, per: Duration::from_secs(60), key: RateKey::User };
    let mut tasks = Vec::new();
    for store in [database.open().await, database.open().await] {
        for _ in 0..50 {
            let record = call(database.clock(), &Scope::default());
            let begin = store.begin(BeginCall { record, rates: vec![limit], grant: None });
            tasks.push(tokio::spawn(begin));
        }
    }
    let mut begun = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(()) => begun += 1,
            Err(BeginError::RateLimited { retry_after, .. }) => assert_eq!(retry_after, limit.per),
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!(begun, limit.max);
}

pub(super) async fn limits_look_at_each_call_at_its_own_time<B: Backend>() {
    let database = B::create();
    let store = database.open().await;
    let limit = RateLimit { max: 1, per: Duration::from_secs(60), key: RateKey::Project };
    // Queued together, a minute apart: one transaction, two windows.
    let answers: Vec<_> = (0..3)
        .map(|_| {
            let record = call(database.clock(), &Scope::default());
            database.clock().advance(Duration::from_secs(40));
            store.begin(BeginCall { record, rates: vec![limit], grant: None })
        })
        .collect();
    let mut begun = Vec::new();
    for answer in answers {
        begun.push(answer.await.is_ok());
    }
    assert_eq!(begun, [true, false, true]);
}

pub(super) async fn an_answer_given_in_one_store_is_seen_by_one_that_looks_for_it<B: Backend>() {
    let database = B::create();
    let (asks, answers) = (database.open().await, database.open().await);
    for answer in [Answer::Once, Answer::No] {
        let park = parked(database.clock(), &Scope::user("p", "ana"), Answerer::Operator);
        asks.park(park.clone()).await.unwrap();
        let looks = {
            let (asks, record) = (asks.clone(), park.record.clone());
            tokio::spawn(async move {
                loop {
                    let question = asks.question(&record.scope, &record.id).await.unwrap().unwrap();
                    if question.state != QuestionState::Waiting {
                        return question;
                    }
                    tokio::task::yield_now().await;
                }
            })
        };
        let questions = answers.questions(&Scope::project("p")).await.unwrap().questions;
        assert!(questions.iter().any(|question| question.record.id == park.record.id));
        answers.decide(decision(database.clock(), &park, answer, Answerer::Operator)).await.unwrap();
        let seen = looks.await.unwrap();
        assert_eq!((seen.answer, seen.answered_by), (Some(answer), Some(Answerer::Operator)));
        assert_eq!(asks.begin(resumed(database.clock(), &park)).await.is_ok(), answer.is_yes());
    }
}

pub(super) async fn of_many_answers_and_edits_at_once_one_is_taken<B: Backend>() {
    let database = B::create();
    let stores = [database.open().await, database.open().await];
    for _ in 0..5 {
        let park = parked(database.clock(), &Scope::default(), Answerer::Caller);
        stores[0].park(park.clone()).await.unwrap();
        let mut tasks = Vec::new();
        for store in &stores {
            for answer in [Answer::Once, Answer::No] {
                let said = decision(database.clock(), &park, answer, Answerer::Caller);
                tasks.push(tokio::spawn(store.decide(said)));
            }
            let into = parked(database.clock(), &Scope::default(), Answerer::Caller);
            tasks.push(tokio::spawn(store.edit(edit(database.clock(), &park, Answerer::Caller, &into))));
        }
        let mut taken = 0;
        for task in tasks {
            match task.await.unwrap() {
                Ok(()) => taken += 1,
                Err(error) => assert!(matches!(error, DecideError::NotWaiting(_)), "{error:?}"),
            }
        }
        assert_eq!(taken, 1);
    }
}

pub(super) async fn a_process_on_another_machine_is_dead_without_heartbeats<B: Backend>() {
    let database = B::create();
    let elsewhere = database.open_as("there", "p", |_| true).await;
    let record = call(database.clock(), &Scope::default());
    elsewhere.begin(begin(&record)).await.unwrap();

    database.clock().advance(Duration::from_secs(60));
    let next = database.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Begun, "a late heartbeat is not death");

    // Any batch writes a due heartbeat while calls are open.
    elsewhere.close(done(&call(database.clock(), &Scope::default()))).await.unwrap();
    database.clock().advance(Duration::from_secs(60));
    let next = database.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Begun);

    database.clock().advance(Duration::from_micros(1));
    let next = database.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Unknown);
}

pub(super) async fn a_running_call_stays_open_when_its_question_is_closed_too_late<B: Backend>() {
    let database = B::create();
    let clock = database.clock();
    let busy = database.open_as("there", "busy", |_| true).await;
    let park = parked(clock, &Scope::default(), Answerer::Caller);
    busy.park(park.clone()).await.unwrap();
    busy.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    busy.begin(resumed(clock, &park)).await.unwrap();
    busy.close(ended(&park, CallStatus::Denied, ParkedQuestion::Expired)).await.unwrap_err();
    database.clock().advance(Duration::from_secs(60));
    // Any batch writes a due heartbeat while calls are open.
    busy.close(done(&call(database.clock(), &Scope::default()))).await.unwrap();
    database.clock().advance(Duration::from_secs(60));
    let next = database.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &park.record.id).await, CallStatus::Begun);
}

pub(super) async fn an_approved_call_whose_process_died_begins_again<B: Backend>() {
    let database = B::create();
    let clock = database.clock();
    let dying = database.open_as("here", "dying", |_| true).await;
    let park = parked(clock, &Scope::default(), Answerer::Operator);
    dying.park(park.clone()).await.unwrap();
    dying.decide(decision(clock, &park, Answer::Once, Answerer::Operator)).await.unwrap();
    dying.begin(resumed(clock, &park)).await.unwrap();

    let next = database.open_as("here", "next", |process| process != "dying").await;
    assert_eq!(
        parked_state(&next, &park).await,
        (CallStatus::Unknown, QuestionState::Used, SealedState::Stored)
    );
    clock.advance(Duration::from_secs(1));
    let again = begun(clock, &park, Attempt::Retry);
    next.begin(again.clone()).await.unwrap();
    let row = next.call(&park.record.scope, &park.record.id).await.unwrap();
    assert_eq!(row, Some(again.record));

    // The second process dies, too: the row is its, not the first one's.
    let last = database.open_as("here", "last", |process| process == "dying").await;
    assert_eq!(
        parked_state(&last, &park).await,
        (CallStatus::Unknown, QuestionState::Used, SealedState::Stored)
    );
    last.begin(begun(clock, &park, Attempt::Retry)).await.unwrap();
    last.close(ended(&park, CallStatus::Done, ParkedQuestion::Settled)).await.unwrap();
    assert_eq!(
        parked_state(&last, &park).await,
        (CallStatus::Done, QuestionState::Used, SealedState::Deleted)
    );
}
