//! Vendor settings of an operator, and those from environment variables.

use std::collections::BTreeMap;
use std::time::Duration;

use toolroom::redact::Secret;

use crate::vendor::{VendorPreset, WireKind, presets};

/// A value and its source, for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given<T> {
    /// The value.
    pub value: T,
    /// The source: `$OPENAI_API_KEY`, a file.
    pub from: String,
}

/// A vendor's key.
#[derive(Debug, Clone)]
pub enum KeySetting {
    /// The key.
    Given(Given<Secret>),
    /// The key is missing at its source; says what to do.
    Missing(String),
}

/// The operator's settings of a vendor.
#[derive(Debug, Clone, Default)]
pub struct VendorSettings {
    /// The preset it follows, if none has its name; `custom` if absent.
    pub like: Option<String>,
    /// Its base URL.
    pub base_url: Option<Given<String>>,
    /// Its key.
    pub key: Option<KeySetting>,
    /// The default model.
    pub model: Option<String>,
    /// Its wire format.
    pub wire: Option<WireKind>,
    /// The version of its API.
    pub api_version: Option<String>,
    /// The idle timeout.
    pub idle: Option<Duration>,
    /// The window of its models.
    pub window: Option<u64>,
}

impl VendorSettings {
    /// These settings, with absent ones from `weaker`.
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

/// The settings from well-known environment variables, by vendor.
#[must_use]
pub fn from_variables(look: impl Fn(&str) -> Option<String>) -> BTreeMap<String, VendorSettings> {
    let find = |names: &[String]| {
        let found = |name: &String| Some(Given { value: look(name)?, from: format!("${name}") });
        names.iter().find_map(found)
    };
    let settings = |preset: &VendorPreset| {
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
