//! A model and its answers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::error::ModelError;
use super::message::{Block, Message, ModelCallId};
use super::request::ModelRequest;
use crate::BoxFuture;

/// A chat model.
pub trait Model: Send + Sync {
    /// Its name: `vendor/model`.
    fn name(&self) -> &str;

    /// Sends one request. Reports events as they arrive; only the final answer counts. Does not retry, and a stream that
    /// breaks off is an error, never a partial answer.
    fn ask<'a>(
        &'a self,
        request: &'a ModelRequest,
        on_event: &'a mut (dyn FnMut(ModelEvent) + Send),
        cancellation: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;
}

/// A part of an answer as it arrives, for subscribers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// More text.
    Text(String),
    /// More reasoning.
    Reasoning(String),
    /// A call begins.
    Call {
        /// The index of the call, from 0.
        index: usize,
        /// The model's id of it.
        id: ModelCallId,
        /// The tool's name on the wire.
        name: String,
    },
    /// More of a call's arguments.
    Arguments {
        /// The index of the call.
        index: usize,
        /// The next characters.
        text: String,
    },
    /// The request is retried: all events so far are void.
    Again {
        /// Why.
        reason: String,
        /// The delay before the retry.
        after: Duration,
    },
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The content, to be stored and sent back unchanged.
    pub blocks: Vec<Block>,
    /// Why it ended.
    pub stop: StopReason,
    /// The tokens it used.
    pub usage: Usage,
    /// The model as the vendor names it in the answer.
    pub model: Option<String>,
}

impl Answer {
    /// The answer as a message of the conversation.
    #[must_use]
    pub fn into_message(self) -> Message {
        Message::assistant(self.blocks)
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The answer is complete.
    Done,
    /// It calls tools.
    Calls,
    /// It reached the limit of output tokens.
    Length,
    /// The vendor filtered it.
    Filtered,
    /// Something else, in the vendor's word.
    Other(String),
}

/// Tokens, as the vendor counts them; zero if it does not report them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Input tokens, including those from a cache.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache.
    pub cache_write: u64,
    /// Output tokens for reasoning.
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
