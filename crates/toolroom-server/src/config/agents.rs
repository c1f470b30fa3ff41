//! Agents as they are configured: who answers, with which models and tools, and what bounds it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, to_value};
use toolroom::agent::{AgentLimits, AgentRecord, DEFAULT_AGENT, OnDisconnect};
use toolroom::catalog::LimitMode;
use toolroom::conversation::AgentId;
use toolroom::nearest::nearest_one;
use toolroom_models::offline;
use toolroom_models::vendor::{ModelName, presets};

use super::effective::Setting;
use super::toml_text::joined;
use super::{Config, ModelChain, Origin, Problem};
use crate::agents::check;

/// `[agent.<id>]`: an agent. What is absent is as in every agent that nobody has said anything about.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AgentKeys {
    /// What people call it; its id, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who it is and what it is for, in its own words; a plain assistant, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Its models, the first one first; those of `model`, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelChain>,
    /// A small model that looks over the tools when there are more than can be shown; words alone decide, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranker: Option<String>,
    /// The only tools it may use: ids, bare names, families or patterns. All that are switched on, if absent. Variants
    /// of a family that are not offered by themselves are offered where they are named here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub allow: Option<Vec<String>>,
    /// Tools it may not use, whatever else is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100), extend("x-stricter" = "beside"))]
    pub deny: Option<Vec<String>>,
    /// What bounds its runs.
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
    /// How often the model is asked in a run, 15 times if absent; then once more, without tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000), extend("x-stricter" = "smaller"))]
    pub iterations: Option<u32>,
    /// How many calls of one answer run at the same time; 8, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64), extend("x-stricter" = "smaller"))]
    pub parallel: Option<u32>,
    /// US dollars a user may have spent in a day, with all agents of the project, before this one stops. No bound, if
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("x-stricter" = "smaller"))]
    pub daily_budget_usd: Option<f64>,
    /// Most tokens of an answer; the model's own bound, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000), extend("x-stricter" = "smaller"))]
    pub max_tokens: Option<u32>,
    /// Tokens that definitions of tools may take, 12000 if absent, and never more than a third of the smallest window of
    /// its models; beyond that the selector picks those that fit the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000), extend("x-stricter" = "smaller"))]
    pub tool_tokens: Option<u64>,
}

impl AgentKeys {
    /// What is left of it in a file that may only narrow.
    pub(super) fn narrowing(self) -> Self {
        let deny = self.deny.filter(|deny| !deny.is_empty());
        Self { name: None, prompt: None, models: None, ranker: None, allow: None, deny, ..self }
    }

    /// Puts what it says in the place of what the agent was.
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

    /// Takes from the agent what it says, and gives it nothing.
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

fn put<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// What one layer says about an agent. Later ones count where two say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigAgent {
    /// Its id.
    pub agent: String,
    /// What is said.
    pub keys: AgentKeys,
    /// Whether it may also widen.
    pub mode: LimitMode,
    /// Where it was said.
    pub origin: Origin,
    /// The line it begins in.
    pub line: Option<usize>,
}

impl ConfigAgent {
    /// The first thing that is wrong with it, whoever said it.
    pub(super) fn wrong(agent: &str, keys: &AgentKeys) -> Option<String> {
        let mut record = untouched(agent);
        keys.replace(&mut record);
        check(&record).err()
    }

    /// What it says, a setting for each key.
    pub(super) fn settings(&self) -> Vec<Setting> {
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

/// An agent about which nothing was said yet.
fn untouched(id: &str) -> AgentRecord {
    match id {
        DEFAULT_AGENT => AgentRecord::default(),
        id => AgentRecord { id: AgentId::new(id), name: id.to_owned(), ..AgentRecord::default() },
    }
}

impl Config {
    /// The agents that layers with a say describe, and the place of each.
    #[must_use]
    pub fn agent_records(&self) -> Vec<(AgentRecord, String)> {
        let mut records: Vec<(AgentRecord, String)> = Vec::new();
        for said in self.agents.iter().filter(|said| said.mode == LimitMode::Replace) {
            if records.iter().any(|(known, _)| known.id.as_str() == said.agent) {
                continue;
            }
            let mut record = untouched(&said.agent);
            self.apply_to(&mut record);
            records.push((record, said.origin.place(said.line)));
        }
        records
    }

    /// Applies what the layers say about an agent, the weakest one first.
    pub fn apply_to(&self, agent: &mut AgentRecord) {
        let id = agent.id.clone();
        for said in self.agents.iter().filter(|said| said.agent == id.as_str()) {
            match said.mode {
                LimitMode::Replace => said.keys.replace(agent),
                LimitMode::Narrow => said.keys.narrow(agent),
            }
        }
    }

    /// Says of which models the vendor is neither a known nor a configured one.
    pub(crate) fn unknown_vendors(&self, models: &[String]) -> Vec<String> {
        let known = || {
            let configured = self.vendors.iter().map(|said| said.vendor.as_str());
            presets().iter().map(|preset| preset.name.as_str()).chain([offline::VENDOR]).chain(configured)
        };
        let names = models.iter().filter_map(|model| model.parse::<ModelName>().ok());
        let strange = names.filter(|name| known().all(|vendor| vendor != name.vendor()));
        let told = |name: ModelName| {
            let near = nearest_one(name.vendor(), known());
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!("no vendor here is called `{}`, which `{name}` is of{hint}", name.vendor())
        };
        strange.map(told).collect()
    }
}

/// What all layers say, without what a later one replaces.
pub(super) fn settings(agents: &[ConfigAgent]) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for said in agents {
        for setting in said.settings() {
            if said.mode == LimitMode::Replace {
                settings.retain(|earlier| earlier.key != setting.key);
            }
            settings.push(setting);
        }
    }
    settings
}

/// Agents with a vendor that is not known: it may be set up later, or be mistyped.
pub(super) fn warnings(config: &Config) -> Vec<Problem> {
    let mut warnings = Vec::new();
    for said in &config.agents {
        let models = said.keys.models.iter().flat_map(|chain| &chain.0).map(ToString::to_string);
        let ranker = said.keys.ranker.clone();
        for (key, named) in [("models", models.collect()), ("ranker", Vec::from_iter(ranker))] {
            for message in config.unknown_vendors(&named) {
                let key = joined(&joined("agent", &said.agent), key);
                let (origin, line) = (said.origin.clone(), said.line);
                warnings.push(Problem { origin, line, key, message: format!("cannot be asked: {message}") });
            }
        }
    }
    warnings
}
