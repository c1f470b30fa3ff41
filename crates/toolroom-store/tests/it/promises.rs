//! Calls that changed nothing are over when their row is promised; what was promised is never lost.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Executor as _};
use toolroom::ledger::{CallFilter, CallRecord, CallStatus, CloseCall, Journal, Ledger, ParkedQuestion};
use toolroom::scope::Scope;
use toolroom::tool::Effect;
use toolroom_store::{Store, StoreError, WriteAheadFile};

use crate::place::{Place, begin, done, with_status};

/// An inbox in memory, and everything that was ever put into it.
#[derive(Debug, Default)]
struct Memory {
    parts: Mutex<[Vec<u8>; 2]>,
    ever: Mutex<Vec<u8>>,
    is_full: Mutex<bool>,
    is_ended: Mutex<bool>,
}

impl WriteAheadFile for Memory {
    fn append(&self, part: usize, line: &[u8]) -> io::Result<()> {
        if *self.is_full.lock().unwrap() {
            self.parts.lock().unwrap()[part].extend_from_slice(&line[..line.len() / 2]);
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.parts.lock().unwrap()[part].extend_from_slice(line);
        self.ever.lock().unwrap().extend_from_slice(line);
        Ok(())
    }

    fn clear(&self, part: usize) -> io::Result<()> {
        self.parts.lock().unwrap()[part].clear();
        Ok(())
    }

    fn close(&self) {
        *self.is_ended.lock().unwrap() = true;
    }
}

impl Memory {
    fn rows_ever(&self) -> usize {
        self.ever.lock().unwrap().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()
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
async fn what_is_promised_is_read_at_once_and_leaves_nothing_behind() {
    let (place, inbox, scope) = (Place::new(), Arc::new(Memory::default()), Scope::default());
    let store = place.open_with(inbox.clone()).await;
    let mut all = Vec::new();
    for _ in 0..20 {
        let record = finish(&store, &place.call(&scope)).await;
        assert_eq!(store.call(&scope, &record.id).await.unwrap().as_ref(), Some(&record));
        all.push(record.id);
    }
    let crowd: Vec<_> = (0..50).map(|_| place.call(&scope)).collect();
    let ends: Vec<_> = crowd.iter().map(|record| store.close(done(record))).collect();
    for end in ends {
        end.await.unwrap();
    }
    let filter = CallFilter { limit: Some(200), ..CallFilter::default() };
    assert_eq!(store.calls(&scope, filter).await.unwrap().len(), 70);
    assert_eq!(inbox.rows_ever(), 70, "each was promised");
    assert!(!*inbox.is_ended.lock().unwrap());
    store.shutdown().await.unwrap();
    assert!(inbox.is_empty());
    assert!(*inbox.is_ended.lock().unwrap(), "also while somebody still holds the store");
    let refused = store.close(done(&place.call(&scope))).await;
    assert!(refused.is_err(), "a closed store promises nothing");
    assert!(inbox.is_empty());
}

#[tokio::test]
async fn only_what_changed_nothing_is_promised() {
    let (place, inbox, scope) = (Place::new(), Arc::new(Memory::default()), Scope::default());
    let store = place.open_with(inbox.clone()).await;
    let with_effect = |effect| CallRecord { effect: Some(effect), ..place.call(&scope) };
    for effect in Effect::ALL {
        finish(&store, &with_effect(effect)).await;
    }
    let of_run =
        CallRecord { run: Some("run_1".into()), model_call: Some("call_1".into()), ..place.call(&scope) };
    finish(&store, &of_run).await;
    let unknown = with_status(&place.call(&scope), CallStatus::Unknown);
    store.close(unknown).await.unwrap();
    assert_eq!(inbox.rows_ever(), 3, "pure, reading, and one nobody knows the end of");
}

#[tokio::test]
async fn without_room_for_promises_the_database_is_waited_for() {
    let (place, inbox, scope) = (Place::new(), Arc::new(Memory::default()), Scope::default());
    let store = place.open_with(inbox.clone()).await;
    *inbox.is_full.lock().unwrap() = true;
    let first = finish(&store, &place.call(&scope)).await;
    let second = finish(&store, &place.call(&scope)).await;
    *inbox.is_full.lock().unwrap() = false;
    let third = finish(&store, &place.call(&scope)).await;
    for record in [first, second, third] {
        assert_eq!(store.call(&scope, &record.id).await.unwrap().as_ref(), Some(&record));
    }
    assert!(inbox.rows_ever() <= 1, "what broke off is emptied before anything is added");
    store.shutdown().await.unwrap();
    assert!(inbox.is_empty());
}

#[tokio::test]
async fn a_locked_database_keeps_nobody_waiting_and_gets_everything_later() {
    let (place, inbox, scope) = (Place::new(), Arc::new(Memory::default()), Scope::default());
    let store = place.open_with(inbox.clone()).await;
    let mut other = SqliteConnectOptions::new().filename(place.path()).connect().await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let mut records = Vec::new();
    for _ in 0..10 {
        records.push(finish(&store, &place.call(&scope)).await);
    }
    assert!(!inbox.is_empty());
    sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    for record in &records {
        assert_eq!(store.call(&scope, &record.id).await.unwrap().as_ref(), Some(record));
    }
}

#[tokio::test]
async fn the_next_process_writes_what_the_last_one_promised() {
    let (place, inbox, scope) = (Place::new(), Arc::new(Memory::default()), Scope::default());
    let dead = place.open_with(inbox.clone()).await;
    let (written, promised, begun) = (place.call(&scope), place.call(&scope), place.call(&scope));
    let ends = [finish(&dead, &written).await, finish(&dead, &promised).await, done(&begun).record];
    dead.shutdown().await.unwrap();
    let promised_lines = inbox.ever.lock().unwrap().clone();

    // Another one, whose database has the first row whole and of the third only the beginning.
    let (place, inbox) = (Place::new(), Arc::new(Memory::default()));
    let store = place.open().await;
    finish(&store, &written).await;
    store.begin(begin(&begun)).await.unwrap();
    let third = place.open_with(inbox.clone()).await;
    third.close(done(&begun)).await.unwrap();
    third.shutdown().await.unwrap();
    let mut lines = promised_lines;
    lines.extend_from_slice(&inbox.ever.lock().unwrap());
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
async fn what_the_database_does_not_take_is_tried_again_whatever_else_happens() {
    let (place, inbox, scope) = (Place::new(), Arc::new(Memory::default()), Scope::default());
    let store = place.open_with(inbox.clone()).await;
    let mut other = SqliteConnectOptions::new().filename(place.path()).connect().await.unwrap();
    other.execute("ALTER TABLE calls RENAME TO hidden").await.unwrap();
    let promised = finish(&store, &place.call(&scope)).await;
    store.begin(begin(&CallRecord { effect: None, ..place.call(&scope) })).await.unwrap_err();
    assert!(!inbox.is_empty(), "it is still there");
    let late = done(&place.call(&scope));
    assert!(store.close(late).await.is_err(), "nothing more is promised");
    other.execute("ALTER TABLE hidden RENAME TO calls").await.unwrap();
    // Somebody comes all the time.
    let written = async {
        loop {
            finish(&store, &place.call(&scope)).await;
            let row = sqlx::query("SELECT 1 FROM calls WHERE id = ?").bind(promised.id.as_str().to_owned());
            if row.fetch_optional(&mut other).await.unwrap().is_some() {
                break;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), written).await.unwrap();
    store.shutdown().await.unwrap();
    assert!(inbox.is_empty());
}

/// What the inbox is not for.
#[tokio::test]
async fn the_end_of_a_question_is_never_promised() {
    let (place, inbox, scope) = (Place::new(), Arc::new(Memory::default()), Scope::default());
    let store = place.open_with(inbox.clone()).await;
    let close = CloseCall { question: ParkedQuestion::Void, ..done(&place.call(&scope)) };
    store.close(close).await.unwrap_err();
    assert_eq!(inbox.rows_ever(), 0);
}
