//! What SQLite really says, and what we make of it.

use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor};
use tempfile::TempDir;

use super::StoreError;

struct Database {
    folder: TempDir,
}

impl Database {
    async fn new() -> Self {
        let database = Self { folder: tempfile::tempdir().unwrap() };
        let mut connection = database.connect(|options| options.create_if_missing(true)).await;
        connection.execute("CREATE TABLE t (c TEXT NOT NULL UNIQUE)").await.unwrap();
        database
    }

    async fn connect(&self, set: fn(SqliteConnectOptions) -> SqliteConnectOptions) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.folder.path().join("t.db"));
        set(options).busy_timeout(Duration::ZERO).connect().await.unwrap()
    }

    async fn error(&self, connection: &mut SqliteConnection, sql: &'static str) -> StoreError {
        let error = connection.execute(sql).await.expect_err("it should fail");
        StoreError::at(self.folder.path(), error)
    }
}

#[tokio::test]
async fn trouble_with_the_file_is_told_apart() {
    let database = Database::new().await;
    let mut first = database.connect(|options| options).await;
    let mut second = database.connect(|options| options).await;
    first.execute("BEGIN IMMEDIATE").await.unwrap();
    let locked = database.error(&mut second, "BEGIN IMMEDIATE").await;
    assert!(matches!(locked, StoreError::Locked(_)), "{locked:?}");
    first.execute("COMMIT").await.unwrap();

    let mut reader = database.connect(|options| options.read_only(true)).await;
    let read_only = database.error(&mut reader, "INSERT INTO t VALUES ('a')").await;
    assert!(matches!(read_only, StoreError::ReadOnly(_)), "{read_only:?}");

    first.execute("PRAGMA max_page_count = 1").await.unwrap();
    let full = database.error(&mut first, "INSERT INTO t VALUES (hex(zeroblob(100000)))").await;
    assert!(matches!(full, StoreError::Full { .. }), "{full:?}");

    for trouble in [locked, read_only, full] {
        assert!(!trouble.may_be_one_unit(), "{trouble:?}");
        assert!(!trouble.lost_connection(), "{trouble:?}");
    }
}

#[tokio::test]
async fn trouble_with_a_row_is_told_apart() {
    let database = Database::new().await;
    let mut connection = database.connect(|options| options).await;
    let null = database.error(&mut connection, "INSERT INTO t VALUES (NULL)").await;
    assert!(null.may_be_one_unit() && null.is_final_status(), "{null:?}");
    let twice = database.error(&mut connection, "INSERT INTO t VALUES ('a'), ('a')").await;
    assert!(twice.may_be_one_unit() && !twice.is_final_status(), "{twice:?}");
}

#[test]
fn a_connection_whose_thread_is_gone_is_lost() {
    let crashed = StoreError::at("t.db".as_ref(), sqlx::Error::WorkerCrashed);
    assert!(crashed.lost_connection() && !crashed.may_be_one_unit(), "{crashed:?}");
}
