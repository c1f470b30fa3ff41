//! Events of a run.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entries::ConversationId;
use super::run::{AgentId, RunFailure, RunId};
use crate::clock::Timestamp;
use crate::ledger::{Answerer, ArtifactId, CallId};
use crate::model::{ModelCallId, Usage};
use crate::tool::Offer;

/// An event and its place in the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NumberedEvent {
    /// Counted from 0 in each run.
    pub seq: u64,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: RunEvent,
}

/// Something that happened in a run. One vocabulary for every surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunEvent {
    /// The run begins, or is resumed.
    Started {
        /// The run.
        run: RunId,
        /// The conversation.
        conversation: ConversationId,
        /// Who answers.
        agent: AgentId,
        /// Whether it is resumed.
        resumed: bool,
    },
    /// A model is asked.
    Asking {
        /// Which one.
        model: Arc<str>,
        /// Which time in this run, counted from 1.
        iteration: u32,
    },
    /// More text of the answer.
    Text {
        /// The next ones.
        text: String,
    },
    /// More reasoning.
    Reasoning {
        /// The next ones.
        text: String,
    },
    /// The model begins to write a call.
    Writing {
        /// The tool, or the name the model wrote.
        tool: Arc<str>,
    },
    /// The answer so far is void: it was interrupted, and the same or another model is asked.
    Void {
        /// Why.
        reason: String,
        /// The next model, if another one is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Arc<str>>,
        /// When it is asked again, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after_ms: Option<u64>,
    },
    /// A model has answered.
    Answered {
        /// Which one.
        model: Arc<str>,
        /// Its text, without calls and reasoning.
        text: String,
        /// The calls it requests.
        calls: Vec<CallNotice>,
        /// What it cost in tokens.
        usage: Usage,
        /// And in US dollars, if prices are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// A call is on its way.
    CallBegan(CallNotice),
    /// Progress of a running tool.
    CallProgress {
        /// The model's id of the call.
        id: ModelCallId,
        /// What it is doing.
        message: String,
        /// How much is done, from 0 to 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fraction: Option<f64>,
    },
    /// A call has ended.
    CallEnded {
        /// The model's id of the call.
        id: ModelCallId,
        /// Its row in the journal.
        call: CallId,
        /// The tool.
        tool: Arc<str>,
        /// `done`, `failed`, `denied`, `cancelled` or `unknown`.
        outcome: String,
        /// What the model reads.
        result: Arc<Value>,
        /// Where the whole result is, if this one was shortened.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        artifact: Option<ArtifactId>,
        /// What the client is asked to do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        offers: Vec<Offer>,
        /// How long it took, in microseconds.
        duration_us: u64,
    },
    /// A call waits for an approval.
    Asks {
        /// The model's id of the call.
        id: ModelCallId,
        /// Its row in the journal.
        call: CallId,
        /// The tool.
        tool: Arc<str>,
        /// The rule that asks.
        rule: String,
        /// Why.
        reason: String,
        /// Who may answer.
        by: Answerer,
        /// When the answer becomes no.
        expires_at: Timestamp,
    },
    /// A call waits for the client, which runs it and [delivers](crate::Toolroom::deliver) the result. The exact arguments,
    /// after any edits, come from [`question_details`](crate::Toolroom::question_details).
    Handed {
        /// The model's id of the call.
        id: ModelCallId,
        /// Its row in the journal.
        call: CallId,
        /// The tool, `client:NAME`.
        tool: Arc<str>,
        /// When the call expires.
        expires_at: Timestamp,
    },
    /// The loop was ended by a guard; one more answer without tools follows.
    Guarded {
        /// `iterations`, `repeat` or `alternation`.
        guard: String,
        /// What it saw.
        reason: String,
    },
    /// A limit is near, or has cut off an answer. Sent once in a run.
    Warned {
        /// `budget` or `answer`.
        limit: String,
        /// How near, or what was cut off.
        reason: String,
    },
    /// Older parts of the conversation are no longer sent.
    Compacted {
        /// Tokens before, as estimated.
        before: u64,
        /// Tokens after.
        after: u64,
        /// Whether they were summarised; otherwise they were dropped.
        summarised: bool,
    },
    /// Some calls wait; the run continues once they are answered.
    Waiting {
        /// Their rows in the journal.
        calls: Vec<CallId>,
    },
    /// There is an answer.
    Done {
        /// What it says.
        text: String,
        /// The tokens of the whole run.
        usage: Usage,
        /// What they cost in US dollars, as far as prices are known.
        cost: f64,
    },
    /// There is no answer.
    Failed(RunFailure),
    /// It was stopped.
    Cancelled,
}

impl RunEvent {
    /// Whether it is stored. Pieces of an answer are not: the whole answer is.
    #[must_use]
    pub const fn is_structural(&self) -> bool {
        !matches!(
            self,
            Self::Text { .. } | Self::Reasoning { .. } | Self::Writing { .. } | Self::CallProgress { .. }
        )
    }
}

/// A call as listeners see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallNotice {
    /// The model's id of it.
    pub id: ModelCallId,
    /// The tool's full id; the name the model wrote, if there is no such tool.
    pub tool: Arc<str>,
    /// What people call the tool.
    pub title: String,
    /// The arguments, with secrets hidden.
    pub arguments: Arc<Value>,
}
