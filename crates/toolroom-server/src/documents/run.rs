//! Runs as they are watched.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::conversation::NumberedEvent;

/// What a watcher of a run is sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StreamedEvent {
    /// Something that happened.
    Event(NumberedEvent),
    /// What an answer said so far, for somebody who has missed pieces of it.
    Snapshot(SnapshotDocument),
}

/// The words of an answer so far.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "snapshot")]
#[schemars(rename = "Snapshot")]
pub(crate) struct SnapshotDocument {
    /// The answer.
    pub(crate) text: String,
    /// The thoughts.
    pub(crate) reasoning: String,
}
