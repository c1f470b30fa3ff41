//! Rows of calls without side effects are acknowledged once they are in the write-ahead file, and never lost.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor as _};
use toolroom::ledger::{CallFilter, CallRecord, CallStatus, CloseCall, Journal, Ledger, ParkedQuestion};
use toolroom::scope::Scope;
use toolroom::tool::Effect;
use toolroom_store::{Store, StoreError, WriteAheadFile};

use crate::database::{TestDatabase, begin, done, with_status};

/// A write-ahead file in memory, with a log of everything that was appended.
#[derive(Debug, Default)]
struct MemoryFile {
    parts: Mutex<[Vec<u8>; 2]>,
    log: Mutex<Vec<u8>>,
    is_full: Mutex<bool>,
    is_closed: Mutex<bool>,
}

impl WriteAheadFile for MemoryFile {
    fn append(&self, part: usize, line: &[u8]) -> io::Result<()> {
        if *self.is_full.lock().unwrap() {
            self.parts.lock().unwrap()[part].extend_from_slice(&line[..line.len() / 2]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.parts.lock().unwrap()[part].extend_from_slice(line);
        self.log.lock().unwrap().extend_from_slice(line);
        Ok(())
    }

    fn clear(&self, part: usize) -> io::Result<()> {
        self.parts.lock().unwrap()[part].clear();
        Ok(())
    }

    fn close(&self) {
        *self.is_closed.lock().unwrap() = true;
    }
}

impl MemoryFile {
    fn appended_rows(&self) -> usize {
        self.log.lock().unwrap().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()
    }

    fn is_empty(&self) -> bool {
        self.parts.lock().unwrap().iter().all(Vec::is_empty)
    }
}

async fn finish(store: &Store, record: &CallRecord) -> CallRecord {
    drop(store.begin(begin(record)));
    let close = done(record);
    store.close(close.clone()).await.unwrap();
    close.record
}

#[tokio::test]
async fn appended_rows_are_read_at_once_and_the_file_ends_empty() {
    let (database, file, scope) = (TestDatabase::new(), Arc::new(MemoryFile::default()), Scope::default());
    let store = database.open_with(file.clone()).await;
    let mut all = Vec::new();
    for _ in 0..20 {
        let record = finish(&store, &database.call(&scope)).await;
        assert_eq!(store.call(&scope, &record.id).await.unwrap().as_ref(), Some(&record));
        all.push(record.id);
    }
    let crowd: Vec<_> = (0..50).map(|_| database.call(&scope)).collect();
    let ends: Vec<_> = crowd.iter().map(|record| store.close(done(record))).collect();
    for end in ends {
        end.await.unwrap();
    }
    let filter = CallFilter { limit: Some(200), ..CallFilter::default() };
    assert_eq!(store.calls(&scope, filter).await.unwrap().len(), 70);
    assert_eq!(file.appended_rows(), 70, "each was appended");
    assert!(!*file.is_closed.lock().unwrap());
    store.shutdown().await.unwrap();
    assert!(file.is_empty());
    assert!(*file.is_closed.lock().unwrap(), "also while a handle of the store exists");
    let refused = store.close(done(&database.call(&scope))).await;
    assert!(refused.is_err(), "a closed store appends nothing");
    assert!(file.is_empty());
}

#[tokio::test]
async fn only_calls_without_side_effects_are_appended() {
    let (database, file, scope) = (TestDatabase::new(), Arc::new(MemoryFile::default()), Scope::default());
    let store = database.open_with(file.clone()).await;
    let with_effect = |effect| CallRecord { effect: Some(effect), ..database.call(&scope) };
    for effect in Effect::ALL {
        finish(&store, &with_effect(effect)).await;
    }
    let of_run =
        CallRecord { run: Some("run_1".into()), model_call: Some("call_1".into()), ..database.call(&scope) };
    finish(&store, &of_run).await;
    let unknown = with_status(&database.call(&scope), CallStatus::Unknown);
    store.close(unknown).await.unwrap();
    assert_eq!(file.appended_rows(), 3, "pure, reading, and one whose end is unknown");
}

#[tokio::test]
async fn a_full_file_makes_calls_wait_for_the_database() {
    let (database, file, scope) = (TestDatabase::new(), Arc::new(MemoryFile::default()), Scope::default());
    let store = database.open_with(file.clone()).await;
    *file.is_full.lock().unwrap() = true;
    let first = finish(&store, &database.call(&scope)).await;
    let second = finish(&store, &database.call(&scope)).await;
    *file.is_full.lock().unwrap() = false;
    let third = finish(&store, &database.call(&scope)).await;
    for record in [first, second, third] {
        assert_eq!(store.call(&scope, &record.id).await.unwrap().as_ref(), Some(&record));
    }
    assert!(file.appended_rows() <= 1, "a torn part is truncated before it is used again");
    store.shutdown().await.unwrap();
    assert!(file.is_empty());
}

#[tokio::test]
async fn a_locked_database_delays_no_call_and_gets_every_row_later() {
    let (database, file, scope) = (TestDatabase::new(), Arc::new(MemoryFile::default()), Scope::default());
    let store = database.open_with(file.clone()).await;
    let mut other = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let mut records = Vec::new();
    for _ in 0..10 {
        records.push(finish(&store, &database.call(&scope)).await);
    }
    assert!(!file.is_empty());
    sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    for record in &records {
        assert_eq!(store.call(&scope, &record.id).await.unwrap().as_ref(), Some(record));
    }
}

#[tokio::test]
async fn the_next_process_replays_the_file_of_a_dead_one() {
    let (database, file, scope) = (TestDatabase::new(), Arc::new(MemoryFile::default()), Scope::default());
    let dead = database.open_with(file.clone()).await;
    let (written, appended, begun) = (database.call(&scope), database.call(&scope), database.call(&scope));
    let ends = [finish(&dead, &written).await, finish(&dead, &appended).await, done(&begun).record];
    dead.shutdown().await.unwrap();
    let appended_lines = file.log.lock().unwrap().clone();

    // Another database, with the first row complete and the third one begun.
    let (database, file) = (TestDatabase::new(), Arc::new(MemoryFile::default()));
    let store = database.open().await;
    finish(&store, &written).await;
    store.begin(begin(&begun)).await.unwrap();
    let third = database.open_with(file.clone()).await;
    third.close(done(&begun)).await.unwrap();
    third.shutdown().await.unwrap();
    let mut lines = appended_lines;
    lines.extend_from_slice(&file.log.lock().unwrap());
    lines.extend_from_slice(b"1 [1,2]\n1 {}\n2 [1,2] 1\n2 [\"broken off");
    for _ in 0..2 {
        store.replay(&lines).await.unwrap();
        for record in &ends {
            assert_eq!(store.call(&scope, &record.id).await.unwrap().as_ref(), Some(record));
        }
        let filter = CallFilter { limit: Some(200), ..CallFilter::default() };
        assert_eq!(store.calls(&scope, filter).await.unwrap().len(), 3);
    }
    store.replay(b"").await.unwrap();
    let newer = store.replay(b"3 [\"something\"]\n").await;
    assert!(matches!(newer, Err(StoreError::Unreadable { .. })), "{newer:?}");
}

#[tokio::test]
async fn rows_that_could_not_be_committed_are_retried_under_load() {
    let (database, file, scope) = (TestDatabase::new(), Arc::new(MemoryFile::default()), Scope::default());
    let store = database.open_with(file.clone()).await;
    let mut other = SqliteConnectOptions::new().filename(database.path()).connect().await.unwrap();
    other.execute("ALTER TABLE calls RENAME TO hidden").await.unwrap();
    let appended = finish(&store, &database.call(&scope)).await;
    store.begin(begin(&CallRecord { effect: None, ..database.call(&scope) })).await.unwrap_err();
    assert!(!file.is_empty(), "the row is still in the file");
    let late = done(&database.call(&scope));
    assert!(store.close(late).await.is_err(), "backpressure: nothing is appended");
    other.execute("ALTER TABLE hidden RENAME TO calls").await.unwrap();
    // The queue is never idle.
    let written = async {
        loop {
            finish(&store, &database.call(&scope)).await;
            let row = sqlx::query("SELECT 1 FROM calls WHERE id = ?").bind(appended.id.as_str().to_owned());
            if row.fetch_optional(&mut other).await.unwrap().is_some() {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), written).await.unwrap();
    store.shutdown().await.unwrap();
    assert!(file.is_empty());
}

#[tokio::test]
async fn the_end_of_a_question_is_never_appended() {
    let (database, file, scope) = (TestDatabase::new(), Arc::new(MemoryFile::default()), Scope::default());
    let store = database.open_with(file.clone()).await;
    let close = CloseCall { question: ParkedQuestion::Void, ..done(&database.call(&scope)) };
    store.close(close).await.unwrap_err();
    assert_eq!(file.appended_rows(), 0);
}
