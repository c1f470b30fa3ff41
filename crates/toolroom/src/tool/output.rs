//! Results of tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Attachment, Offer};
use crate::policy::Provenance;

/// Whether the content of a result is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Made by the tool from what the caller gave it.
    #[default]
    Trusted,
    /// From an untrusted source: a web page, a mail, a foreign server.
    Untrusted,
}

/// The provenance that a tool's result adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Yields {
    /// That of the tool's capabilities.
    #[default]
    AsCapable,
    /// That of files. An unchanged file that was written in the same conversation adds nothing.
    Files,
    /// That of memories, which store it ([`ToolOutput::provenance`]).
    Memories,
    /// Only what the result states ([`ToolOutput::holding`]): for tools that write, or whose results differ.
    Stated,
}

/// The destination of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// A host, server or provider. `None` if the call may send anywhere: an answer then lifts no later question.
    pub name: Option<String>,
    /// Whether only an address is sent, even if that changes something there.
    pub only_address: bool,
}

impl Destination {
    /// That destination.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), only_address: false }
    }

    /// Any destination: an answer holds for the shown call only.
    #[must_use]
    pub const fn any() -> Self {
        Self { name: None, only_address: false }
    }

    /// One that gets nothing but an address.
    #[must_use]
    pub fn addressed(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), only_address: true }
    }
}

/// A file that was read or written as a whole, identified by a value that changes with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileTrace {
    /// Its content was read.
    Read(String),
    /// Its content was written.
    Wrote(String),
}

/// A tool's result: a JSON value, a sentence if the tool has one to add, and files that the value names.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The result.
    pub value: Value,
    /// A sentence for users.
    pub message: Option<String>,
    /// Files, which become artifacts of the call.
    pub attachments: Vec<Attachment>,
    /// Actions offered to the caller's client.
    pub offers: Vec<Offer>,
    /// The provenance of the result, in addition to the tool's capabilities.
    pub provenance: Provenance,
    /// The file it is about.
    pub file: Option<FileTrace>,
}

impl ToolOutput {
    /// A result.
    #[must_use]
    pub fn new(value: impl Into<Value>) -> Self {
        Self {
            value: value.into(),
            message: None,
            attachments: Vec::new(),
            offers: Vec::new(),
            provenance: Provenance::NONE,
            file: None,
        }
    }

    /// Adds provenance.
    #[must_use]
    pub fn holding(mut self, provenance: Provenance) -> Self {
        self.provenance = self.provenance.and(provenance);
        self
    }

    /// Sets the file the result is about.
    #[must_use]
    pub fn about_file(mut self, file: FileTrace) -> Self {
        self.file = Some(file);
        self
    }

    /// Adds files. The tool names them in the value.
    #[must_use]
    pub fn with_attachments(mut self, attachments: Vec<Attachment>) -> Self {
        self.attachments = attachments;
        self
    }

    /// Adds an action for the caller's client. Its file must be attached.
    #[must_use]
    pub fn offering(mut self, offer: Offer) -> Self {
        self.offers.push(offer);
        self
    }

    /// Adds a sentence for users.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}
