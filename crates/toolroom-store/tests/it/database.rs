//! A folder with a database, a clock, and records to write.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use tempfile::TempDir;
use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::{BeginCall, CallId, CallRecord, CallStatus, CloseCall, LedgerError, ParkedQuestion};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;
use toolroom::tool::Effect;
use toolroom_store::{ChangeCounter, ProcessIdentity, Revision, Store, StoreOptions, WriteAheadFile};

/// The time at which tests begin.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(crate) struct TestDatabase {
    folder: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    /// Shared by all stores of this database.
    change_counter: Option<Arc<MemoryCounter>>,
}

impl TestDatabase {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::at(START));
        Self { folder: tempfile::tempdir().unwrap(), clock, change_counter: Some(Arc::default()) }
    }

    pub(crate) fn without_change_counter() -> Self {
        Self { change_counter: None, ..Self::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("toolroom.db")
    }

    /// A store of a living process.
    pub(crate) async fn open(&self) -> Store {
        self.open_as("here", "me", |_| true).await
    }

    pub(crate) async fn open_as(
        &self,
        machine: &str,
        process: &str,
        is_alive: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Store {
        self.open_like(machine, process, is_alive, None).await
    }

    /// A store with a write-ahead file.
    pub(crate) async fn open_with(&self, file: Arc<dyn WriteAheadFile>) -> Store {
        self.open_like("here", "me", |_| true, Some(file)).await
    }

    async fn open_like(
        &self,
        machine: &str,
        process: &str,
        is_alive: impl Fn(&str) -> bool + Send + Sync + 'static,
        write_ahead: Option<Arc<dyn WriteAheadFile>>,
    ) -> Store {
        let process = ProcessIdentity {
            machine: machine.to_owned(),
            process: process.to_owned(),
            probe: Arc::new(move |process| Some(is_alive(process))),
        };
        let change_counter = self.change_counter.clone().map(|counter| counter as Arc<dyn ChangeCounter>);
        let options = StoreOptions { process, change_counter, write_ahead };
        Store::open(&self.path(), options, self.clock.clone()).await.unwrap()
    }

    /// A call of a pure tool that begins now.
    pub(crate) fn call(&self, scope: &Scope) -> CallRecord {
        call(&*self.clock, scope)
    }
}

#[derive(Debug, Default)]
struct MemoryCounter(AtomicU64);

impl ChangeCounter for MemoryCounter {
    fn read(&self) -> Option<Revision> {
        Some(u128::from(self.0.load(Ordering::SeqCst)).to_be_bytes())
    }

    fn bump(&self) -> io::Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

pub(crate) fn call(clock: &dyn Clock, scope: &Scope) -> CallRecord {
    CallRecord {
        definition: Some("d".into()),
        effect: Some(Effect::Pure),
        status: CallStatus::Begun,
        arguments: json!({"expression": "2 + 3"}).into(),
        arguments_bytes: 22,
        begun_at: Some(clock.now()),
        ..CallRecord::arrived(CallId::fresh(clock), scope.clone(), "builtin:calculator", clock.now())
    }
}

pub(crate) fn begin(record: &CallRecord) -> BeginCall {
    BeginCall { record: record.clone(), rates: Vec::new(), grant: None }
}

/// The end of a call, as it is written when all went well.
pub(crate) fn done(record: &CallRecord) -> CloseCall {
    let record = CallRecord {
        status: CallStatus::Done,
        result: Some(json!({"value": 5}).into()),
        result_chars: 11,
        ended_at: record.begun_at,
        duration_us: 25,
        ..record.clone()
    };
    CloseCall { record, artifacts: Vec::new(), enqueue: Vec::new(), question: ParkedQuestion::None }
}

pub(crate) fn why(error: &LedgerError) -> String {
    let source = std::error::Error::source(error).expect("a ledger error has a cause");
    source.to_string()
}

pub(crate) fn with_status(record: &CallRecord, status: CallStatus) -> CloseCall {
    CloseCall { record: CallRecord { status, ..done(record).record }, ..done(record) }
}
