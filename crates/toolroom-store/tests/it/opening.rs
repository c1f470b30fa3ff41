//! Opening new, damaged and foreign files.

use std::path::Path;
use std::sync::Arc;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use toolroom::clock::SystemClock;
use toolroom::ledger::{CallFilter, Journal, Ledger};
use toolroom::scope::Scope;
use toolroom_store::{ProcessIdentity, Store, StoreError, StoreOptions};

use crate::database::{TestDatabase, begin};

async fn open(path: &Path) -> Result<Store, StoreError> {
    let identity = ProcessIdentity {
        machine: "here".to_owned(),
        process: "me".to_owned(),
        probe: Arc::new(|_| Some(true)),
    };
    Store::open(path, StoreOptions::new(identity), Arc::new(SystemClock)).await
}

async fn refusal(path: &Path) -> StoreError {
    open(path).await.map(drop).expect_err("it should not open")
}

async fn run(path: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_opened_says_why() {
    let database = TestDatabase::new();
    let folder_missing = database.path().with_file_name("nowhere").join("toolroom.db");
    let error = refusal(&folder_missing).await;
    assert!(matches!(error, StoreError::CannotOpen { .. }), "{error:?}");
    assert!(error.to_string().contains("its folder has to exist"), "{error}");

    let text = database.path().with_file_name("letter.txt");
    std::fs::write(&text, "Dear Sir or Madam, this is a letter and not a database. ".repeat(100)).unwrap();
    let error = refusal(&text).await;
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");

    let foreign = database.path().with_file_name("foreign.db");
    run(&foreign, "CREATE TABLE recipes (name TEXT)").await;
    let error = refusal(&foreign).await;
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");

    let numbered = database.path().with_file_name("numbered.db");
    run(&numbered, "CREATE TABLE recipes (name TEXT); PRAGMA user_version = 1").await;
    let error = refusal(&numbered).await;
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");
}

#[tokio::test]
async fn a_newer_database_is_refused_and_left_alone() {
    let database = TestDatabase::new();
    database.open().await.shutdown().await.unwrap();
    run(&database.path(), "PRAGMA user_version = 99").await;
    let before = std::fs::read(database.path()).unwrap();
    let error = refusal(&database.path()).await;
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
    assert_eq!(std::fs::read(database.path()).unwrap(), before);
}

#[tokio::test]
async fn many_first_starts_at_once_make_one_database() {
    let database = TestDatabase::new();
    let path = database.path();
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let path = path.clone();
            tokio::spawn(async move { open(&path).await.unwrap().status().await.unwrap() })
        })
        .collect();
    for start in starts {
        let status = start.await.unwrap();
        assert_eq!((status.path.as_path(), status.schema), (path.as_path(), 8));
        assert!(status.bytes > 0 && status.sqlite.starts_with("3."), "{status:?}");
    }
}

#[tokio::test]
async fn a_closed_store_says_so_and_has_kept_everything() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let scope = Scope::default();
    let queued: Vec<_> = (0..100).map(|_| store.begin(begin(&database.call(&scope)))).collect();
    let clone = store.clone();
    store.shutdown().await.unwrap();
    for answer in queued {
        answer.await.unwrap();
    }
    let late = clone.begin(begin(&database.call(&scope))).await.unwrap_err();
    assert!(format!("{late:?}").contains("Closed"), "{late:?}");
    assert!(clone.calls(&scope, CallFilter::default()).await.is_err());
    let copy = clone.copy_to(&database.path().with_file_name("copy.db")).await;
    assert!(matches!(copy, Err(StoreError::Closed)), "{copy:?}");
    let health = clone.health().await;
    assert!(matches!(health, Err(StoreError::Closed)), "{health:?}");
    clone.shutdown().await.unwrap();
    let files: Vec<_> = std::fs::read_dir(database.path().parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files, ["toolroom.db"], "the last one out leaves one whole file");

    let store = database.open().await;
    assert_eq!(store.calls(&scope, CallFilter::default()).await.unwrap().len(), 100);
}

#[tokio::test]
async fn what_was_queued_is_written_when_the_last_handle_goes() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let record = database.call(&Scope::default());
    let answer = store.begin(begin(&record));
    drop(store);
    answer.await.unwrap();
    assert!(database.open().await.call(&Scope::default(), &record.id).await.unwrap().is_some());
}
