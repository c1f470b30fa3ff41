//! One run: from a message to its answer.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entries::ConversationId;
use crate::call::UserLocation;
use crate::clock::{Clock, Timestamp};
use crate::model::Usage;
use crate::policy::Provenance;
use crate::provenance::CallSource;
use crate::scope::Scope;
use crate::text_id::text_id;
use crate::tool::ClientTools;

text_id! {
    /// A run's id: `run_` and 32 hexadecimal digits that sort by time, unless a client chose its own.
    RunId
}

impl RunId {
    /// A fresh id.
    #[must_use]
    pub fn fresh(clock: &dyn Clock) -> Self {
        Self::new(&format!("run_{}", clock.ordered_id().simple()))
    }
}

text_id! {
    /// An agent's id, such as `default`.
    AgentId
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// A process works on it, or did until it died.
    Running,
    /// Calls of it wait for an answer.
    Waiting,
    /// The model has answered.
    Done,
    /// There is no answer.
    Failed,
    /// It was stopped.
    Cancelled,
}

impl RunState {
    /// Every state, in the order of a run's life.
    pub const ALL: [Self; 5] = [Self::Running, Self::Waiting, Self::Done, Self::Failed, Self::Cancelled];

    /// Whether it can be resumed.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Running | Self::Waiting)
    }

    /// The name used in records and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The record of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The run.
    pub id: RunId,
    /// The conversation it belongs to.
    pub conversation: ConversationId,
    /// Whose it is.
    #[serde(flatten)]
    pub scope: Scope,
    /// Who answers.
    pub agent: AgentId,
    /// The caller who sent the message, if the entrance named one, such as `key:ID`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Arc<str>>,
    /// Which entrance the message came through.
    pub entrance: Arc<str>,
    /// Where the user is.
    #[serde(rename = "seat", default, skip_serializing_if = "UserLocation::is_remote")]
    pub user_location: UserLocation,
    /// Its state.
    pub state: RunState,
    /// The model that answered last, `vendor/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// What was read and sent so far in the conversation.
    #[serde(default, skip_serializing_if = "Provenance::is_none")]
    pub provenance: Provenance,
    /// Where its message came from, if that counts beside the conversation.
    #[serde(default, skip_serializing_if = "CallSource::is_embedder")]
    #[schemars(skip)]
    pub source: CallSource,
    /// The client's context about its user and situation. Never trusted for rights.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The client's tools, for when the run is resumed.
    #[serde(default, skip_serializing_if = "has_none")]
    pub client_tools: ClientTools,
    /// How often the model was asked.
    pub iterations: u32,
    /// The tokens of all of them.
    pub usage: Usage,
    /// What they cost in US dollars, as far as prices are known.
    pub cost: f64,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<RunFailure>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

fn has_none(tools: &ClientTools) -> bool {
    tools.is_empty()
}

/// Why a run has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFailure {
    /// A word of a closed list: that of the model's failure, `empty`, `budget`, `no_model`, `interrupted`.
    pub kind: String,
    /// A message for people.
    pub message: String,
}
