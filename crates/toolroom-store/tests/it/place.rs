//! A folder with a database, a clock, and rows to write.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::{BeginCall, CallId, CallRecord, CallStatus, CloseCall, LedgerError, ParkedQuestion};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;
use toolroom::tool::Effect;
use toolroom_store::{Presence, Store};

/// When tests begin.
pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

pub(crate) struct Place {
    folder: TempDir,
    pub(crate) clock: Arc<ManualClock>,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), clock: Arc::new(ManualClock::at(START)) }
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
        let presence = Presence {
            machine: machine.to_owned(),
            process: process.to_owned(),
            is_alive: Arc::new(move |process| Some(is_alive(process))),
        };
        Store::open(&self.path(), presence, self.clock.clone()).await.unwrap()
    }

    /// A call of a pure tool that begins now.
    pub(crate) fn call(&self, scope: &Scope) -> CallRecord {
        call(&*self.clock, scope)
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
    CloseCall { record, artifact: None, enqueue: Vec::new(), question: ParkedQuestion::None }
}

pub(crate) fn why(error: &LedgerError) -> String {
    let source = std::error::Error::source(error).expect("a ledger error has a cause");
    source.to_string()
}

pub(crate) fn with_status(record: &CallRecord, status: CallStatus) -> CloseCall {
    CloseCall { record: CallRecord { status, ..done(record).record }, ..done(record) }
}
