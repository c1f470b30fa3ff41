//! The definition of a tool.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Arguments, Capabilities, Capability, Effect, IdError, Origin, Risk, Source, ToolId, Yields};
use crate::clock::seconds;
use crate::ledger::RateLimit;

/// The default timeout of a tool.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// The default limit of characters of a result.
pub const DEFAULT_RESULT_CAP: usize = 20_000;

/// The shared schema of tools without parameters.
static NO_PARAMETERS: LazyLock<Arc<Value>> =
    LazyLock::new(|| Arc::new(json!({"type": "object", "properties": {}, "additionalProperties": false})));

/// How long a tool may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Timeout {
    /// Always this long.
    After(
        #[serde(with = "seconds")]
        #[schemars(with = "f64")]
        Duration,
    ),
    /// The value of an argument, in seconds.
    FromArgument {
        /// The argument's name.
        name: String,
        /// The value if the argument is absent.
        #[serde(with = "seconds")]
        #[schemars(with = "f64")]
        default: Duration,
        /// The upper limit.
        #[serde(with = "seconds")]
        #[schemars(with = "f64")]
        max: Duration,
    },
    /// No limit.
    Never,
}

impl Timeout {
    /// The limit for these arguments.
    #[must_use]
    pub fn limit(&self, arguments: &Arguments) -> Option<Duration> {
        match self {
            Self::After(limit) => Some(*limit),
            Self::FromArgument { name, default, max } => {
                let asked = arguments.get(name).and_then(Value::as_f64);
                let limit =
                    asked.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(*default);
                Some(limit.min(*max))
            }
            Self::Never => None,
        }
    }
}

/// Where `run` is polled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pool {
    /// On the caller's task: for tools that wait.
    #[default]
    Inline,
    /// On a thread of its own: for tools that compute.
    Blocking,
}

/// The switches of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Enablement {
    /// Whether it is on by default.
    pub on_by_default: bool,
    /// The feature that must be on as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feature: Option<String>,
    /// Whether the feature's switch is the only one.
    pub feature_only: bool,
    /// The tool or family whose switch it shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<String>,
}

/// The family a tool is a variant of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Family {
    /// The name of its switch, and in rules.
    pub name: String,
    /// Whether models are offered this variant rather than another.
    pub preferred: bool,
}

/// Title and description in one language.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LocalText {
    /// Title.
    pub title: String,
    /// Description.
    pub description: String,
}

/// A tool's definition, built with the methods below. The defaults are harmless; undeclared effect and capabilities count
/// as the most dangerous.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own about the tool")]
pub struct ToolSpec {
    /// `source:name`.
    pub id: ToolId,
    /// Name for people.
    pub title: String,
    /// What it does, for models and people.
    pub description: String,
    /// When a model should pick it; read by the selector only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    /// JSON Schema (2020-12) of the arguments; an object schema, shared with the validator.
    pub parameters: Arc<Value>,
    /// JSON Schema of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Other names it is found by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Grouping in listings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Variants of one capability share a family: one toggle, one name in rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<Family>,
    /// Words it is found by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Requests it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub usage_examples: Vec<String>,
    /// Context keys the client must send for the tool to be offered.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_context: Vec<String>,
    /// Shown while it runs, per language; the key `""` is the default.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub loading_message: BTreeMap<String, String>,
    /// The embedder's own data.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub custom_data: Map<String, Value>,
    /// Title and description per language.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, LocalText>,
    /// Its effect class; destructive if undeclared.
    pub effect: Option<Effect>,
    /// Its capabilities; all if undeclared.
    pub capabilities: Option<Capabilities>,
    /// How much harm a wrong call can do.
    pub risk: Risk,
    /// Whether a person has to confirm each call.
    pub requires_confirmation: bool,
    /// Whether a yes holds for one call only; standing answers are refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub single_answers: bool,
    /// Whether its effects stay in a sandbox, so that its own [judge](crate::tool::Tool::judge) decides which calls ask.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub confined: bool,
    /// The provenance its results add.
    #[serde(skip)]
    pub yields: Yields,
    /// Whether its calls of one model response run one after another.
    pub serial: bool,
    /// Where it is polled.
    pub pool: Pool,
    /// How long it may run.
    pub timeout: Timeout,
    /// How many characters of its result a caller gets.
    pub result_cap: usize,
    /// How many characters a caller gets of each text in its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_cap: Option<usize>,
    /// How many characters of its result a model gets, where that is less than other callers do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_cap: Option<usize>,
    /// How it is switched.
    pub enablement: Enablement,
    /// How often it may be called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rates: Vec<RateLimit>,
    /// How many calls of it one process runs at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
}

impl ToolSpec {
    /// A tool without parameters. The title is made from the id until [`ToolSpec::title`] gives one.
    pub fn new(id: &str, description: impl Into<String>) -> Result<Self, IdError> {
        let id = ToolId::parse(id)?;
        let title = title_from(id.bare());
        Ok(Self {
            id,
            title,
            description: description.into(),
            when_to_use: None,
            parameters: Arc::clone(&NO_PARAMETERS),
            output: None,
            aliases: Vec::new(),
            category: None,
            family: None,
            tags: Vec::new(),
            usage_examples: Vec::new(),
            required_context: Vec::new(),
            loading_message: BTreeMap::new(),
            custom_data: Map::new(),
            texts: BTreeMap::new(),
            effect: None,
            capabilities: None,
            risk: Risk::Low,
            requires_confirmation: false,
            single_answers: false,
            confined: false,
            yields: Yields::AsCapable,
            serial: false,
            pool: Pool::Inline,
            timeout: Timeout::After(DEFAULT_TIMEOUT),
            result_cap: DEFAULT_RESULT_CAP,
            text_cap: None,
            model_cap: None,
            enablement: Enablement { on_by_default: true, feature: None, feature_only: false, follows: None },
            rates: Vec::new(),
            concurrency: None,
        })
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the parameters' schema.
    #[must_use]
    pub fn parameters(mut self, schema: Value) -> Self {
        self.parameters = Arc::new(schema);
        self
    }

    /// Sets the result's schema.
    #[must_use]
    pub fn output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// Sets the effect class. A pure tool gets no capabilities unless they were given.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        if effect == Effect::Pure && self.capabilities.is_none() {
            self.capabilities = Some(Capabilities::NONE);
        }
        self
    }

    /// Sets the capabilities.
    #[must_use]
    pub fn capabilities(mut self, list: &[Capability]) -> Self {
        self.capabilities = Some(Capabilities::of(list));
        self
    }

    /// Sets the risk.
    #[must_use]
    pub fn risk(mut self, risk: Risk) -> Self {
        self.risk = risk;
        self
    }

    /// Limits every yes to a single call.
    #[must_use]
    pub fn single_answers(mut self) -> Self {
        self.single_answers = true;
        self
    }

    /// Marks that its effects stay in a sandbox. Its capabilities then raise no question, except under the preset `careful`;
    /// rules and its own judge decide.
    #[must_use]
    pub fn confined(mut self) -> Self {
        self.confined = true;
        self
    }

    /// Sets the provenance its results add.
    #[must_use]
    pub fn yields(mut self, yields: Yields) -> Self {
        self.yields = yields;
        self
    }

    /// Makes a feature's switch its only one.
    #[must_use]
    pub fn only_with(mut self, feature: &str) -> Self {
        self.enablement.feature = Some(feature.to_owned());
        self.enablement.feature_only = true;
        self
    }

    /// Runs its calls of one model response one after another.
    #[must_use]
    pub fn serial(mut self) -> Self {
        self.serial = true;
        self
    }

    /// Switches it off by default.
    #[must_use]
    pub fn off_by_default(mut self) -> Self {
        self.enablement.on_by_default = false;
        self
    }

    /// Sets how long it may run.
    #[must_use]
    pub fn timeout(mut self, timeout: Timeout) -> Self {
        self.timeout = timeout;
        self
    }

    /// Adds a limit on how often it may be called.
    #[must_use]
    pub fn rate(mut self, limit: RateLimit) -> Self {
        self.rates.push(limit);
        self
    }

    /// Sets how many of its calls one process runs at a time.
    #[must_use]
    pub fn concurrency(mut self, limit: usize) -> Self {
        self.concurrency = Some(limit);
        self
    }

    /// Sets where it is polled.
    #[must_use]
    pub fn pool(mut self, pool: Pool) -> Self {
        self.pool = pool;
        self
    }

    /// Sets how many characters of its result a caller gets.
    #[must_use]
    pub fn result_cap(mut self, chars: usize) -> Self {
        self.result_cap = chars;
        self
    }

    /// Sets how many characters a caller gets of each text in its result.
    #[must_use]
    pub fn text_cap(mut self, chars: usize) -> Self {
        self.text_cap = Some(chars);
        self
    }

    /// Sets how many characters of its result a model gets.
    #[must_use]
    pub fn model_cap(mut self, chars: usize) -> Self {
        self.model_cap = Some(chars);
        self
    }

    /// Shares the switch of another tool or family.
    #[must_use]
    pub fn follows(mut self, name: &str) -> Self {
        self.enablement.follows = Some(name.to_owned());
        self
    }

    /// Makes it a variant of a family.
    #[must_use]
    pub fn family(mut self, name: &str, preferred: bool) -> Self {
        self.family = Some(Family { name: name.to_owned(), preferred });
        self
    }

    /// Sets when a model should pick it.
    #[must_use]
    pub fn when_to_use(mut self, text: impl Into<String>) -> Self {
        self.when_to_use = Some(text.into());
        self
    }

    /// Sets its group in listings and the words it is found by.
    #[must_use]
    pub fn category(mut self, category: &str, tags: &[&str]) -> Self {
        self.category = Some(category.to_owned());
        self.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        self
    }

    /// Adds a request it answers.
    #[must_use]
    pub fn usage_example(mut self, request: &str) -> Self {
        self.usage_examples.push(request.to_owned());
        self
    }

    /// The effect class that guards use.
    #[must_use]
    pub fn effective_effect(&self) -> Effect {
        self.effect.unwrap_or(Effect::Destructive)
    }

    /// The capabilities that guards use.
    #[must_use]
    pub fn effective_capabilities(&self) -> Capabilities {
        self.capabilities.unwrap_or(Capabilities::ALL)
    }

    /// Whether this spec is at least as strict as `other`.
    pub(crate) fn is_as_strict_as(&self, other: &Self) -> bool {
        let able = self.effective_capabilities();
        self.id == other.id
            && self.family == other.family
            && self.effective_effect() >= other.effective_effect()
            && self.risk >= other.risk
            && self.requires_confirmation >= other.requires_confirmation
            && self.single_answers >= other.single_answers
            && self.confined <= other.confined
            && other.effective_capabilities().iter().all(|capability| able.has(capability))
    }

    /// The name of its switch: that of the tool it follows, its family's, or its own id.
    #[must_use]
    pub fn switch_name(&self) -> &str {
        let family = self.family.as_ref().map(|family| family.name.as_str());
        self.enablement.follows.as_deref().or(family).unwrap_or(self.id.as_str())
    }

    /// Whether the definition comes from outside this installation.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        matches!(self.id.source(), Source::Mcp(_))
    }

    /// Whether the definition cannot be fixed here, because a foreign server or a client wrote it.
    pub(crate) fn is_external(&self) -> bool {
        self.is_foreign() || self.id.source() == Source::Client
    }

    /// Whether its results are trusted.
    #[must_use]
    pub fn origin(&self) -> Origin {
        let untrusted = self.is_foreign() || self.effective_capabilities().has(Capability::ReadsUntrusted);
        if untrusted { Origin::Untrusted } else { Origin::Trusted }
    }

    /// Title and description in `language` where the tool has that, in its own otherwise.
    #[must_use]
    pub fn text(&self, language: &str) -> LocalText {
        let own = || LocalText { title: self.title.clone(), description: self.description.clone() };
        self.texts.get(language).cloned().unwrap_or_else(own)
    }
}

/// `get_local_time` → `Get Local Time`.
fn title_from(name: &str) -> String {
    let words = name.split(['_', '-', '.', '/']).filter(|word| !word.is_empty());
    let capitalised = words.map(|word| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
    });
    capitalised.collect::<Vec<String>>().join(" ")
}
