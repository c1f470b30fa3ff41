//! Runs as they are watched.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::conversation::NumberedEvent;

/// What a watcher of a run is sent.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum StreamedEvent<'a> {
    /// Something that happened.
    Event(&'a NumberedEvent),
    /// What an answer said so far, for somebody who has missed pieces of it.
    Snapshot(SnapshotDocument<'a>),
}

/// The words of an answer so far.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "type", rename = "snapshot")]
#[schemars(rename = "Snapshot")]
pub(crate) struct SnapshotDocument<'a> {
    /// The answer.
    pub(crate) text: &'a str,
    /// The thoughts.
    pub(crate) reasoning: &'a str,
}
