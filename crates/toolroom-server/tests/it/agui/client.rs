//! A server over a scripted model, and real clients that talk to it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::scripted_model::{Line, ScriptedModel};
use crate::serve::Served;

/// The clients that have to be content.
pub(super) const CLIENTS: [&str; 2] = ["1.0.0", "0.0.59"];

/// A server over a scripted model, and its signed-in users.
pub(super) struct Stage {
    pub(super) served: Served,
    pub(super) model: ScriptedModel,
    cookie: String,
    records: TempDir,
}

impl Stage {
    pub(super) fn new(script: impl IntoIterator<Item = Line>, config: &str) -> Self {
        let (served, model) = Served::over(script, config);
        let cookie = served.cookie();
        Self { served, model, cookie, records: TempDir::new().unwrap() }
    }

    pub(super) fn starts_again(&mut self) {
        self.served.starts_again();
        self.cookie = self.served.cookie();
    }

    /// What a client was told.
    pub(super) fn record(&self) -> PathBuf {
        self.records.path().join("events.jsonl")
    }

    /// A client that plays a scenario.
    pub(super) fn client(&self, scenario: &str, version: &str) -> Command {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agui");
        assert!(
            folder.join("node_modules/@ag-ui/client").is_dir(),
            "the clients are missing: run `make setup`"
        );
        let mut node = Command::new("node");
        let url = self.served.origin();
        node.arg(folder.join("talk.mjs")).args([scenario, version, &url, &self.cookie]);
        node.arg(self.record()).stdin(Stdio::piped()).stdout(Stdio::piped());
        node
    }

    /// Plays a scenario to its end.
    #[track_caller]
    pub(super) fn plays(&self, scenario: &str, version: &str) {
        let ended = self.client(scenario, version).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{scenario} with {version}: {said}");
    }
}
