//! The stored definition of an agent, and its storage port.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::BoxFuture;
use crate::conversation::AgentId;
use crate::ledger::LedgerError;
use crate::scope::ProjectId;

/// The agent that always exists.
pub const DEFAULT_AGENT: &str = "default";

/// An agent: who answers, with which models, and what it may use. Its schema says what an installation keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentRecord {
    /// Its id, which is how it is chosen.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_.-]{1,64}$"))]
    pub id: AgentId,
    /// What people call it.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// Who it is and what it is for, in its own words; a plain assistant if empty.
    #[schemars(length(max = 20_000))]
    pub prompt: String,
    /// Its models as `vendor/model`, the first one first; what the configuration says if empty.
    #[schemars(length(max = 8))]
    pub models: Vec<String>,
    /// A small model, as `vendor/model`, that looks over the tools when there are more than can be shown; words alone
    /// decide if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranker: Option<String>,
    /// Patterns of the tools it may use; all that are enabled if empty. Variants of a family that are not offered by
    /// default are offered where they are named here.
    #[schemars(length(max = 100))]
    pub allow: Vec<String>,
    /// Patterns of the tools it may not use; they win over `allow`.
    #[schemars(length(max = 100))]
    pub deny: Vec<String>,
    /// What bounds its runs.
    pub limits: AgentLimits,
    /// What happens to a run when its client disconnects.
    pub on_disconnect: OnDisconnect,
}

impl Default for AgentRecord {
    fn default() -> Self {
        Self {
            id: AgentId::new(DEFAULT_AGENT),
            name: "Assistant".to_owned(),
            prompt: String::new(),
            models: Vec::new(),
            ranker: None,
            allow: Vec::new(),
            deny: Vec::new(),
            limits: AgentLimits::default(),
            on_disconnect: OnDisconnect::default(),
        }
    }
}

/// What bounds a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentLimits {
    /// How often the model is asked in a run; then once more, without tools.
    #[schemars(range(min = 1, max = 1_000))]
    pub iterations: u32,
    /// How many calls of one answer run at the same time.
    #[schemars(range(min = 1, max = 64))]
    pub parallel: u32,
    /// US dollars a user may spend in a day; no bound if absent. It holds over all agents of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub daily_budget_usd: Option<f64>,
    /// Most tokens of an answer; the model's own bound if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_tokens: Option<u32>,
    /// Tokens that definitions of tools may take, and never more than a third of the smallest window of its models;
    /// beyond that the selector picks those that fit the message.
    #[schemars(range(max = 1_000_000))]
    pub tool_tokens: u64,
}

impl Default for AgentLimits {
    fn default() -> Self {
        Self { iterations: 15, parallel: 8, daily_budget_usd: None, max_tokens: None, tool_tokens: 12_000 }
    }
}

/// What happens to a run when its client disconnects. Runs that can be followed over another connection continue either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDisconnect {
    /// It continues.
    Continue,
    /// It is cancelled.
    #[default]
    Cancel,
}

/// Stores the agents of projects.
pub trait Agents: Send + Sync {
    /// All of a project, by id.
    fn agents<'a>(&'a self, project: &'a ProjectId) -> BoxFuture<'a, Result<Vec<AgentRecord>, LedgerError>>;

    /// Stores an agent, replacing one with the same id.
    fn set_agent<'a>(
        &'a self,
        project: &'a ProjectId,
        agent: &'a AgentRecord,
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// Removes an agent; returns whether there was one.
    fn remove_agent<'a>(
        &'a self,
        project: &'a ProjectId,
        id: &'a AgentId,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;
}
