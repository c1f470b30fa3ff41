//! Vendor presets from `presets.toml`.

use std::sync::LazyLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::openai_chat::OpenAiChat;
use crate::openai_responses::OpenAiResponses;
use crate::wire::{Quirks, Wire};

/// The presets in the order of preference.
const FILE: &str = include_str!("presets.toml");

static PRESETS: LazyLock<Vec<VendorPreset>> = LazyLock::new(|| read(FILE).unwrap_or_default());

/// All presets in the order of preference.
#[must_use]
pub fn presets() -> &'static [VendorPreset] {
    &PRESETS
}

/// The vendor of this name.
#[must_use]
pub fn preset(name: &str) -> Option<&'static VendorPreset> {
    presets().iter().find(|preset| preset.name == name)
}

fn read(text: &str) -> Result<Vec<VendorPreset>, toml::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct PresetsFile {
        vendor: Vec<VendorPreset>,
    }
    toml::from_str::<PresetsFile>(text).map(|file| file.vendor)
}

/// One vendor.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VendorPreset {
    /// Its name in `vendor/model`.
    pub name: String,
    /// Its display name.
    pub title: String,
    /// Its wire format.
    pub wire: WireKind,
    /// The wire format at another address, which is probably a compatible server.
    #[serde(default)]
    pub wire_elsewhere: Option<WireKind>,
    /// Its base URL; absent if it must be set.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The path that follows a bare host.
    pub version_path: String,
    /// How it authenticates.
    pub auth: Auth,
    /// The environment variables for its key, in this order.
    #[serde(default)]
    pub key_variables: Vec<String>,
    /// The environment variables for its address.
    #[serde(default)]
    pub url_variables: Vec<String>,
    /// Runs on the operator's own machine: needs no key and may be slow.
    #[serde(default)]
    pub local: bool,
    /// The port of an address without port and scheme.
    #[serde(default)]
    pub port: Option<u16>,
    /// The default version of the API, if one is required.
    #[serde(default)]
    pub api_version: Option<String>,
    /// The environment variables for that version.
    #[serde(default)]
    pub version_variables: Vec<String>,
    /// The default model.
    #[serde(default)]
    pub model: Option<String>,
    /// The names that routers use for it.
    #[serde(default)]
    pub makers: Vec<String>,
    /// The context window of unknown models, in tokens.
    #[serde(default)]
    pub window: Option<u64>,
    /// Advice if it cannot be reached.
    #[serde(default)]
    pub hint: Option<String>,
    /// Its quirks.
    #[serde(default)]
    pub quirks: Quirks,
    /// The quirks at another address.
    #[serde(default)]
    pub quirks_elsewhere: Option<Quirks>,
}

/// A wire format by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireKind {
    /// OpenAI's Chat Completions.
    OpenaiChat,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

impl WireKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini];

    /// The wire itself.
    #[must_use]
    pub fn wire(self) -> &'static dyn Wire {
        match self {
            Self::OpenaiChat => &OpenAiChat,
            Self::OpenaiResponses => &OpenAiResponses,
            Self::Anthropic => &Anthropic,
            Self::Gemini => &Gemini,
        }
    }

    /// The name used in configuration.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai_chat",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }
}

/// The authentication of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// `Authorization: Bearer`.
    Bearer,
    /// `x-api-key`, with the version of the API beside it.
    Anthropic,
    /// `x-goog-api-key`.
    Google,
    /// `api-key`, with the version of the API in the query.
    Azure,
}

/// Idle timeouts of a vendor, of a reasoning model, and of a local server that may have to load the model first.
const IDLE: Duration = Duration::from_secs(60);
const THINKING: Duration = Duration::from_secs(300);
const LOADING: Duration = Duration::from_secs(600);

impl VendorPreset {
    /// The idle timeout of a model of this vendor.
    #[must_use]
    pub const fn idle(&self, reasons: bool) -> Duration {
        match (self.local, reasons) {
            (true, _) => LOADING,
            (false, true) => THINKING,
            (false, false) => IDLE,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::vendor::name::is_vendor;
    use crate::vendor::{BaseUrl, ModelName};

    #[test]
    fn the_file_can_be_read_and_makes_sense() {
        let presets = read(FILE).unwrap();
        let names: BTreeSet<&str> = presets.iter().map(|preset| preset.name.as_str()).collect();
        assert_eq!(names.len(), presets.len(), "a vendor is there twice");
        for preset in &presets {
            let name = &preset.name;
            assert!(is_vendor(name), "{name}");
            assert!(preset.version_path.starts_with('/') && !preset.version_path.ends_with('/'), "{name}");
            if let Some(url) = &preset.base_url {
                let read = BaseUrl::read(url, preset, preset.wire).unwrap();
                assert_eq!(read.as_str(), url, "{name} is written as it is used");
            }
            if let Some(model) = &preset.model {
                ModelName::new(name, model).unwrap();
            }
            assert!(preset.local || !preset.key_variables.is_empty(), "{name} has no variable for its key");
            assert_eq!(
                preset.auth == Auth::Azure || preset.auth == Auth::Anthropic,
                preset.api_version.is_some(),
                "{name}"
            );
            for variable in
                preset.key_variables.iter().chain(&preset.url_variables).chain(&preset.version_variables)
            {
                assert!(variable.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{variable}");
            }
        }
    }

    #[test]
    fn all_documented_vendors_exist() {
        for name in [
            "openai",
            "anthropic",
            "gemini",
            "openrouter",
            "groq",
            "deepseek",
            "mistral",
            "xai",
            "together",
            "fireworks",
            "cerebras",
            "ollama",
            "lmstudio",
            "llamacpp",
            "vllm",
            "azure",
            "custom",
        ] {
            assert!(preset(name).is_some(), "{name}");
        }
    }

    #[test]
    fn reasoning_and_local_models_have_longer_idle_timeouts() {
        assert_eq!(preset("openai").unwrap().idle(false), Duration::from_secs(60));
        assert!(preset("openai").unwrap().idle(true) > Duration::from_secs(60));
        assert!(preset("ollama").unwrap().idle(false) > Duration::from_secs(300));
    }
}
