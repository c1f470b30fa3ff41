//! The vendors an operator has, and the way from a name to a model.
//!
//! Settings come as plain data: whoever joins the parts reads variables, files and secrets. A vendor that is set up wrong
//! is told when it is used, and keeps nobody from using another.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use thiserror::Error;
use toolroom::clock::Clock;
use toolroom::model::Model;
use toolroom::nearest::nearest_one;
use toolroom::redact::Secret;
use toolroom_host::net::Client;

use crate::client::{Endpoint, Remote, reach};
use crate::offline;
use crate::vendor::{BaseUrl, BaseUrlError, ModelFacts, ModelName, Preset, WireKind, preset, presets};
use crate::wire::{Quirks, Terms};

/// Anthropic wants a bound with each request. More than this is rarely wanted and never by accident.
const MOST_BY_DEFAULT: u32 = 32_000;

/// A value, and where it was found, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given<T> {
    /// The value.
    pub value: T,
    /// Where it was found: `$OPENAI_API_KEY`, a file.
    pub from: String,
}

/// A vendor's key.
#[derive(Debug, Clone)]
pub enum KeySetting {
    /// It is there.
    Given(Given<Secret>),
    /// It was to be found somewhere, and is not: what to do.
    Missing(String),
}

/// What an operator has set about a vendor.
#[derive(Debug, Clone, Default)]
pub struct VendorSettings {
    /// The preset it follows, for a vendor that has none of its own name; `custom` if absent.
    pub like: Option<String>,
    /// Where it is.
    pub base_url: Option<Given<String>>,
    /// Its key.
    pub key: Option<KeySetting>,
    /// The model to begin with.
    pub model: Option<String>,
    /// What it speaks.
    pub wire: Option<WireKind>,
    /// The version of its API.
    pub api_version: Option<String>,
    /// How long it may be silent.
    pub idle: Option<Duration>,
    /// The window of its models.
    pub window: Option<u64>,
}

impl VendorSettings {
    /// These, and what they leave open from `weaker`.
    #[must_use]
    pub fn over(self, weaker: Self) -> Self {
        Self {
            like: self.like.or(weaker.like),
            base_url: self.base_url.or(weaker.base_url),
            key: self.key.or(weaker.key),
            model: self.model.or(weaker.model),
            wire: self.wire.or(weaker.wire),
            api_version: self.api_version.or(weaker.api_version),
            idle: self.idle.or(weaker.idle),
            window: self.window.or(weaker.window),
        }
    }
}

/// What the usual variables say, by vendor. `look` gives a variable's value.
#[must_use]
pub fn from_variables(look: impl Fn(&str) -> Option<String>) -> BTreeMap<String, VendorSettings> {
    let find = |names: &[String]| {
        let found = |name: &String| Some(Given { value: look(name)?, from: format!("${name}") });
        names.iter().find_map(found)
    };
    let settings = |preset: &Preset| {
        let key = find(&preset.key_variables).map(|Given { value, from }| {
            KeySetting::Given(Given { value: Secret::new(from.clone(), value), from })
        });
        let base_url = find(&preset.url_variables);
        if key.is_none() && base_url.is_none() {
            return None;
        }
        let api_version = find(&preset.version_variables).map(|version| version.value);
        let settings = VendorSettings { base_url, key, api_version, ..VendorSettings::default() };
        Some((preset.name.clone(), settings))
    };
    presets().iter().filter_map(settings).collect()
}

/// Why a model cannot be opened, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum OpenError {
    /// Nobody knows this vendor.
    #[error(
        "no vendor is called `{name}`{near}; known are {known}, and any other with `[vendor.{name}] base_url = \"…\"`"
    )]
    NoVendor {
        /// The name.
        name: String,
        /// One that is written alike.
        near: String,
        /// Those there are.
        known: String,
    },
    /// It follows a preset that does not exist.
    #[error("the vendor `{name}` is to be like `{like}`, which is no vendor that is known")]
    NoPreset {
        /// The vendor.
        name: String,
        /// What it is to be like.
        like: String,
    },
    /// It has no address.
    #[error("nobody knows where {title} is: set {variables}`base_url` in `[vendor.{name}]`")]
    NoAddress {
        /// The vendor.
        name: String,
        /// For people.
        title: String,
        /// The variable that would do, with what follows it.
        variables: String,
    },
    /// Its address cannot be used.
    #[error("the address of {title} from {from} cannot be used")]
    Address {
        /// For people.
        title: String,
        /// Where it was found.
        from: String,
        /// Why.
        source: BaseUrlError,
    },
    /// It has no key.
    #[error(
        "{title} needs a key: set {variable}, or keep it with `toolroom secrets set {name}` and write `key = \"secret:{name}\"` into `[vendor.{name}]`"
    )]
    NoKey {
        /// The vendor.
        name: String,
        /// For people.
        title: String,
        /// The variable that would do.
        variable: String,
    },
    /// Its key is not where it was to be.
    #[error("the key of {title} is missing: {why}")]
    KeyMissing {
        /// For people.
        title: String,
        /// What to do.
        why: String,
    },
    /// There is one offline model only.
    #[error("there is no model `{name}`; the offline one is `{}`", offline::NAME)]
    NoOffline {
        /// The name.
        name: String,
    },
}

/// A vendor, as an operator has it.
pub struct Vendor {
    name: String,
    preset: Option<&'static Preset>,
    settings: VendorSettings,
    is_set: bool,
    client: OnceLock<Client>,
}

/// A model that can be asked.
#[derive(Clone)]
pub struct OpenedModel {
    /// The model.
    pub model: Arc<dyn Model>,
    /// What is known about it.
    pub facts: ModelFacts,
}

/// All vendors there are.
#[derive(Debug)]
pub struct Directory {
    vendors: Vec<Vendor>,
    clock: Arc<dyn Clock>,
}

impl Directory {
    /// The vendors that are known, with these settings. Opens nothing.
    #[must_use]
    pub fn new(mut settings: BTreeMap<String, VendorSettings>, clock: Arc<dyn Clock>) -> Self {
        let mut vendors: Vec<Vendor> = presets()
            .iter()
            .map(|preset| Vendor::new(&preset.name, Some(preset), settings.remove(&preset.name)))
            .collect();
        vendors.extend(settings.into_iter().map(|(name, settings)| {
            let like = preset(settings.like.as_deref().unwrap_or("custom"));
            Vendor::new(&name, like, Some(settings))
        }));
        Self { vendors, clock }
    }

    /// All vendors: those that are known in the order of the presets, then those an operator has added.
    #[must_use]
    pub fn vendors(&self) -> &[Vendor] {
        &self.vendors
    }

    /// The vendors that somebody has set up.
    pub fn configured(&self) -> impl Iterator<Item = &Vendor> {
        self.vendors.iter().filter(|vendor| vendor.is_set)
    }

    /// The model to begin with where nobody named one: that of the first vendor that is set up and in order, or the
    /// offline model if none is set up at all.
    #[must_use]
    pub fn usual(&self) -> Option<ModelName> {
        if self.configured().next().is_none() {
            return offline::NAME.parse().ok();
        }
        self.configured().filter(|vendor| vendor.problem().is_none()).find_map(Vendor::usual)
    }

    /// The model of this name. Sends nothing.
    ///
    /// # Errors
    /// When its vendor is unknown or not set up: the error says what to set.
    pub fn open(&self, name: &ModelName) -> Result<OpenedModel, OpenError> {
        let Some(vendor) = self.vendors.iter().find(|vendor| vendor.name == name.vendor()) else {
            return offline::open(name).unwrap_or_else(|| Err(self.no_vendor(name.vendor())));
        };
        let preset = vendor.preset()?;
        let endpoint = vendor.endpoint()?;
        let facts = vendor.facts(preset, name.model());
        let terms = vendor.terms(preset, &endpoint, &facts, name.model());
        let idle = vendor.settings.idle.unwrap_or_else(|| preset.idle(facts.reasoning));
        let client = vendor.client.get_or_init(|| Client::new(reach(vendor.opening(preset, &endpoint))));
        let clock = Arc::clone(&self.clock);
        let model = Remote::new(name.clone(), endpoint.clone(), terms, idle, Arc::new(client.clone()), clock);
        Ok(OpenedModel { model: Arc::new(model), facts })
    }

    fn no_vendor(&self, name: &str) -> OpenError {
        let names = || self.vendors.iter().map(|vendor| vendor.name.as_str()).chain([offline::VENDOR]);
        let near = nearest_one(name, names()).map(|near| format!(" (did you mean `{near}`?)"));
        let known = names().collect::<Vec<_>>().join(", ");
        OpenError::NoVendor { name: name.to_owned(), near: near.unwrap_or_default(), known }
    }
}

impl Vendor {
    fn new(name: &str, preset: Option<&'static Preset>, settings: Option<VendorSettings>) -> Self {
        let is_set = settings.is_some();
        let settings = settings.unwrap_or_default();
        Self { name: name.to_owned(), preset, settings, is_set, client: OnceLock::new() }
    }

    /// Its name in `vendor/model`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name for people.
    #[must_use]
    pub fn title(&self) -> &str {
        match self.preset {
            Some(preset) if preset.name == self.name => &preset.title,
            _ => &self.name,
        }
    }

    /// Whether it runs on the operator's own machine, or might.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.preset.is_some_and(|preset| preset.local)
    }

    /// Whether somebody has set it up.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.is_set
    }

    /// Where it is, if that is known and in order.
    #[must_use]
    pub fn base_url(&self) -> Option<BaseUrl> {
        self.base(self.preset?).ok()
    }

    /// What it speaks.
    #[must_use]
    pub fn wire(&self) -> Option<WireKind> {
        let preset = self.preset?;
        Some(self.wire_at(preset, &self.base(preset).ok()?))
    }

    /// Where its key was found.
    #[must_use]
    pub fn key_from(&self) -> Option<&str> {
        match &self.settings.key {
            Some(KeySetting::Given(key)) => Some(&key.from),
            Some(KeySetting::Missing(_)) | None => None,
        }
    }

    /// Its key, to be hidden wherever it might be shown.
    #[must_use]
    pub fn key(&self) -> Option<&Secret> {
        match &self.settings.key {
            Some(KeySetting::Given(key)) => Some(&key.value),
            Some(KeySetting::Missing(_)) | None => None,
        }
    }

    /// Its model to begin with.
    #[must_use]
    pub fn usual(&self) -> Option<ModelName> {
        let own =
            self.preset.filter(|preset| preset.name == self.name).and_then(|preset| preset.model.as_deref());
        ModelName::new(&self.name, self.settings.model.as_deref().or(own)?).ok()
    }

    /// What keeps its models from being opened.
    #[must_use]
    pub fn problem(&self) -> Option<OpenError> {
        self.endpoint().err()
    }

    fn preset(&self) -> Result<&'static Preset, OpenError> {
        self.preset.ok_or_else(|| OpenError::NoPreset {
            name: self.name.clone(),
            like: self.settings.like.clone().unwrap_or_default(),
        })
    }

    fn base(&self, preset: &Preset) -> Result<BaseUrl, OpenError> {
        let title = || self.title().to_owned();
        let wire = self.settings.wire.unwrap_or(preset.wire);
        // An added vendor is somewhere else than what it is like, and must not send its key there.
        let own = preset.base_url.as_deref().filter(|_| preset.name == self.name);
        let (text, from) = match (&self.settings.base_url, own) {
            (Some(given), _) => (given.value.as_str(), given.from.as_str()),
            (None, Some(own)) => (own, "the presets"),
            (None, None) => {
                let known = preset.url_variables.first().filter(|_| preset.name == self.name);
                let variables = known.map(|variable| format!("{variable}, or ")).unwrap_or_default();
                return Err(OpenError::NoAddress { name: self.name.clone(), title: title(), variables });
            }
        };
        BaseUrl::read(text, preset, wire).map_err(|source| OpenError::Address {
            title: title(),
            from: from.to_owned(),
            source,
        })
    }

    /// Whether it is somewhere else than its preset says.
    fn is_elsewhere(preset: &Preset, base: &BaseUrl) -> bool {
        let own = preset.base_url.as_deref().and_then(|own| BaseUrl::read(own, preset, preset.wire).ok());
        own.is_none_or(|own| !own.is_same_origin(base))
    }

    fn wire_at(&self, preset: &Preset, base: &BaseUrl) -> WireKind {
        let elsewhere = preset.wire_elsewhere.filter(|_| Self::is_elsewhere(preset, base));
        self.settings.wire.or(elsewhere).unwrap_or(preset.wire)
    }

    fn endpoint(&self) -> Result<Endpoint, OpenError> {
        let preset = self.preset()?;
        let base = self.base(preset)?;
        let key = match &self.settings.key {
            Some(KeySetting::Given(key)) => Some(key.value.clone()),
            Some(KeySetting::Missing(why)) => {
                return Err(OpenError::KeyMissing { title: self.title().to_owned(), why: why.clone() });
            }
            None if preset.local => None,
            None => {
                let own = preset.key_variables.first().filter(|_| preset.name == self.name);
                return Err(OpenError::NoKey {
                    name: self.name.clone(),
                    title: self.title().to_owned(),
                    variable: own.cloned().unwrap_or_else(|| "its `key`".to_owned()),
                });
            }
        };
        Ok(Endpoint {
            title: self.title().to_owned(),
            wire: self.wire_at(preset, &base),
            base,
            auth: preset.auth,
            key,
            api_version: self.settings.api_version.clone().or_else(|| preset.api_version.clone()),
            hint: preset.hint.clone(),
        })
    }

    /// What is opened: nothing for a vendor that is where it always is, which is public.
    fn opening<'e>(
        &self,
        preset: &Preset,
        endpoint: &'e Endpoint,
    ) -> Option<&'e toolroom_host::net::Opening> {
        let is_own = self.settings.base_url.is_some() || preset.local;
        endpoint.base.opening().filter(|_| is_own)
    }

    fn facts(&self, preset: &Preset, model: &str) -> ModelFacts {
        let mut facts = ModelFacts::of(preset, model);
        facts.window = self.settings.window.unwrap_or(facts.window);
        facts
    }

    fn terms(&self, preset: &Preset, endpoint: &Endpoint, facts: &ModelFacts, model: &str) -> Terms {
        let elsewhere =
            preset.quirks_elsewhere.as_ref().filter(|_| Self::is_elsewhere(preset, &endpoint.base));
        let quirks = elsewhere.unwrap_or(&preset.quirks).clone();
        let most = facts.max_output.map(|most| most.min(MOST_BY_DEFAULT));
        let quirks = Quirks {
            no_temperature: quirks.no_temperature || facts.no_temperature,
            no_encrypted_reasoning: quirks.no_encrypted_reasoning || !facts.reasoning,
            default_max_tokens: quirks.default_max_tokens.or(most),
            ..quirks
        };
        // What came over one format is of no use in another.
        let owner = match endpoint.wire == preset.wire {
            true => self.name.clone(),
            false => format!("{}:{}", self.name, endpoint.wire.as_str()),
        };
        Terms { model: model.to_owned(), owner: owner.into(), quirks }
    }
}

impl fmt::Debug for Vendor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Vendor")
            .field("name", &self.name)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
