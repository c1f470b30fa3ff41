//! A vendor: a preset with the operator's settings.

use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use toolroom::redact::Secret;
use toolroom_host::net::{Client, EgressRule};

use super::error::OpenError;
use super::settings::{KeySetting, VendorSettings};
use crate::client::{Endpoint, egress_policy};
use crate::vendor::{BaseUrl, Known, ModelName, VendorPreset, WireKind};
use crate::wire::{Quirks, WireOptions};

/// Limit of output tokens for Anthropic, which requires one.
const DEFAULT_MAX_TOKENS: u32 = 32_000;

/// A vendor with the operator's settings.
pub struct Vendor {
    name: String,
    preset: Option<&'static VendorPreset>,
    settings: VendorSettings,
    is_set: bool,
    /// Whether the operator has named one of its models.
    is_named: bool,
    client: OnceLock<Client>,
}

impl Vendor {
    pub(super) fn new(
        name: &str,
        preset: Option<&'static VendorPreset>,
        settings: Option<VendorSettings>,
    ) -> Self {
        let is_set = settings.is_some();
        let settings = settings.unwrap_or_default();
        Self { name: name.to_owned(), preset, settings, is_set, is_named: false, client: OnceLock::new() }
    }

    pub(super) fn mark_named(&mut self) {
        self.is_named = true;
    }

    /// Its name in `vendor/model`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its display name.
    #[must_use]
    pub fn title(&self) -> &str {
        match self.preset {
            Some(preset) if preset.name == self.name => &preset.title,
            _ => &self.name,
        }
    }

    /// Whether it usually runs on the operator's own machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.preset.is_some_and(|preset| preset.local)
    }

    /// Whether the operator has configured it.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.is_set
    }

    /// Its base URL, if it is known and valid.
    #[must_use]
    pub fn base_url(&self) -> Option<BaseUrl> {
        self.base(self.preset?).ok()
    }

    /// Its wire format.
    #[must_use]
    pub fn wire(&self) -> Option<WireKind> {
        let preset = self.preset?;
        Some(self.wire_at(preset, &self.base(preset).ok()?))
    }

    /// The source of its key.
    #[must_use]
    pub fn key_from(&self) -> Option<&str> {
        match &self.settings.key {
            Some(KeySetting::Given(key)) => Some(&key.from),
            Some(KeySetting::Missing(_)) | None => None,
        }
    }

    /// Its key, for redaction.
    #[must_use]
    pub fn key(&self) -> Option<&Secret> {
        match &self.settings.key {
            Some(KeySetting::Given(key)) => Some(&key.value),
            Some(KeySetting::Missing(_)) | None => None,
        }
    }

    /// Its default model.
    #[must_use]
    pub fn default_model(&self) -> Option<ModelName> {
        let own =
            self.preset.filter(|preset| preset.name == self.name).and_then(|preset| preset.model.as_deref());
        ModelName::new(&self.name, self.settings.model.as_deref().or(own)?).ok()
    }

    /// Why its models cannot be opened.
    #[must_use]
    pub fn problem(&self) -> Option<OpenError> {
        self.endpoint().err()
    }

    pub(super) fn preset(&self) -> Result<&'static VendorPreset, OpenError> {
        self.preset.ok_or_else(|| OpenError::NoPreset {
            name: self.name.clone(),
            like: self.settings.like.clone().unwrap_or_default(),
        })
    }

    fn base(&self, preset: &VendorPreset) -> Result<BaseUrl, OpenError> {
        let title = || self.title().to_owned();
        let wire = self.settings.wire.unwrap_or(preset.wire);
        // An added vendor must not send its key to the address of the preset it follows.
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

    /// Whether its address differs from its preset's.
    fn has_own_address(preset: &VendorPreset, base: &BaseUrl) -> bool {
        let own = preset.base_url.as_deref().and_then(|own| BaseUrl::read(own, preset, preset.wire).ok());
        own.is_none_or(|own| !own.is_same_origin(base))
    }

    fn wire_at(&self, preset: &VendorPreset, base: &BaseUrl) -> WireKind {
        let elsewhere = preset.wire_elsewhere.filter(|_| Self::has_own_address(preset, base));
        self.settings.wire.or(elsewhere).unwrap_or(preset.wire)
    }

    pub(super) fn endpoint(&self) -> Result<Endpoint, OpenError> {
        let preset = self.preset()?;
        let base = self.base(preset)?;
        let key = match &self.settings.key {
            Some(KeySetting::Given(key)) => Some(key.value.clone()),
            Some(KeySetting::Missing(why)) => {
                return Err(OpenError::KeyMissing { title: self.title().to_owned(), why: why.clone() });
            }
            None if preset.local && !(self.is_set || self.is_named) => {
                return Err(OpenError::NotSetUp {
                    name: self.name.clone(),
                    title: self.title().to_owned(),
                    base: base.to_string(),
                    variable: preset.url_variables.first().cloned().unwrap_or_default(),
                });
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
        if key.is_some() && base.is_unencrypted() {
            let from = self.settings.base_url.as_ref().map_or("the presets", |given| &given.from);
            return Err(OpenError::Unencrypted { title: self.title().to_owned(), from: from.to_owned() });
        }
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

    /// The idle timeout of its models.
    pub(super) fn idle(&self, preset: &VendorPreset, known: &Known) -> Duration {
        self.settings.idle.unwrap_or_else(|| preset.idle(known.reasoning))
    }

    /// The HTTP client, which all its models share.
    pub(super) fn client(&self, preset: &VendorPreset, endpoint: &Endpoint) -> Client {
        self.client.get_or_init(|| Client::new(egress_policy(self.opening(preset, endpoint)))).clone()
    }

    /// The egress rule for a configured or local address; none for the public default.
    fn opening<'e>(&self, preset: &VendorPreset, endpoint: &'e Endpoint) -> Option<&'e EgressRule> {
        let is_own = self.settings.base_url.is_some() || preset.local;
        endpoint.base.opening().filter(|_| is_own)
    }

    pub(super) fn known(&self, preset: &VendorPreset, model: &str) -> Known {
        let mut known = Known::for_model(preset, model);
        known.facts.window = self.settings.window.unwrap_or(known.facts.window);
        known
    }

    pub(super) fn options(
        &self,
        preset: &VendorPreset,
        endpoint: &Endpoint,
        known: &Known,
        model: &str,
    ) -> WireOptions {
        let elsewhere =
            preset.quirks_elsewhere.as_ref().filter(|_| Self::has_own_address(preset, &endpoint.base));
        let quirks = elsewhere.unwrap_or(&preset.quirks).clone();
        let most = known.facts.max_output.map(|most| most.min(DEFAULT_MAX_TOKENS));
        let quirks = Quirks {
            no_temperature: quirks.no_temperature || known.no_temperature,
            no_encrypted_reasoning: quirks.no_encrypted_reasoning || !known.reasoning,
            default_max_tokens: quirks.default_max_tokens.or(most),
            ..quirks
        };
        // Opaque parts of one wire format are useless in another.
        let owner = match endpoint.wire == preset.wire {
            true => self.name.clone(),
            false => format!("{}:{}", self.name, endpoint.wire.as_str()),
        };
        WireOptions { model: model.to_owned(), owner: owner.into(), quirks }
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
