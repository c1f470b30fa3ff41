//! Copies of a database in use, and their check.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Executor};
use toolroom::ledger::{
    Answer, Answerer, Artifact, ArtifactId, CallFilter, CallRecord, CloseCall, Journal, Ledger,
};
use toolroom::memory::Memories;
use toolroom::scope::{ProjectId, Scope};
use toolroom_store::{BackupFacts, Store, StoreError, inspect};

use crate::conversations::begun;
use crate::database::{TestDatabase, done};
use crate::memories::fact;
use crate::parked::{decision, parked, sealed};

fn sibling(database: &TestDatabase, name: &str) -> PathBuf {
    database.path().with_file_name(name)
}

fn files(database: &TestDatabase) -> Vec<String> {
    let entries = std::fs::read_dir(database.path().parent().unwrap()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A call that ends with a whole result of its own.
fn with_artifact(database: &TestDatabase, record: &CallRecord) -> CloseCall {
    let artifact = Artifact {
        id: ArtifactId::fresh(&*database.clock),
        call: record.id.clone(),
        scope: record.scope.clone(),
        media_type: Artifact::TEXT.into(),
        bytes: record.id.as_str().to_owned().into(),
        kept_at: record.asked_at,
    };
    CloseCall { artifacts: vec![artifact], ..done(record) }
}

async fn run(path: &Path, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(path).foreign_keys(false);
    let mut connection = options.connect().await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_is_whole_while_others_write() {
    let database = Arc::new(TestDatabase::new());
    let stores = [database.open().await, database.open().await];
    let over = Arc::new(AtomicBool::new(false));
    let first = Arc::new(tokio::sync::Barrier::new(3));
    let writers: Vec<_> = stores
        .iter()
        .map(|store| {
            let (store, database, over, first) =
                (store.clone(), Arc::clone(&database), Arc::clone(&over), Arc::clone(&first));
            tokio::spawn(async move {
                let mut written = 0_u64;
                while !over.load(Ordering::SeqCst) {
                    let close = with_artifact(&database, &database.call(&Scope::default()));
                    store.close(close).await.unwrap();
                    written += 1;
                    if written == 1 {
                        first.wait().await;
                    }
                }
                written
            })
        })
        .collect();
    first.wait().await;
    let mut copies = Vec::new();
    for number in 0..3 {
        let copy = sibling(&database, &format!("copy {number}.db"));
        stores[0].copy_to(&copy).await.unwrap();
        copies.push(copy);
    }
    over.store(true, Ordering::SeqCst);
    let mut written = 0;
    for writer in writers {
        written += writer.await.unwrap();
    }
    let mut before = 2;
    for copy in copies {
        let facts = inspect(&copy).await.unwrap();
        assert!((before..=written).contains(&facts.calls), "{facts:?} of {written}");
        assert_eq!(facts.calls, facts.artifacts, "each call came with its result");
        before = facts.calls;
    }
}

#[tokio::test]
async fn a_copy_reports_its_content_and_can_be_opened() {
    let database = TestDatabase::new();
    std::fs::write(database.path(), "").unwrap();
    std::fs::set_permissions(database.path(), Permissions::from_mode(0o600)).unwrap();
    let store = database.open().await;
    let scope = Scope::default();
    store.close(with_artifact(&database, &database.call(&scope))).await.unwrap();
    store.set_secret(&scope.project, "s", sealed("s")).await.unwrap();
    let park = parked(&*database.clock, &scope, Answerer::Caller);
    store.park(park.clone()).await.unwrap();
    store.decide(decision(&*database.clock, &park, Answer::No, Answerer::Caller)).await.unwrap();

    begun(&store, &*database.clock, &scope).await;
    store.remember(&scope, fact("k", "v")).await.unwrap();

    // Special characters of URIs have no effect.
    let copy = sibling(&database, "copy of %41 ?mode=memory&x=#1 søk.db");
    store.copy_to(&copy).await.unwrap();
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let before = files(&database);
    let facts = BackupFacts {
        schema: 8,
        calls: 2,
        approvals: 1,
        secrets: 1,
        answers: 0,
        artifacts: 1,
        conversations: 1,
        memories: 1,
    };
    assert_eq!(inspect(&copy).await.unwrap(), facts);
    assert_eq!(files(&database), before, "a look leaves nothing behind");

    let other = TestDatabase::new();
    std::fs::copy(&copy, other.path()).unwrap();
    let restored = other.open().await;
    assert_eq!(restored.health().await.unwrap().journal_mode, "wal");
    assert_eq!(restored.secrets(&ProjectId::default()).await.unwrap()[0].sealed, sealed("s"));
    let (ours, theirs) =
        (store.calls(&scope, CallFilter::default()), restored.calls(&scope, CallFilter::default()));
    assert_eq!(ours.await.unwrap(), theirs.await.unwrap());
    restored.close(done(&other.call(&scope))).await.unwrap_err();
    restored
        .close(done(&CallRecord { asked_at: park.record.asked_at, ..database.call(&scope) }))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_copy_never_replaces_a_file() {
    let database = TestDatabase::new();
    let store = database.open().await;
    let letter = sibling(&database, "letter.txt");
    std::fs::write(&letter, "Dear Sir or Madam").unwrap();
    let exists = store.copy_to(&letter).await.unwrap_err();
    assert!(matches!(&exists, StoreError::Exists { path } if *path == letter), "{exists:?}");
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "Dear Sir or Madam");
    let itself = store.copy_to(&database.path()).await.unwrap_err();
    assert!(matches!(&itself, StoreError::Exists { .. }), "{itself:?}");

    let nowhere = sibling(&database, "nowhere").join("copy.db");
    let error = store.copy_to(&nowhere).await.unwrap_err();
    assert!(matches!(&error, StoreError::CannotOpen { path, .. } if *path == nowhere), "{error:?}");

    // A database that is gone is not copied as an empty one.
    std::fs::remove_file(database.path()).unwrap();
    let error = store.copy_to(&sibling(&database, "copy.db")).await.unwrap_err();
    assert!(matches!(&error, StoreError::CannotOpen { .. }), "{error:?}");
    std::fs::write(database.path(), "").unwrap();
    let error = store.copy_to(&sibling(&database, "copy.db")).await.unwrap_err();
    assert!(matches!(&error, StoreError::NotOurs { .. }), "{error:?}");
    assert!(!files(&database).contains(&"copy.db".to_owned()));
}

async fn copied(database: &TestDatabase, store: &Store, name: &str) -> PathBuf {
    let copy = sibling(database, name);
    store.copy_to(&copy).await.unwrap();
    copy
}

#[tokio::test]
async fn bad_copies_are_rejected_with_their_own_errors() {
    let database = TestDatabase::new();
    let store = database.open().await;
    for _ in 0..200 {
        drop(store.close(with_artifact(&database, &database.call(&Scope::default()))));
    }
    store.close(done(&database.call(&Scope::default()))).await.unwrap();

    let missing = inspect(&sibling(&database, "missing.db")).await.unwrap_err();
    assert!(matches!(missing, StoreError::CannotOpen { .. }), "{missing:?}");
    for (name, content) in [("empty.db", ""), ("letter.txt", "Dear Sir or Madam, this is no database. ")] {
        std::fs::write(sibling(&database, name), content.repeat(100)).unwrap();
        let error = inspect(&sibling(&database, name)).await.unwrap_err();
        assert!(matches!(error, StoreError::NotOurs { .. }), "{name}: {error:?}");
    }

    let newer = copied(&database, &store, "newer.db").await;
    run(&newer, "PRAGMA user_version = 99").await;
    let error = inspect(&newer).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
    let foreign = copied(&database, &store, "foreign.db").await;
    run(&foreign, "PRAGMA application_id = 1").await;
    let error = inspect(&foreign).await.unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");

    let orphaned = copied(&database, &store, "orphaned.db").await;
    run(&orphaned, "DELETE FROM calls").await;
    let error = inspect(&orphaned).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, StoreError::FailsCheck { .. }), "{error:?}");
    assert!(text.contains("a row of `artifacts` refers to a row of `calls` that is not there"), "{text}");

    let damaged = copied(&database, &store, "damaged.db").await;
    let mut bytes = std::fs::read(&damaged).unwrap();
    let middle = bytes.len() / 8192 * 4096;
    bytes[middle..middle + 4096].fill(0xff);
    std::fs::write(&damaged, bytes).unwrap();
    let error = inspect(&damaged).await.unwrap_err();
    assert!(matches!(error, StoreError::FailsCheck { .. } | StoreError::Damaged(_)), "{error:?}");

    let cut = copied(&database, &store, "cut.db").await;
    let bytes = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let error = inspect(&cut).await.unwrap_err();
    assert!(matches!(error, StoreError::FailsCheck { .. } | StoreError::Damaged(_)), "{error:?}");
}
