//! Copies of a database in use, and how they are looked at.

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

use crate::asking::{decision, parked, sealed};
use crate::memories::fact;
use crate::place::{Place, done};
use crate::threads::begun;

fn beside(place: &Place, name: &str) -> PathBuf {
    place.path().with_file_name(name)
}

fn files(place: &Place) -> Vec<String> {
    let entries = std::fs::read_dir(place.path().parent().unwrap()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A call that ends with a whole result of its own.
fn with_artifact(place: &Place, record: &CallRecord) -> CloseCall {
    let artifact = Artifact {
        id: ArtifactId::fresh(&*place.clock),
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
    let place = Arc::new(Place::new());
    let stores = [place.open().await, place.open().await];
    let over = Arc::new(AtomicBool::new(false));
    let first = Arc::new(tokio::sync::Barrier::new(3));
    let writers: Vec<_> = stores
        .iter()
        .map(|store| {
            let (store, place, over, first) =
                (store.clone(), Arc::clone(&place), Arc::clone(&over), Arc::clone(&first));
            tokio::spawn(async move {
                let mut written = 0_u64;
                while !over.load(Ordering::SeqCst) {
                    let close = with_artifact(&place, &place.call(&Scope::default()));
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
        let copy = beside(&place, &format!("copy {number}.db"));
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
async fn a_copy_tells_what_is_in_it_and_is_a_database_again() {
    let place = Place::new();
    std::fs::write(place.path(), "").unwrap();
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o600)).unwrap();
    let store = place.open().await;
    let scope = Scope::default();
    store.close(with_artifact(&place, &place.call(&scope))).await.unwrap();
    store.set_secret(&scope.project, "s", sealed("s")).await.unwrap();
    let park = parked(&*place.clock, &scope, Answerer::Caller);
    store.park(park.clone()).await.unwrap();
    store.decide(decision(&*place.clock, &park, Answer::No, Answerer::Caller)).await.unwrap();

    begun(&store, &*place.clock, &scope).await;
    store.remember(&scope, fact("k", "v")).await.unwrap();

    // Whatever would mean something in a URI means nothing here.
    let copy = beside(&place, "copy of %41 ?mode=memory&x=#1 søk.db");
    store.copy_to(&copy).await.unwrap();
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let before = files(&place);
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
    assert_eq!(files(&place), before, "a look leaves nothing behind");

    let other = Place::new();
    std::fs::copy(&copy, other.path()).unwrap();
    let restored = other.open().await;
    assert_eq!(restored.health().await.unwrap().journal_mode, "wal");
    assert_eq!(restored.secrets(&ProjectId::default()).await.unwrap()[0].sealed, sealed("s"));
    let (ours, theirs) =
        (store.calls(&scope, CallFilter::default()), restored.calls(&scope, CallFilter::default()));
    assert_eq!(ours.await.unwrap(), theirs.await.unwrap());
    restored.close(done(&other.call(&scope))).await.unwrap_err();
    restored.close(done(&CallRecord { asked_at: park.record.asked_at, ..place.call(&scope) })).await.unwrap();
}

#[tokio::test]
async fn a_copy_never_replaces_a_file() {
    let place = Place::new();
    let store = place.open().await;
    let letter = beside(&place, "letter.txt");
    std::fs::write(&letter, "Dear Sir or Madam").unwrap();
    let exists = store.copy_to(&letter).await.unwrap_err();
    assert!(matches!(&exists, StoreError::Exists { path } if *path == letter), "{exists:?}");
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "Dear Sir or Madam");
    let itself = store.copy_to(&place.path()).await.unwrap_err();
    assert!(matches!(&itself, StoreError::Exists { .. }), "{itself:?}");

    let nowhere = beside(&place, "nowhere").join("copy.db");
    let error = store.copy_to(&nowhere).await.unwrap_err();
    assert!(matches!(&error, StoreError::CannotOpen { path, .. } if *path == nowhere), "{error:?}");

    // A database that is gone is not copied as an empty one.
    std::fs::remove_file(place.path()).unwrap();
    let error = store.copy_to(&beside(&place, "copy.db")).await.unwrap_err();
    assert!(matches!(&error, StoreError::CannotOpen { .. }), "{error:?}");
    std::fs::write(place.path(), "").unwrap();
    let error = store.copy_to(&beside(&place, "copy.db")).await.unwrap_err();
    assert!(matches!(&error, StoreError::NotOurs { .. }), "{error:?}");
    assert!(!files(&place).contains(&"copy.db".to_owned()));
}

async fn copied(place: &Place, store: &Store, name: &str) -> PathBuf {
    let copy = beside(place, name);
    store.copy_to(&copy).await.unwrap();
    copy
}

#[tokio::test]
async fn what_is_no_good_copy_is_told_apart() {
    let place = Place::new();
    let store = place.open().await;
    for _ in 0..200 {
        drop(store.close(with_artifact(&place, &place.call(&Scope::default()))));
    }
    store.close(done(&place.call(&Scope::default()))).await.unwrap();

    let missing = inspect(&beside(&place, "missing.db")).await.unwrap_err();
    assert!(matches!(missing, StoreError::CannotOpen { .. }), "{missing:?}");
    for (name, content) in [("empty.db", ""), ("letter.txt", "Dear Sir or Madam, this is no database. ")] {
        std::fs::write(beside(&place, name), content.repeat(100)).unwrap();
        let error = inspect(&beside(&place, name)).await.unwrap_err();
        assert!(matches!(error, StoreError::NotOurs { .. }), "{name}: {error:?}");
    }

    let newer = copied(&place, &store, "newer.db").await;
    run(&newer, "PRAGMA user_version = 99").await;
    let error = inspect(&newer).await.unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
    let foreign = copied(&place, &store, "foreign.db").await;
    run(&foreign, "PRAGMA application_id = 1").await;
    let error = inspect(&foreign).await.unwrap_err();
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error:?}");

    let orphaned = copied(&place, &store, "orphaned.db").await;
    run(&orphaned, "DELETE FROM calls").await;
    let error = inspect(&orphaned).await.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, StoreError::FailsCheck { .. }), "{error:?}");
    assert!(text.contains("a row of `artifacts` refers to a row of `calls` that is not there"), "{text}");

    let damaged = copied(&place, &store, "damaged.db").await;
    let mut bytes = std::fs::read(&damaged).unwrap();
    let middle = bytes.len() / 8192 * 4096;
    bytes[middle..middle + 4096].fill(0xff);
    std::fs::write(&damaged, bytes).unwrap();
    let error = inspect(&damaged).await.unwrap_err();
    assert!(matches!(error, StoreError::FailsCheck { .. } | StoreError::Damaged(_)), "{error:?}");

    let cut = copied(&place, &store, "cut.db").await;
    let bytes = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let error = inspect(&cut).await.unwrap_err();
    assert!(matches!(error, StoreError::FailsCheck { .. } | StoreError::Damaged(_)), "{error:?}");
}
