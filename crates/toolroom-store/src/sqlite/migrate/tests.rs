//! Migration with made-up steps.

use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Executor, Row};

use super::{MIGRATIONS, Migration, migrate};
use crate::StoreError;
use crate::sqlite::connection::{Purpose, connect};

const SECOND: Migration = Migration {
    version: 2,
    adds: "notes",
    text: "ALTER TABLE switches ADD COLUMN note TEXT; PRAGMA user_version = 2",
};
const BROKEN: Migration = Migration {
    version: 2,
    adds: "nothing",
    text: "CREATE TABLE extra (a TEXT) STRICT; INSERT INTO nowhere",
};

async fn run(path: &Path, steps: &[Migration]) -> Result<(), StoreError> {
    let mut connection = connect(path, Purpose::Write).await?;
    migrate(&mut connection, path, steps).await
}

async fn numbers(path: &Path, sql: &'static str) -> Vec<i64> {
    let mut connection: SqliteConnection =
        SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

async fn version(path: &Path) -> Vec<i64> {
    numbers(path, "PRAGMA user_version").await
}

#[expect(clippy::disallowed_methods, reason = "a test looks at what was written")]
fn copies(path: &Path) -> Vec<PathBuf> {
    let numbered = |end| PathBuf::from(format!("{}.before-{end}", path.display()));
    ["1", "2", "2-2", "2-3"].map(numbered).into_iter().filter(|copy| copy.exists()).collect()
}

/// A file as the first version leaves it, with something in it.
async fn first_version(path: &Path) {
    run(path, &MIGRATIONS[..1]).await.unwrap();
    let mut connection = connect(path, Purpose::Write).await.unwrap();
    connection.execute("UPDATE revisions SET value = 7").await.unwrap();
}

#[tokio::test]
async fn a_new_file_is_made_without_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    run(&path, &[MIGRATIONS[0], SECOND]).await.unwrap();
    assert_eq!(version(&path).await, [2]);
    assert_eq!(copies(&path), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn an_older_file_is_copied_then_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    first_version(&path).await;
    run(&path, &[MIGRATIONS[0], SECOND]).await.unwrap();
    assert_eq!(version(&path).await, [2]);
    let copies = copies(&path);
    assert_eq!(copies, [folder.path().join("t.db.before-2")]);
    assert_eq!(version(&copies[0]).await, [1]);
    assert_eq!(numbers(&copies[0], "SELECT value FROM revisions").await, [7]);
    assert_eq!(numbers(&path, "SELECT value FROM revisions").await, [7]);
}

#[tokio::test]
async fn a_step_that_fails_changes_nothing_and_copies_are_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    first_version(&path).await;
    for tries in 1..=2 {
        assert!(run(&path, &[MIGRATIONS[0], BROKEN]).await.is_err());
        assert_eq!(version(&path).await, [1]);
        assert_eq!(numbers(&path, "SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").await, [0]);
        assert_eq!(copies(&path).len(), tries);
    }
    run(&path, &[MIGRATIONS[0], SECOND]).await.unwrap();
    assert_eq!((version(&path).await, copies(&path).len()), (vec![2], 3));
}

#[tokio::test]
async fn several_at_once_migrate_and_copy_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    first_version(&path).await;
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            tokio::spawn(async move { run(&path, &[MIGRATIONS[0], SECOND]).await })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!((version(&path).await, copies(&path).len()), (vec![2], 1));
}

#[test]
fn each_step_sets_its_number() {
    for (number, step) in (1..).zip(MIGRATIONS) {
        assert_eq!(step.version, number);
        assert!(step.text.contains(&format!("PRAGMA user_version = {number};")));
    }
}
