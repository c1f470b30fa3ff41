//! Health of a database.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Row};
use toolroom::clock::Clock;
use toolroom::ledger::{Answer, Answerer, CallStatus, Ledger};
use toolroom::scope::Scope;
use toolroom_store::{InstanceStatus, ProcessIdentity, Store, StoreError, StoreOptions};

use crate::database::{START, TestDatabase, begin, done, with_status};
use crate::parked::{LIFETIME, decision, parked};

#[tokio::test]
async fn a_sound_database_says_so() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let health = store.health().await.unwrap();
    assert_eq!(store.damage().await.unwrap(), Vec::<String>::new());
    assert_eq!((health.journal_mode.as_str(), health.schema), ("wal", 8));
    assert_eq!((health.sync_pure, health.sync_writes), ("NORMAL", "FULL"));
    assert!(health.bytes > 0 && health.bytes % 4096 == 0 && health.sqlite.starts_with("3."), "{health:?}");
    assert_eq!((health.open_questions, health.overdue), (0, 0));
    assert_eq!(store.count_calls().await.unwrap(), []);
    assert_eq!((health.instances, health.newest_at), (Vec::new(), None));
    store.try_lock().await.unwrap();

    let log = database.path().with_file_name("toolroom.db-wal");
    store.close(done(&database.call(&Scope::default()))).await.unwrap();
    let wal_bytes = store.health().await.unwrap().wal_bytes;
    assert!(wal_bytes > 4096 && wal_bytes <= log.metadata().unwrap().len(), "{wal_bytes}");
    assert_eq!(store.health().await.unwrap().wal_bytes, wal_bytes, "health moves no pages");
}

#[tokio::test]
async fn calls_and_questions_are_counted() {
    let database = TestDatabase::new();
    let (clock, store) = (&*database.clock, database.open().await);
    for project in ["p", "q"] {
        let scope = Scope::project(project);
        store.close(done(&database.call(&scope))).await.unwrap();
        store.close(with_status(&database.call(&scope), CallStatus::Unknown)).await.unwrap();
        for answer in [None, Some(Answer::Once), Some(Answer::No)] {
            let park = parked(clock, &scope, Answerer::Caller);
            store.park(park.clone()).await.unwrap();
            if let Some(answer) = answer {
                store.decide(decision(clock, &park, answer, Answerer::Caller)).await.unwrap();
            }
        }
    }
    clock.advance(Duration::from_secs(1));
    let newest = clock.now();
    store.park(parked(clock, &Scope::default(), Answerer::Operator)).await.unwrap();
    let health = store.health().await.unwrap();
    assert_eq!(health.newest_at, Some(newest));
    let (done, denied, pending) = (CallStatus::Done, CallStatus::Denied, CallStatus::Pending);
    let counted = store.count_calls().await.unwrap();
    assert_eq!(counted, [(done, 2), (denied, 2), (pending, 5), (CallStatus::Unknown, 2)]);
    assert_eq!((health.open_questions, health.overdue), (5, 0));
    clock.advance(LIFETIME - Duration::from_secs(1));
    let health = store.health().await.unwrap();
    assert_eq!((health.open_questions, health.overdue), (1, 4));
    let health = database.open().await.health().await.unwrap();
    assert_eq!((health.open_questions, health.overdue), (1, 0), "the next start closes them");
}

#[tokio::test]
async fn processes_are_shown_as_far_as_they_can_be_seen() {
    let database = TestDatabase::new();
    let mut stores = Vec::new();
    for (machine, process) in [("here", "a living one"), ("here", "dead"), ("there", "far"), ("here", "us")] {
        let store = database.open_as(machine, process, |process| process != "dead").await;
        store.begin(begin(&database.call(&Scope::default()))).await.unwrap();
        stores.push(store);
        // The dead process counts as dead only for later ones.
        if process == "dead" {
            database.clock.advance(Duration::from_secs(1));
        }
    }
    let mut seen = stores[3].health().await.unwrap().instances;
    seen.sort_by(|one, other| one.process.cmp(&other.process));
    let later = database.clock.now();
    let instance = |machine: &str, process: &str, heartbeat_at, is_this, is_alive| InstanceStatus {
        machine: machine.to_owned(),
        process: process.to_owned(),
        heartbeat_at,
        is_this,
        is_alive,
    };
    // The last process that started on the same machine has recovered the dead one.
    let expected = [
        instance("here", "a living one", START, false, Some(true)),
        instance("there", "far", later, false, None),
        instance("here", "us", later, true, Some(true)),
    ];
    assert_eq!(seen, expected);
    // The process on the other machine cannot probe this one.
    let mut seen = stores[2].health().await.unwrap().instances;
    seen.sort_by(|one, other| one.process.cmp(&other.process));
    assert_eq!(
        seen.iter().map(|seen| (seen.is_this, seen.is_alive)).collect::<Vec<_>>(),
        [(false, None), (true, Some(true)), (false, None)]
    );
}

#[tokio::test]
async fn damage_is_found_and_told_in_few_lines() {
    let database = TestDatabase::new();
    database.open().await.shutdown().await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    let page = sqlx::query("SELECT rootpage FROM sqlite_schema WHERE name = 'artifact_bytes'");
    let page: i64 = page.fetch_one(&mut connection).await.unwrap().get(0);
    drop(connection);
    let file = std::fs::OpenOptions::new().write(true).open(database.path()).unwrap();
    file.write_all_at(&[0xff; 4096], u64::try_from(page - 1).unwrap() * 4096).unwrap();
    let store = database.open().await;
    let damage = store.damage().await.unwrap();
    assert!((1..=20).contains(&damage.len()), "{damage:?}");
    assert_eq!(store.health().await.unwrap().journal_mode, "wal", "the rest is told all the same");
}

#[tokio::test]
async fn a_held_lock_is_told_and_reading_goes_on() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let mut holder = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut holder).await.unwrap();
    let locked = store.try_lock().await;
    assert!(matches!(locked, Err(StoreError::Locked(_))), "{locked:?}");
    store.health().await.unwrap();
    sqlx::query("ROLLBACK").execute(&mut holder).await.unwrap();
    store.try_lock().await.unwrap();
}

#[tokio::test]
async fn a_read_only_store_changes_and_expires_nothing() {
    let database = TestDatabase::new();
    let open_read_only = || async {
        let identity = ProcessIdentity {
            machine: "here".to_owned(),
            process: "a reader".to_owned(),
            probe: Arc::new(|_| Some(false)),
        };
        Store::open_read_only(&database.path(), StoreOptions::new(identity), database.clock.clone()).await
    };
    let absent = open_read_only().await;
    assert!(matches!(absent, Err(StoreError::CannotOpen { .. })), "{absent:?}");
    assert!(!database.path().exists());
    std::fs::write(database.path(), "").unwrap();
    let empty = open_read_only().await;
    assert!(matches!(empty, Err(StoreError::Older { found: 0, known: 8, .. })), "{empty:?}");

    let store = database.open().await;
    store.begin(begin(&database.call(&Scope::default()))).await.unwrap();
    store.park(parked(&*database.clock, &Scope::default(), Answerer::Operator)).await.unwrap();
    database.clock.advance(LIFETIME);
    // A read-only store reports the dead process and the overdue question, and changes neither.
    let read_only = open_read_only().await.unwrap();
    for _ in 0..2 {
        let health = read_only.health().await.unwrap();
        let counted = read_only.count_calls().await.unwrap();
        assert_eq!(counted, [(CallStatus::Begun, 1), (CallStatus::Pending, 1)]);
        assert_eq!((health.overdue, health.instances.len()), (1, 1));
        assert_eq!(health.instances[0].is_alive, Some(false));
    }
    let refused = read_only.close(done(&database.call(&Scope::default()))).await.unwrap_err();
    assert!(format!("{refused:?}").contains("Closed"), "{refused:?}");
    read_only.shutdown().await.unwrap();
    store.shutdown().await.unwrap();

    let mut connection = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    sqlx::query("PRAGMA user_version = 1").execute(&mut connection).await.unwrap();
    drop(connection);
    let older = open_read_only().await;
    assert!(matches!(older, Err(StoreError::Older { found: 1, known: 8, .. })), "{older:?}");
}
