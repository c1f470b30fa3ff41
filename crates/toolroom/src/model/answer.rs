//! What a model answers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::error::ModelError;
use super::message::{Block, Message, ModelCallId};
use super::request::ModelRequest;
use crate::BoxFuture;

/// A model that can be asked.
pub trait Model: Send + Sync {
    /// Its name: `vendor/model`.
    fn name(&self) -> &str;

    /// Asks once. What arrives on the way is told as it comes; what counts is the answer at the end. Nothing is retried
    /// here, and a stream that breaks off is an error, never half an answer.
    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        told: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;
}

/// Something that arrived while a model answers. For people who watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// More words.
    Text(String),
    /// More thoughts.
    Reasoning(String),
    /// It begins to write a call.
    Call {
        /// Which of its calls, counted from 0.
        index: usize,
        /// The model's id of it.
        id: ModelCallId,
        /// The tool's name on the wire.
        name: String,
    },
    /// More of a call's arguments.
    Arguments {
        /// Which of its calls.
        index: usize,
        /// The next characters.
        text: String,
    },
    /// Nothing of what was told so far counts: it is asked once more.
    Again {
        /// Why.
        reason: String,
        /// After how long.
        after: Duration,
    },
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What was said, to be kept and given back as it is.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// The model as the vendor names it in the answer.
    pub model: Option<String>,
}

impl Answer {
    /// The turn it becomes in the conversation.
    #[must_use]
    pub fn into_message(self) -> Message {
        Message::assistant(self.blocks)
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It has said what it wanted to say.
    Done,
    /// It wants tools to be called.
    Calls,
    /// It reached the most tokens it may write.
    Length,
    /// The vendor kept it from going on.
    Filtered,
    /// Something else, in the vendor's word.
    Other(String),
}

/// Tokens, as the vendor counts them. What a vendor does not tell is zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Read, with what came from a cache.
    pub input: u64,
    /// Written, thoughts included.
    pub output: u64,
    /// Of the input, taken from a cache.
    pub cache_read: u64,
    /// Of the input, put into a cache.
    pub cache_write: u64,
    /// Of the output, thoughts.
    pub reasoning: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let Self { input, output, cache_read, cache_write, reasoning } = other;
        self.input = self.input.saturating_add(input);
        self.output = self.output.saturating_add(output);
        self.cache_read = self.cache_read.saturating_add(cache_read);
        self.cache_write = self.cache_write.saturating_add(cache_write);
        self.reasoning = self.reasoning.saturating_add(reasoning);
    }
}
