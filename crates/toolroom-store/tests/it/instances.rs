//! What the dead leave behind, and only they.

use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Row};
use toolroom::clock::Clock;
use toolroom::ledger::{Answer, Answerer, CallId, CallStatus, Journal, Ledger, ParkedQuestion};
use toolroom::scope::Scope;
use toolroom_store::Store;

use crate::asking::{decision, ended, parked, resumed};
use crate::place::{Place, begin, done};

async fn status(store: &Store, id: &CallId) -> CallStatus {
    store.call(&Scope::default(), id).await.unwrap().unwrap().status
}

async fn instances(place: &Place) -> Vec<String> {
    let mut connection = SqliteConnectOptions::new().filename(place.path()).connect().await.unwrap();
    let rows = sqlx::query("SELECT process FROM instances ORDER BY process").fetch_all(&mut connection).await;
    rows.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn only_the_calls_of_a_dead_process_become_unknown() {
    let place = Place::new();
    let living = place.open_as("here", "living", |_| true).await;
    let dying = place.open_as("here", "dying", |_| true).await;
    let (kept, lost, over) =
        (place.call(&Scope::default()), place.call(&Scope::default()), place.call(&Scope::default()));
    living.begin(begin(&kept)).await.unwrap();
    dying.begin(begin(&lost)).await.unwrap();
    dying.begin(begin(&over)).await.unwrap();
    dying.close(done(&over)).await.unwrap();
    assert_eq!(instances(&place).await, ["dying", "living"]);

    let next = place.open_as("here", "next", |process| process != "dying").await;
    assert_eq!(status(&next, &kept.id).await, CallStatus::Begun);
    assert_eq!(status(&next, &lost.id).await, CallStatus::Unknown);
    assert_eq!(status(&next, &over.id).await, CallStatus::Done);
    assert_eq!(instances(&place).await, ["living"]);

    // It was not dead after all: what really happened wins, and it is present again when it begins anew.
    dying.close(done(&lost)).await.unwrap();
    assert_eq!(status(&next, &lost.id).await, CallStatus::Done);
    place.clock.advance(Duration::from_secs(10));
    let back = place.call(&Scope::default());
    dying.begin(begin(&back)).await.unwrap();
    assert_eq!(instances(&place).await, ["dying", "living"]);
}

#[tokio::test]
async fn a_process_elsewhere_is_dead_when_it_is_silent() {
    let place = Place::new();
    let elsewhere = place.open_as("there", "p", |_| true).await;
    let record = place.call(&Scope::default());
    elsewhere.begin(begin(&record)).await.unwrap();

    place.clock.advance(Duration::from_secs(60));
    let next = place.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Begun, "a late heartbeat is no death");

    // Any batch carries the heartbeat along while calls are open.
    elsewhere.close(done(&place.call(&Scope::default()))).await.unwrap();
    place.clock.advance(Duration::from_secs(60));
    let next = place.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Begun);

    place.clock.advance(Duration::from_micros(1));
    let next = place.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Unknown);
}

#[tokio::test(start_paused = true)]
async fn a_process_with_an_open_call_says_that_it_lives() {
    let place = Place::new();
    let busy = place.open_as("there", "busy", |_| true).await;
    let record = place.call(&Scope::default());
    busy.begin(begin(&record)).await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(place.path()).connect().await.unwrap();
    for _ in 0..3 {
        place.clock.advance(Duration::from_secs(59));
        let mut written = false;
        let mut seconds = 0..1000;
        while !written && seconds.next().is_some() {
            tokio::time::advance(Duration::from_secs(1)).await;
            let row = sqlx::query("SELECT heartbeat_at FROM instances").fetch_one(&mut connection).await;
            written = row.unwrap().get::<i64, _>(0) == place.clock.now().as_micros();
        }
        assert!(written, "no heartbeat without another call");
    }
    let next = place.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Begun);
}

#[tokio::test]
async fn a_running_call_stays_open_when_its_question_is_closed_too_late() {
    let place = Place::new();
    let clock = &*place.clock;
    let busy = place.open_as("there", "busy", |_| true).await;
    let park = parked(clock, &Scope::default(), Answerer::Caller);
    busy.park(park.clone()).await.unwrap();
    busy.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    busy.begin(resumed(clock, &park)).await.unwrap();
    busy.close(ended(&park, CallStatus::Denied, ParkedQuestion::Expired)).await.unwrap_err();
    place.clock.advance(Duration::from_secs(60));
    // Any batch carries the heartbeat along while calls are open.
    busy.close(done(&place.call(&Scope::default()))).await.unwrap();
    place.clock.advance(Duration::from_secs(60));
    let next = place.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &park.record.id).await, CallStatus::Begun);
}

#[tokio::test]
async fn who_only_reads_or_only_closes_leaves_no_trace() {
    let place = Place::new();
    let store = place.open().await;
    store.calls(&Scope::default(), Default::default()).await.unwrap();
    store.close(done(&place.call(&Scope::default()))).await.unwrap();
    assert_eq!(instances(&place).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_orderly_end_signs_off() {
    let place = Place::new();
    let store = place.open_as("here", "me", |_| true).await;
    let record = place.call(&Scope::default());
    store.begin(begin(&record)).await.unwrap();
    store.shutdown().await.unwrap();
    assert_eq!(instances(&place).await, Vec::<String>::new());
    let next = place.open().await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Unknown, "nobody is left to close it");
}
