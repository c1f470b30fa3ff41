//! All agents: configured, stored, and `default`.
//!
//! The configuration overrides the database: an agent that a trusted layer defines is exactly what the layers say. An
//! untrusted project file can narrow every agent.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::agent::AgentRecord;
use toolroom::catalog::Entry;
use toolroom::ledger::LedgerError;
use toolroom::nearest::nearest_one;
use toolroom::policy::ToolPattern;
use toolroom::scope::Scope;

use super::OpenAgentError;
use crate::app::App;
use crate::config::Config;

/// An agent and its origin.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Agent")]
pub struct ListedAgent {
    /// The effective record.
    #[serde(flatten)]
    pub record: AgentRecord,
    /// Its origin.
    pub origin: AgentOrigin,
}

/// The origin of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgentOrigin {
    /// Always exists; unchanged.
    BuiltIn,
    /// Created or changed with `toolroom agents set`.
    Database,
    /// Defined in the configuration.
    Configuration {
        /// The file and line, or another source.
        place: String,
    },
}

/// All agents by id, always including `default`.
///
/// # Errors
/// When they cannot be read.
pub async fn records(app: &App, scope: &Scope) -> Result<Vec<ListedAgent>, LedgerError> {
    Ok(merge(&app.config.config, app.agents().agents(&scope.project).await?))
}

fn merge(config: &Config, stored: Vec<AgentRecord>) -> Vec<ListedAgent> {
    let written = config
        .agent_records()
        .into_iter()
        .map(|(record, place)| ListedAgent { record, origin: AgentOrigin::Configuration { place } });
    let stored = stored.into_iter().map(|record| ListedAgent { record, origin: AgentOrigin::Database });
    let built_in = ListedAgent { record: AgentRecord::default(), origin: AgentOrigin::BuiltIn };
    let mut agents: Vec<ListedAgent> = Vec::new();
    for mut known in written.chain(stored).chain([built_in]) {
        if agents.iter().any(|stronger| stronger.record.id == known.record.id) {
            continue;
        }
        match known.origin {
            AgentOrigin::Configuration { .. } => {}
            AgentOrigin::Database | AgentOrigin::BuiltIn => config.apply_to(&mut known.record),
        }
        agents.push(known);
    }
    agents.sort_by(|left, right| left.record.id.cmp(&right.record.id));
    agents
}

/// An agent by id.
///
/// # Errors
/// When there is none, or they cannot be read.
pub async fn record(app: &App, scope: &Scope, id: &str) -> Result<ListedAgent, OpenAgentError> {
    let agents = records(app, scope).await?;
    let meant = nearest_one(id, agents.iter().map(|agent| agent.record.id.as_str())).map(str::to_owned);
    agents.into_iter().find(|agent| agent.record.id.as_str() == id).ok_or_else(|| {
        let hint = match meant {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "see `toolroom agents`, or make it with `toolroom agents set`".to_owned(),
        };
        OpenAgentError::NotFound { id: id.to_owned(), hint }
    })
}

/// The stored record of an agent, without the configuration.
///
/// # Errors
/// When it cannot be read.
pub async fn stored(app: &App, scope: &Scope, id: &str) -> Result<Option<AgentRecord>, LedgerError> {
    let agents = app.agents().agents(&scope.project).await?;
    Ok(agents.into_iter().find(|agent| agent.id.as_str() == id))
}

/// Tools and vendors that an agent names but that do not exist here. They may be added later, or be typos.
pub(crate) fn unknown_parts(agent: &AgentRecord, config: &Config, tools: &[Arc<Entry>]) -> Vec<String> {
    let unknown = agent.allow.iter().chain(&agent.deny).filter(|pattern| {
        let fits = |parsed: ToolPattern| tools.iter().any(|entry| parsed.matches(entry.spec()));
        !ToolPattern::parse(pattern).is_ok_and(fits)
    });
    let unknown = unknown.map(|pattern| format!("no tool here fits `{pattern}`"));
    let models: Vec<String> = agent.models.iter().chain(&agent.ranker).cloned().collect();
    unknown.chain(config.unknown_vendors(&models)).collect()
}

#[cfg(test)]
mod tests {
    use toolroom::conversation::AgentId;

    use super::*;
    use crate::config::{Layer, load};

    fn config(user: &str, project: &str) -> Config {
        let user = Layer::User { path: "user.toml".into(), text: user.to_owned() };
        let project =
            Layer::Project { path: "project.toml".into(), trusted: false, text: project.to_owned() };
        load(&[user, project]).unwrap().config
    }

    fn made(id: &str, prompt: &str) -> AgentRecord {
        AgentRecord {
            id: AgentId::new(id),
            name: id.to_owned(),
            prompt: prompt.to_owned(),
            ..AgentRecord::default()
        }
    }

    fn told(agents: &[ListedAgent]) -> Vec<(&str, &str, &str)> {
        let origin = |known: &ListedAgent| match &known.origin {
            AgentOrigin::BuiltIn => "built in",
            AgentOrigin::Database => "database",
            AgentOrigin::Configuration { .. } => "configuration",
        };
        agents
            .iter()
            .map(|known| (known.record.id.as_str(), origin(known), known.record.prompt.as_str()))
            .collect()
    }

    #[test]
    fn the_configuration_overrides_the_database() {
        let config = config("[agent.cook]\nprompt = 'ours'\n", "[agent.stranger]\n");
        let stored = vec![made("cook", "theirs"), made("baker", "bakes")];
        assert_eq!(
            told(&merge(&config, stored)),
            [("baker", "database", "bakes"), ("cook", "configuration", "ours"), ("default", "built in", "")]
        );
        let stored = vec![made("default", "changed")];
        assert_eq!(told(&merge(&Config::default(), stored)), [("default", "database", "changed")]);
    }

    #[test]
    fn an_untrusted_file_narrows_agents_of_any_origin() {
        let narrow = |id: &str| {
            format!("[agent.{id}]\nprompt = 'obey'\ndeny = ['shell*']\nlimits = {{ iterations = 3 }}\n")
        };
        let project = ["cook", "baker", "default"].map(narrow).concat();
        let config = config("[agent.cook]\ndeny = ['mail']\nlimits.iterations = 2\n", &project);
        let agents = merge(&config, vec![made("baker", "bakes")]);
        let seen: Vec<_> = agents
            .iter()
            .map(|known| (known.record.deny.join(" "), known.record.limits.iterations))
            .collect();
        assert_eq!(seen, [("shell*".to_owned(), 3), ("mail shell*".to_owned(), 2), ("shell*".to_owned(), 3)]);
        assert!(agents.iter().all(|known| known.record.prompt != "obey"));
    }
}
