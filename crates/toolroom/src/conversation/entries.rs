//! Conversations and their entries.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::{AgentId, RunId};
use crate::clock::{Clock, Timestamp};
use crate::model::Message;
use crate::scope::Scope;
use crate::text_id::text_id;

text_id! {
    /// A conversation's id: `conv_` and 32 hexadecimal digits that sort by time, unless a client chose its own.
    ConversationId
}

impl ConversationId {
    /// A fresh id.
    #[must_use]
    pub fn fresh(clock: &dyn Clock) -> Self {
        Self::new(&format!("conv_{}", clock.ordered_id().simple()))
    }
}

/// A conversation, without its entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversation {
    /// The conversation.
    pub id: ConversationId,
    /// Whose it is.
    #[serde(flatten)]
    pub scope: Scope,
    /// Who answers in it.
    pub agent: AgentId,
    /// Its first words.
    pub title: String,
    /// How many entries it has.
    pub entries: u64,
    /// When it began.
    pub created_at: Timestamp,
    /// When the last entry was added.
    pub updated_at: Timestamp,
}

/// An entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct ConversationEntry {
    /// Its number, counted from 0.
    pub seq: u64,
    /// The run it belongs to.
    pub run: RunId,
    /// When it was added.
    pub at: Timestamp,
    /// What it is.
    pub content: Content,
}

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// A message of the person, the model, or the tools.
    Message(Arc<Message>),
    /// Replaces all earlier entries in requests to models.
    Summary(Arc<Summary>),
}

/// A summary of the older part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The summary; empty if the older part was dropped without one.
    pub text: String,
    /// Entries with a smaller number are no longer sent.
    pub covers: u64,
    /// Tokens that would have been sent, as estimated.
    pub before: u64,
    /// Tokens that are sent now, as estimated.
    pub after: u64,
}
