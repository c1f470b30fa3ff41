//! Processes killed in the middle of their work.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use toolroom::ledger::{CallFilter, CallId, CallStatus, Journal};
use toolroom::scope::Scope;

use crate::database::TestDatabase;

/// The path of an example, next to the folder of the test binary.
pub(crate) fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let path = here.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: `cargo build -p toolroom-store --examples`", path.display());
    path
}

/// Killed when the test ends.
pub(crate) struct ChildProcess(pub(crate) Child);

impl Drop for ChildProcess {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[tokio::test]
async fn acknowledged_calls_survive_and_open_ones_are_unknown() {
    let database = TestDatabase::new();
    let crowds: Vec<_> = ["one", "two", "three"]
        .into_iter()
        .map(|process| {
            let mut command = Command::new(example("endless_calls"));
            command.arg(database.path()).arg(process).stdout(Stdio::piped());
            ChildProcess(command.spawn().unwrap())
        })
        .collect();
    let mut open = Vec::new();
    let mut closed = Vec::new();
    for mut crowd in crowds {
        let lines = BufReader::new(crowd.0.stdout.take().unwrap()).lines();
        let mut ids = lines.take(100).map(|line| CallId::new(&line.unwrap()));
        open.extend(ids.next());
        closed.extend(ids);
        crowd.0.kill().unwrap();
        crowd.0.wait().unwrap();
    }
    assert_eq!((open.len(), closed.len()), (3, 297));

    let store = database.open_as("here", "me", |_| false).await;
    let scope = Scope::default();
    for (ids, expected) in [(&open, CallStatus::Unknown), (&closed, CallStatus::Done)] {
        for id in ids {
            let call = store.call(&scope, id).await.unwrap();
            assert_eq!(call.map(|call| call.status), Some(expected), "{id}");
        }
    }
    let begun = CallFilter { status: Some(CallStatus::Begun), ..CallFilter::default() };
    assert_eq!(store.calls(&scope, begun).await.unwrap(), []);
}
