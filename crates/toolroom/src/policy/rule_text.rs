//! A rule as it is written in the configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Provenance, Ruling};
use crate::ledger::Answerer;
use crate::tool::{Capabilities, Effect, Risk};

/// One `[[rule]]` of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleText {
    /// A unique name; the journal records which rule decided.
    pub id: String,
    /// What happens to calls it is about: `allow`, `ask` or `deny`.
    pub effect: Ruling,
    /// Which tools it is about: an id, a bare name, a family, or a pattern with `*` and `?`.
    pub tool: String,
    /// When it applies: a condition over `args`, `caller`, `provenance` and `tool`. Always, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// Who may answer, if it asks: `caller` (the default) or `operator`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
    /// Why, for the person who is asked or the model that is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Calls it must match. Checked when the rule is loaded.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Example>,
    /// Calls it must not match. Checked when the rule is loaded.
    #[serde(default, rename = "not_match", skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<Example>,
}

/// A call that shows what a rule means.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Example {
    /// The tool; the rule's own, if that is no pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The arguments.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub args: Map<String, Value>,
    /// Who calls: `project`, `user`, `entrance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<ExampleCaller>,
    /// What the run has read and sent before.
    #[serde(skip_serializing_if = "Provenance::is_none")]
    pub provenance: Provenance,
    /// The tool's effect class; destructive if absent, as for tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The tool's capabilities; all of them if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Capabilities>,
    /// The tool's risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
}

/// Who calls, in an [`Example`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExampleCaller {
    /// The project; `local` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The entrance, e.g. `cli`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrance: Option<String>,
}
