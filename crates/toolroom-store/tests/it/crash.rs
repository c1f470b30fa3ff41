//! Processes killed in the middle of their work.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use toolroom::ledger::{CallFilter, CallId, CallStatus, Journal};
use toolroom::scope::Scope;

use crate::place::Place;

/// Beside the folder of this very program.
pub(crate) fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let path = here.parent().and_then(Path::parent).unwrap().join("examples").join(name);
    assert!(path.exists(), "{} is missing: `cargo build -p toolroom-store --examples`", path.display());
    path
}

/// Ends with the test, whatever its result.
pub(crate) struct Crowd(pub(crate) Child);

impl Drop for Crowd {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[tokio::test]
async fn what_was_answered_survives_and_what_was_not_is_unknown() {
    let place = Place::new();
    let crowds: Vec<_> = ["one", "two", "three"]
        .into_iter()
        .map(|process| {
            let mut command = Command::new(example("crowd"));
            command.arg(place.path()).arg(process).stdout(Stdio::piped());
            Crowd(command.spawn().unwrap())
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

    let store = place.open_as("here", "me", |_| false).await;
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
