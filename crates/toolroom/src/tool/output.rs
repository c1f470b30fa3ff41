//! What a tool gives back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Attachment, Offer};

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
}

impl ToolOutput {
    /// A result.
    #[must_use]
    pub fn new(value: impl Into<Value>) -> Self {
        Self { value: value.into(), message: None, attachments: Vec::new(), offers: Vec::new() }
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
