//! A folder with a database, a clock, and rows to write.

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
use toolroom_store::{Inbox, Notice, Presence, Store, Words};

/// When tests begin.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(crate) struct Place {
    folder: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    /// All stores of this place see it.
    told: Option<Arc<Told>>,
}

impl Place {
    pub(crate) fn new() -> Self {
        let clock = Arc::new(ManualClock::at(START));
        Self { folder: tempfile::tempdir().unwrap(), clock, told: Some(Arc::default()) }
    }

    /// One where nobody can be told of changes.
    pub(crate) fn without_notice() -> Self {
        Self { told: None, ..Self::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("toolroom.db")
    }

    /// A store of a process that lives.
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

    /// A store of a process that promises.
    pub(crate) async fn open_with(&self, inbox: Arc<dyn Inbox>) -> Store {
        self.open_like("here", "me", |_| true, Some(inbox)).await
    }

    async fn open_like(
        &self,
        machine: &str,
        process: &str,
        is_alive: impl Fn(&str) -> bool + Send + Sync + 'static,
        inbox: Option<Arc<dyn Inbox>>,
    ) -> Store {
        let presence = Presence {
            machine: machine.to_owned(),
            process: process.to_owned(),
            is_alive: Arc::new(move |process| Some(is_alive(process))),
            notice: self.told.clone().map(|told| told as Arc<dyn Notice>),
            inbox,
        };
        Store::open(&self.path(), presence, self.clock.clone()).await.unwrap()
    }

    /// A call of a pure tool that begins now.
    pub(crate) fn call(&self, scope: &Scope) -> CallRecord {
        call(&*self.clock, scope)
    }
}

/// Counts the changes that were told of.
#[derive(Debug, Default)]
struct Told(AtomicU64);

impl Notice for Told {
    fn read(&self) -> Option<Words> {
        Some(u128::from(self.0.load(Ordering::SeqCst)).to_be_bytes())
    }

    fn change(&self) -> io::Result<()> {
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
