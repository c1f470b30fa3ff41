//! What becomes of questions that nobody answered, or whose answer nobody used, in time.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, Answerer, Approvals, Attempt, CallStatus, Journal, Ledger, ParkCall, ParkedQuestion,
    QuestionState,
};
use toolroom::scope::Scope;
use toolroom_store::Store;

use crate::asking::{Kept, LIFETIME, begun, decision, ended, parked, resumed, stand};
use crate::place::Place;

/// Parks a call and says yes to it.
async fn granted(place: &Place, store: &Store) -> ParkCall {
    let park = parked(&*place.clock, &Scope::default(), Answerer::Caller);
    store.park(park.clone()).await.unwrap();
    store.decide(decision(&*place.clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    park
}

#[tokio::test]
async fn overdue_questions_are_answered_with_no_at_the_next_start() {
    let place = Place::new();
    let clock = &*place.clock;
    let store = place.open().await;
    let waiting = parked(clock, &Scope::user("p", "ana"), Answerer::Operator);
    store.park(waiting.clone()).await.unwrap();
    let granted = granted(&place, &store).await;
    clock.advance(Duration::from_micros(1));
    let young = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(young.clone()).await.unwrap();
    clock.advance(LIFETIME - Duration::from_micros(1));

    // As long as nobody has written it down, it reads as before.
    assert_eq!(stand(&store, &waiting).await, (CallStatus::Pending, QuestionState::Waiting, Kept::Sealed));
    let next = place.open().await;
    for late in [&waiting, &granted] {
        assert_eq!(stand(&next, late).await, (CallStatus::Denied, QuestionState::Expired, Kept::Gone));
        let row = next.call(&late.record.scope, &late.record.id).await.unwrap().unwrap();
        assert_eq!(row.error.as_deref(), Some("nobody answered, or used the answer, in time"));
        assert_eq!(row.rule.as_deref(), Some("approval.expired"));
        assert_eq!((row.ended_at, row.duration_us), (Some(clock.now()), 60_000_000));
        assert!(next.begin(resumed(clock, late)).await.is_err());
    }
    assert_eq!(stand(&next, &young).await, (CallStatus::Pending, QuestionState::Waiting, Kept::Sealed));
    let left = next.questions(&Scope::default()).await.unwrap().questions;
    assert_eq!(left.iter().map(|question| &question.record.id).collect::<Vec<_>>(), [&young.record.id]);
    next.decide(decision(clock, &young, Answer::Once, Answerer::Caller)).await.unwrap();
}

#[tokio::test]
async fn a_client_that_sent_nothing_in_time_is_named_in_the_row() {
    let place = Place::new();
    let store = place.open().await;
    let handed = parked(&*place.clock, &Scope::default(), Answerer::Client);
    store.park(handed.clone()).await.unwrap();
    assert_eq!(store.health().await.unwrap().open_questions, 0, "nobody has to answer anything");
    place.clock.advance(LIFETIME);
    let next = place.open().await;
    assert_eq!(stand(&next, &handed).await, (CallStatus::Denied, QuestionState::Expired, Kept::Gone));
    let row = next.call(&handed.record.scope, &handed.record.id).await.unwrap().unwrap();
    assert_eq!(row.error.as_deref(), Some("the client sent no result in time"));
    assert_eq!(row.rule.as_deref(), Some("approval.expired"));
}

#[tokio::test]
async fn what_has_begun_keeps_its_status_and_loses_what_is_sealed() {
    let place = Place::new();
    let clock = &*place.clock;
    let store = place.open().await;
    let (running, broken, over) =
        (granted(&place, &store).await, granted(&place, &store).await, granted(&place, &store).await);
    for park in [&running, &broken, &over] {
        store.begin(resumed(clock, park)).await.unwrap();
    }
    store.close(ended(&broken, CallStatus::Unknown, ParkedQuestion::Settled)).await.unwrap();
    // Closed by somebody who did not know that it was parked.
    store.close(ended(&over, CallStatus::Done, ParkedQuestion::None)).await.unwrap();
    let before = store.call(&over.record.scope, &over.record.id).await.unwrap();
    clock.advance(LIFETIME);

    let next = place.open().await;
    assert_eq!(stand(&next, &running).await, (CallStatus::Begun, QuestionState::Used, Kept::Gone));
    assert_eq!(stand(&next, &broken).await, (CallStatus::Unknown, QuestionState::Used, Kept::Gone));
    assert_eq!(stand(&next, &over).await, (CallStatus::Done, QuestionState::Used, Kept::Gone));
    assert_eq!(next.call(&over.record.scope, &over.record.id).await.unwrap(), before);
    assert!(next.begin(begun(clock, &broken, Attempt::Retry)).await.is_err(), "too late to begin again");
    store.close(ended(&running, CallStatus::Done, ParkedQuestion::Settled)).await.unwrap();
    assert_eq!(stand(&next, &running).await, (CallStatus::Done, QuestionState::Used, Kept::Gone));
}

#[tokio::test]
async fn an_approved_call_whose_process_died_begins_again() {
    let place = Place::new();
    let clock = &*place.clock;
    let dying = place.open_as("here", "dying", |_| true).await;
    let park = granted(&place, &dying).await;
    dying.begin(resumed(clock, &park)).await.unwrap();

    let next = place.open_as("here", "next", |process| process != "dying").await;
    assert_eq!(stand(&next, &park).await, (CallStatus::Unknown, QuestionState::Used, Kept::Sealed));
    clock.advance(Duration::from_secs(1));
    let again = begun(clock, &park, Attempt::Retry);
    next.begin(again.clone()).await.unwrap();
    let row = next.call(&park.record.scope, &park.record.id).await.unwrap();
    assert_eq!(row, Some(again.record));

    // The second process dies, too: the row is its, not the first one's.
    let last = place.open_as("here", "last", |process| process == "dying").await;
    assert_eq!(stand(&last, &park).await, (CallStatus::Unknown, QuestionState::Used, Kept::Sealed));
    last.begin(begun(clock, &park, Attempt::Retry)).await.unwrap();
    last.close(ended(&park, CallStatus::Done, ParkedQuestion::Settled)).await.unwrap();
    assert_eq!(stand(&last, &park).await, (CallStatus::Done, QuestionState::Used, Kept::Gone));
}

#[tokio::test]
async fn questions_from_the_future_are_answered_with_no_at_the_next_start() {
    let place = Place::new();
    let clock = &*place.clock;
    let now = clock.now();
    let store = place.open().await;
    clock.advance(Duration::from_secs(365 * 24 * 3600));
    let waiting = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(waiting.clone()).await.unwrap();
    let granted = granted(&place, &store).await;
    clock.set(now.after(Duration::from_secs(1)));
    let young = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(young.clone()).await.unwrap();
    // Whoever else shares the database has a clock that is a little slow.
    clock.set(now);

    let next = place.open().await;
    for late in [&waiting, &granted] {
        assert_eq!(stand(&next, late).await, (CallStatus::Denied, QuestionState::Expired, Kept::Gone));
    }
    assert_eq!(stand(&next, &young).await, (CallStatus::Pending, QuestionState::Waiting, Kept::Sealed));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_goes_on_answers_overdue_questions_with_no() {
    let place = Place::new();
    let clock = &*place.clock;
    let store = place.open().await;
    let waiting = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(waiting.clone()).await.unwrap();
    let running = granted(&place, &store).await;
    store.begin(resumed(clock, &running)).await.unwrap();
    clock.advance(LIFETIME);
    let mut seconds = 0..1000;
    while stand(&store, &waiting).await.2 == Kept::Sealed && seconds.next().is_some() {
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    assert_eq!(stand(&store, &waiting).await, (CallStatus::Denied, QuestionState::Expired, Kept::Gone));
    assert_eq!(stand(&store, &running).await, (CallStatus::Begun, QuestionState::Used, Kept::Gone));
    // The writer goes on.
    let young = parked(clock, &Scope::default(), Answerer::Caller);
    store.park(young.clone()).await.unwrap();
    assert_eq!(stand(&store, &young).await, (CallStatus::Pending, QuestionState::Waiting, Kept::Sealed));
}
