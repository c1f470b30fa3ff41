//! Questions that expire without an answer, or with an unused one.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, Answerer, Approvals, Attempt, CallStatus, Journal, Ledger, ParkCall, ParkedQuestion,
    QuestionState,
};
use toolroom::scope::Scope;
use toolroom_store::Store;

use crate::database::TestDatabase;
use crate::parked::{LIFETIME, SealedState, begun, decision, ended, parked, parked_state, resumed};

/// Parks a call and approves it.
async fn granted(database: &TestDatabase, store: &Store) -> ParkCall {
    let park = parked(&*database.clock, &Scope::default(), Answerer::Caller);
    store.park(park.clone()).await.unwrap();
    store.decide(decision(&*database.clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    park
}

#[tokio::test]
async fn overdue_questions_are_answered_with_no_at_the_next_start() {
    let database = TestDatabase::new();
    let clock = &*database.clock;
    let store = database.open().await;
    let waiting = parked(clock, &Scope::user("p", "ana"), Answerer::Operator);
    store.park(waiting.clone()).await.unwrap();
    let granted = granted(&database, &store).await;
    clock.advance(Duration::from_micros(1));
    let young = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(young.clone()).await.unwrap();
    clock.advance(LIFETIME - Duration::from_micros(1));

    // Unchanged until a process closes it.
    assert_eq!(
        parked_state(&store, &waiting).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );
    let next = database.open().await;
    for late in [&waiting, &granted] {
        assert_eq!(
            parked_state(&next, late).await,
            (CallStatus::Denied, QuestionState::Expired, SealedState::Deleted)
        );
        let row = next.call(&late.record.scope, &late.record.id).await.unwrap().unwrap();
        assert_eq!(row.error.as_deref(), Some("not answered in time, or the answer was not used in time"));
        assert_eq!(row.rule.as_deref(), Some("approval.expired"));
        assert_eq!((row.ended_at, row.duration_us), (Some(clock.now()), 60_000_000));
        assert!(next.begin(resumed(clock, late)).await.is_err());
    }
    assert_eq!(
        parked_state(&next, &young).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );
    let left = next.questions(&Scope::default()).await.unwrap().questions;
    assert_eq!(left.iter().map(|question| &question.record.id).collect::<Vec<_>>(), [&young.record.id]);
    next.decide(decision(clock, &young, Answer::Once, Answerer::Caller)).await.unwrap();
}

#[tokio::test]
async fn a_client_that_sent_nothing_in_time_is_named_in_the_row() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let handed = parked(&*database.clock, &Scope::default(), Answerer::Client);
    store.park(handed.clone()).await.unwrap();
    assert_eq!(store.health().await.unwrap().open_questions, 0, "no question is for a user");
    database.clock.advance(LIFETIME);
    let next = database.open().await;
    assert_eq!(
        parked_state(&next, &handed).await,
        (CallStatus::Denied, QuestionState::Expired, SealedState::Deleted)
    );
    let row = next.call(&handed.record.scope, &handed.record.id).await.unwrap().unwrap();
    assert_eq!(row.error.as_deref(), Some("the client sent no result in time"));
    assert_eq!(row.rule.as_deref(), Some("approval.expired"));
}

#[tokio::test]
async fn what_has_begun_keeps_its_status_and_loses_what_is_sealed() {
    let database = TestDatabase::new();
    let clock = &*database.clock;
    let store = database.open().await;
    let (running, broken, over) = (
        granted(&database, &store).await,
        granted(&database, &store).await,
        granted(&database, &store).await,
    );
    for park in [&running, &broken, &over] {
        store.begin(resumed(clock, park)).await.unwrap();
    }
    store.close(ended(&broken, CallStatus::Unknown, ParkedQuestion::Settled)).await.unwrap();
    // Closed by a process that did not know that it was parked.
    store.close(ended(&over, CallStatus::Done, ParkedQuestion::None)).await.unwrap();
    let before = store.call(&over.record.scope, &over.record.id).await.unwrap();
    clock.advance(LIFETIME);

    let next = database.open().await;
    assert_eq!(
        parked_state(&next, &running).await,
        (CallStatus::Begun, QuestionState::Used, SealedState::Deleted)
    );
    assert_eq!(
        parked_state(&next, &broken).await,
        (CallStatus::Unknown, QuestionState::Used, SealedState::Deleted)
    );
    assert_eq!(
        parked_state(&next, &over).await,
        (CallStatus::Done, QuestionState::Used, SealedState::Deleted)
    );
    assert_eq!(next.call(&over.record.scope, &over.record.id).await.unwrap(), before);
    assert!(next.begin(begun(clock, &broken, Attempt::Retry)).await.is_err(), "too late to begin again");
    store.close(ended(&running, CallStatus::Done, ParkedQuestion::Settled)).await.unwrap();
    assert_eq!(
        parked_state(&next, &running).await,
        (CallStatus::Done, QuestionState::Used, SealedState::Deleted)
    );
}

#[tokio::test]
async fn questions_from_the_future_are_answered_with_no_at_the_next_start() {
    let database = TestDatabase::new();
    let clock = &*database.clock;
    let now = clock.now();
    let store = database.open().await;
    clock.advance(Duration::from_secs(365 * 24 * 3600));
    let waiting = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(waiting.clone()).await.unwrap();
    let granted = granted(&database, &store).await;
    clock.set(now.after(Duration::from_secs(1)));
    let young = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(young.clone()).await.unwrap();
    // The clock of another process is slightly slow.
    clock.set(now);

    let next = database.open().await;
    for late in [&waiting, &granted] {
        assert_eq!(
            parked_state(&next, late).await,
            (CallStatus::Denied, QuestionState::Expired, SealedState::Deleted)
        );
    }
    assert_eq!(
        parked_state(&next, &young).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );
}

#[tokio::test(start_paused = true)]
async fn a_process_that_goes_on_answers_overdue_questions_with_no() {
    let database = TestDatabase::new();
    let clock = &*database.clock;
    let store = database.open().await;
    let waiting = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(waiting.clone()).await.unwrap();
    let running = granted(&database, &store).await;
    store.begin(resumed(clock, &running)).await.unwrap();
    clock.advance(LIFETIME);
    let mut seconds = 0..1000;
    while parked_state(&store, &waiting).await.2 == SealedState::Stored && seconds.next().is_some() {
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert_eq!(
        parked_state(&store, &waiting).await,
        (CallStatus::Denied, QuestionState::Expired, SealedState::Deleted)
    );
    assert_eq!(
        parked_state(&store, &running).await,
        (CallStatus::Begun, QuestionState::Used, SealedState::Deleted)
    );
    // The writer goes on.
    let young = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(young.clone()).await.unwrap();
    assert_eq!(
        parked_state(&store, &young).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );
}
