//! What a conversation is made of.

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

/// A conversation, without what was said in it.
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
    /// When something was last said.
    pub updated_at: Timestamp,
}

/// One thing in a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct ConversationEntry {
    /// Its place, counted from 0.
    pub seq: u64,
    /// The run it belongs to.
    pub run: RunId,
    /// When it was said.
    pub at: Timestamp,
    /// What it is.
    pub content: Content,
}

/// What an entry holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Something that was said: by the person, the model, or the tools.
    Message(Arc<Message>),
    /// What stands for everything before it when the conversation is sent again.
    Summary(Arc<Summary>),
}

/// What is left of the older part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// What was said so far; empty where it was dropped without a summary.
    pub text: String,
    /// Entries with a smaller place are not sent again.
    pub covers: u64,
    /// Tokens that would have been sent, as estimated.
    pub before: u64,
    /// Tokens that are sent now, as estimated.
    pub after: u64,
}
