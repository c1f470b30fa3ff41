//! Recovery of dead processes, and of no others.

use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Row};
use toolroom::clock::Clock;
use toolroom::ledger::{CallId, CallStatus, Journal, Ledger};
use toolroom::scope::Scope;
use toolroom_store::Store;

use crate::database::{TestDatabase, begin, done};

async fn status(store: &Store, id: &CallId) -> CallStatus {
    store.call(&Scope::default(), id).await.unwrap().unwrap().status
}

async fn instances(database: &TestDatabase) -> Vec<String> {
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    let rows = sqlx::query("SELECT process FROM instances ORDER BY process").fetch_all(&mut connection).await;
    rows.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn only_the_calls_of_a_dead_process_become_unknown() {
    let database = TestDatabase::new();
    let living = database.open_as("here", "living", |_| true).await;
    let dying = database.open_as("here", "dying", |_| true).await;
    let (kept, lost, over) = (
        database.call(&Scope::default()),
        database.call(&Scope::default()),
        database.call(&Scope::default()),
    );
    living.begin(begin(&kept)).await.unwrap();
    dying.begin(begin(&lost)).await.unwrap();
    dying.begin(begin(&over)).await.unwrap();
    dying.close(done(&over)).await.unwrap();
    assert_eq!(instances(&database).await, ["dying", "living"]);

    let next = database.open_as("here", "next", |process| process != "dying").await;
    assert_eq!(status(&next, &kept.id).await, CallStatus::Begun);
    assert_eq!(status(&next, &lost.id).await, CallStatus::Unknown);
    assert_eq!(status(&next, &over.id).await, CallStatus::Done);
    assert_eq!(instances(&database).await, ["living"]);

    // It was alive after all: its close is accepted, and its next begin inserts its row again.
    dying.close(done(&lost)).await.unwrap();
    assert_eq!(status(&next, &lost.id).await, CallStatus::Done);
    database.clock.advance(Duration::from_secs(10));
    let back = database.call(&Scope::default());
    dying.begin(begin(&back)).await.unwrap();
    assert_eq!(instances(&database).await, ["dying", "living"]);
}

#[tokio::test(start_paused = true)]
async fn a_process_with_an_open_call_writes_heartbeats() {
    let database = TestDatabase::new();
    let busy = database.open_as("there", "busy", |_| true).await;
    let record = database.call(&Scope::default());
    busy.begin(begin(&record)).await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    for _ in 0..3 {
        database.clock.advance(Duration::from_secs(59));
        let mut written = false;
        let mut seconds = 0..1000;
        while !written && seconds.next().is_some() {
            tokio::time::advance(Duration::from_secs(1)).await;
            let row = sqlx::query("SELECT heartbeat_at FROM instances").fetch_one(&mut connection).await;
            written = row.unwrap().get::<i64, _>(0) == database.clock.now().as_micros();
        }
        assert!(written, "no heartbeat without another call");
    }
    let next = database.open_as("here", "next", |_| false).await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Begun);
}

#[tokio::test]
async fn a_process_that_only_reads_or_closes_has_no_row() {
    let database = TestDatabase::new();
    let store = database.open().await;
    store.calls(&Scope::default(), Default::default()).await.unwrap();
    store.close(done(&database.call(&Scope::default()))).await.unwrap();
    assert_eq!(instances(&database).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_orderly_end_signs_off() {
    let database = TestDatabase::new();
    let store = database.open_as("here", "me", |_| true).await;
    let record = database.call(&Scope::default());
    store.begin(begin(&record)).await.unwrap();
    store.shutdown().await.unwrap();
    assert_eq!(instances(&database).await, Vec::<String>::new());
    let next = database.open().await;
    assert_eq!(status(&next, &record.id).await, CallStatus::Unknown, "no process is left to close it");
}
