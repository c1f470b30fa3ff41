//! Writes calls until it is killed: `endless_calls <database> <process>`. Prints the id of each call once its close is
//! committed. The crash test runs several of these on one file.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use toolroom::clock::{Clock, SystemClock};
use toolroom::ledger::{BeginCall, CallId, CallRecord, CallStatus, CloseCall, Ledger, ParkedQuestion};
use toolroom::scope::Scope;
use toolroom::tool::Effect;
use toolroom_store::{ProcessIdentity, Store, StoreOptions};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::disallowed_methods, reason = "an example reads its arguments")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("usage: endless_calls <database> <process>")?);
    let process = arguments.next().ok_or("usage: endless_calls <database> <process>")?;
    let identity = ProcessIdentity { machine: "here".to_owned(), process, probe: Arc::new(|_| Some(true)) };
    let store = Store::open(&path, StoreOptions::new(identity), Arc::new(SystemClock)).await?;
    let mut out = std::io::stdout().lock();
    // A call that stays open, which recovery has to mark as unknown.
    let left_open = record();
    store.begin(BeginCall { record: left_open.clone(), rates: Vec::new(), grant: None }).await?;
    writeln!(out, "{}", left_open.id)?;
    loop {
        let record = record();
        drop(store.begin(BeginCall { record: record.clone(), rates: Vec::new(), grant: None }));
        let record = CallRecord { status: CallStatus::Done, ended_at: record.begun_at, ..record };
        let id = record.id.clone();
        let question = ParkedQuestion::None;
        store.close(CloseCall { record, artifacts: Vec::new(), enqueue: Vec::new(), question }).await?;
        writeln!(out, "{id}")?;
    }
}

fn record() -> CallRecord {
    let now = SystemClock.now();
    CallRecord {
        effect: Some(Effect::Pure),
        status: CallStatus::Begun,
        begun_at: Some(now),
        ..CallRecord::arrived(CallId::fresh(&SystemClock), Scope::default(), "example:calls", now)
    }
}
