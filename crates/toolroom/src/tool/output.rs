//! What a tool gives back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Attachment, Offer};
use crate::policy::Provenance;

/// Whether the content of a result may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Made by the tool from what the caller gave it.
    #[default]
    Trusted,
    /// Written by somebody else: a web page, a mail, a foreign server.
    Untrusted,
}

/// Which provenance a tool's result adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Yields {
    /// By what the tool is able to do.
    #[default]
    AsCapable,
    /// The contents of files. One that was written in the same conversation, and is unchanged, holds nothing new.
    Files,
    /// Memories; each says under what it was stored ([`ToolOutput::provenance`]).
    Memories,
    /// What the result itself says ([`ToolOutput::holding`]), and nothing else: tools that write, or whose results differ.
    Stated,
}

/// Where a call sends something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    /// A host, a server, or a provider. `None` if the call may send to any: an answer then lifts no later question.
    pub name: Option<String>,
    /// Whether nothing is sent but an address, although something may change there.
    pub only_address: bool,
}

impl Destination {
    /// That destination.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), only_address: false }
    }

    /// Any destination: only the call that was shown is answered for.
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

/// A file that was read or written whole, named by something that changes with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileTrace {
    /// Its content was read.
    Read(String),
    /// Its content is what the call brought.
    Wrote(String),
}

/// A tool's result: a JSON value, a sentence if the tool has one to add, and files that the value names.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolOutput {
    /// The result.
    pub value: Value,
    /// A sentence for people, beside the result.
    pub message: Option<String>,
    /// Files beside the result, which become artifacts of the call.
    pub attachments: Vec<Attachment>,
    /// What the client of the caller is asked to do.
    pub offers: Vec<Offer>,
    /// What the result holds, beside what the tool is able to do.
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

    /// A result that holds what was read under this.
    #[must_use]
    pub fn holding(mut self, provenance: Provenance) -> Self {
        self.provenance = self.provenance.and(provenance);
        self
    }

    /// A result about a file.
    #[must_use]
    pub fn about_file(mut self, file: FileTrace) -> Self {
        self.file = Some(file);
        self
    }

    /// A result with these files beside it. What names them in the value is up to the tool.
    #[must_use]
    pub fn with_attachments(mut self, attachments: Vec<Attachment>) -> Self {
        self.attachments = attachments;
        self
    }

    /// A result that comes with something for the client of the caller to do. A file it is about has to be attached.
    #[must_use]
    pub fn offering(mut self, offer: Offer) -> Self {
        self.offers.push(offer);
        self
    }

    /// A result with a sentence beside it.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }
}
