//! `[agent.<id>]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, to_value};
use toolroom::agent::{AgentLimits, AgentRecord, DEFAULT_AGENT, OnDisconnect};
use toolroom::catalog::LimitMode;
use toolroom::conversation::AgentId;
use toolroom::nearest::nearest_one;
use toolroom_models::offline;
use toolroom_models::vendor::{ModelName, presets};

use crate::agents::check;
use crate::config::effective::Setting;
use crate::config::text::toml::joined;
use crate::config::{Config, ModelChain, Origin, Problem};

/// `[agent.<id>]`: an agent. Absent keys keep their defaults.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentKeys {
    /// Display name. Default: the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// System prompt. Default: a general assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Models in order of preference. Default: `model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelChain>,
    /// A small model that ranks tools when there are too many for the prompt. Default: ranking by words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranker: Option<String>,
    /// Allowed tools: ids, bare names, families or patterns. Default: all enabled tools. Variants of a family that are
    /// not offered by default are offered if named here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub allow: Option<Vec<String>>,
    /// Denied tools. Takes precedence over `allow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), extend("x-stricter" = "beside"))]
    pub deny: Option<Vec<String>>,
    /// Limits of its runs.
    pub limits: AgentLimitKeys,
    /// What happens to a run when its client disconnects.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-stricter" = "later"))]
    pub on_disconnect: Option<OnDisconnect>,
}

/// `[agent.<id>.limits]`
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentLimitKeys {
    /// Maximum number of model requests per run, followed by one without tools. Default: 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000), extend("x-stricter" = "smaller"))]
    pub iterations: Option<u32>,
    /// Maximum number of parallel calls. Default: 8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64), extend("x-stricter" = "smaller"))]
    pub parallel: Option<u32>,
    /// Budget in US dollars per user and day, over all agents of the project. This agent stops when it is spent. Default:
    /// unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("x-stricter" = "smaller"))]
    pub daily_budget_usd: Option<f64>,
    /// Maximum tokens of an answer. Default: the limit of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000), extend("x-stricter" = "smaller"))]
    pub max_tokens: Option<u32>,
    /// Token budget for tool definitions, at most a third of the smallest context window of its models. If there are more
    /// tools, those that fit the message are selected. Default: 12000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000), extend("x-stricter" = "smaller"))]
    pub tool_tokens: Option<u64>,
}

impl AgentKeys {
    /// The keys that an untrusted file may set.
    pub(in crate::config) fn narrowing(self) -> Self {
        let deny = self.deny.filter(|deny| !deny.is_empty());
        Self { name: None, prompt: None, models: None, ranker: None, allow: None, deny, ..self }
    }

    /// Overwrites the fields that are set.
    fn replace(&self, agent: &mut AgentRecord) {
        let names = |chain: &ModelChain| chain.0.iter().map(ToString::to_string).collect();
        put(&mut agent.name, self.name.clone());
        put(&mut agent.prompt, self.prompt.clone());
        put(&mut agent.models, self.models.as_ref().map(names));
        agent.ranker = self.ranker.clone().or_else(|| agent.ranker.take());
        put(&mut agent.allow, self.allow.clone());
        put(&mut agent.deny, self.deny.clone());
        put(&mut agent.on_disconnect, self.on_disconnect);
        let AgentLimits { iterations, parallel, daily_budget_usd, max_tokens, tool_tokens } =
            &mut agent.limits;
        put(iterations, self.limits.iterations);
        put(parallel, self.limits.parallel);
        put(tool_tokens, self.limits.tool_tokens);
        *daily_budget_usd = self.limits.daily_budget_usd.or(*daily_budget_usd);
        *max_tokens = self.limits.max_tokens.or(*max_tokens);
    }

    /// Applies the fields only where they restrict the agent.
    fn narrow(&self, agent: &mut AgentRecord) {
        for pattern in self.deny.iter().flatten() {
            if !agent.deny.contains(pattern) {
                agent.deny.push(pattern.clone());
            }
        }
        if self.on_disconnect == Some(OnDisconnect::Cancel) {
            agent.on_disconnect = OnDisconnect::Cancel;
        }
        let (limits, ours) = (&mut agent.limits, &self.limits);
        limits.iterations = ours.iterations.map_or(limits.iterations, |most| most.min(limits.iterations));
        limits.parallel = ours.parallel.map_or(limits.parallel, |most| most.min(limits.parallel));
        limits.tool_tokens = ours.tool_tokens.map_or(limits.tool_tokens, |most| most.min(limits.tool_tokens));
        limits.max_tokens = limits.max_tokens.into_iter().chain(ours.max_tokens).min();
        let budgets = limits.daily_budget_usd.into_iter().chain(ours.daily_budget_usd);
        limits.daily_budget_usd = budgets.reduce(f64::min);
    }
}

fn put<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// An agent section of one layer. Later sections override earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigAgent {
    /// The agent id.
    pub agent: String,
    /// The keys.
    pub keys: AgentKeys,
    /// Whether it replaces values or only restricts.
    pub mode: LimitMode,
    /// Its origin.
    pub origin: Origin,
    /// The line where it starts.
    pub line: Option<usize>,
}

impl ConfigAgent {
    /// The first problem of the section, if any.
    pub(in crate::config) fn first_problem(agent: &str, keys: &AgentKeys) -> Option<String> {
        let mut record = default_agent(agent);
        keys.replace(&mut record);
        check(&record).err()
    }

    /// A setting for each key.
    pub(in crate::config) fn settings(&self) -> Vec<Setting> {
        let Ok(Value::Object(keys)) = to_value(&self.keys) else { return Vec::new() };
        let mut settings = Vec::new();
        self.collect(&joined("agent", &self.agent), &keys, &mut settings);
        settings
    }

    fn collect(&self, path: &str, keys: &Map<String, Value>, settings: &mut Vec<Setting>) {
        for (name, value) in keys {
            let key = joined(path, name);
            match value {
                Value::Object(table) => self.collect(&key, table, settings),
                value => settings.push(Setting { key, value: value.clone(), origin: self.origin.clone() }),
            }
        }
    }
}

/// The agent without configuration.
fn default_agent(id: &str) -> AgentRecord {
    match id {
        DEFAULT_AGENT => AgentRecord::default(),
        id => AgentRecord { id: AgentId::new(id), name: id.to_owned(), ..AgentRecord::default() },
    }
}

impl Config {
    /// The agents defined by trusted layers, each with its origin.
    #[must_use]
    pub fn agent_records(&self) -> Vec<(AgentRecord, String)> {
        let mut records: Vec<(AgentRecord, String)> = Vec::new();
        for section in self.agents.iter().filter(|section| section.mode == LimitMode::Replace) {
            if records.iter().any(|(known, _)| known.id.as_str() == section.agent) {
                continue;
            }
            let mut record = default_agent(&section.agent);
            self.apply_to(&mut record);
            records.push((record, section.origin.place(section.line)));
        }
        records
    }

    /// Applies all sections of an agent, weakest layer first.
    pub fn apply_to(&self, agent: &mut AgentRecord) {
        let id = agent.id.clone();
        for section in self.agents.iter().filter(|section| section.agent == id.as_str()) {
            match section.mode {
                LimitMode::Replace => section.keys.replace(agent),
                LimitMode::Narrow => section.keys.narrow(agent),
            }
        }
    }

    /// Messages about models whose vendor is unknown.
    pub(crate) fn unknown_vendors(&self, models: &[String]) -> Vec<String> {
        let known = || {
            let configured = self.vendors.iter().map(|section| section.vendor.as_str());
            presets().iter().map(|preset| preset.name.as_str()).chain([offline::VENDOR]).chain(configured)
        };
        let names = models.iter().filter_map(|model| model.parse::<ModelName>().ok());
        let unknown = names.filter(|name| known().all(|vendor| vendor != name.vendor()));
        let message = |name: ModelName| {
            let near = nearest_one(name.vendor(), known());
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("unknown vendor `{}` of `{name}`{hint}", name.vendor())
        };
        unknown.map(message).collect()
    }
}

/// Settings of all sections, without replaced ones.
pub(in crate::config) fn settings(agents: &[ConfigAgent]) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for section in agents {
        for setting in section.settings() {
            if section.mode == LimitMode::Replace {
                settings.retain(|earlier| earlier.key != setting.key);
            }
            settings.push(setting);
        }
    }
    settings
}

/// Warnings about unknown vendors: mistyped, or configured later.
pub(in crate::config) fn warnings(config: &Config) -> Vec<Problem> {
    let mut warnings = Vec::new();
    for section in &config.agents {
        let models = section.keys.models.iter().flat_map(|chain| &chain.0).map(ToString::to_string);
        let ranker = section.keys.ranker.clone();
        for (key, named) in [("models", models.collect()), ("ranker", Vec::from_iter(ranker))] {
            for message in config.unknown_vendors(&named) {
                let key = joined(&joined("agent", &section.agent), key);
                let (origin, line) = (section.origin.clone(), section.line);
                warnings.push(Problem { origin, line, key, message: format!("cannot be used: {message}") });
            }
        }
    }
    warnings
}
