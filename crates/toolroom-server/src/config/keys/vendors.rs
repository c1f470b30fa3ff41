//! `model` and `[vendor.<name>]`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, to_value};
use toolroom_models::vendor::{ModelName, ModelNameError, WireKind};

use crate::config::effective::Setting;
use crate::config::text::toml::joined;
use crate::config::values::OneOrMany;
use crate::config::{Origin, SecretRef, Span};

/// Length limit of a fallback chain.
const MAX_MODELS: usize = 8;

/// A model, optionally followed by fallbacks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "OneOrMany", into = "OneOrMany")]
pub struct ModelChain(pub Vec<ModelName>);

impl TryFrom<OneOrMany> for ModelChain {
    type Error = ModelNameError;

    fn try_from(written: OneOrMany) -> Result<Self, ModelNameError> {
        let texts = match written {
            OneOrMany::One(text) => vec![text],
            OneOrMany::Many(texts) => texts,
        };
        texts.iter().map(|text| text.parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl From<ModelChain> for OneOrMany {
    fn from(chain: ModelChain) -> Self {
        match chain.0.as_slice() {
            [one] => Self::One(one.to_string()),
            several => Self::Many(several.iter().map(ToString::to_string).collect()),
        }
    }
}

impl JsonSchema for ModelChain {
    fn schema_name() -> Cow<'static, str> {
        "ModelChain".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let model = json!({ "type": "string", "format": "model", "pattern": "^[a-z0-9_-]+/." });
        json_schema!({ "anyOf": [model, { "type": "array", "items": model, "maxItems": MAX_MODELS }] })
    }
}

/// `[vendor.<name>]`: overrides for a known vendor, or a vendor of your own. Absent keys come from the usual
/// environment variables, such as `OPENAI_API_KEY`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VendorKeys {
    /// The known vendor whose settings to use. Default: `custom`, which is OpenAI-compatible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Base URL, with or without `/v1`. May be a private address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// API key: `secret:NAME` for a secret of `toolroom secrets`, or `$VARIABLE`. Never the key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<SecretRef>,
    /// Default model, by the vendor's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<VendorWire>,
    /// API version, if the vendor requires one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// Time limit without data from the vendor.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "1s", "x-most" = "1h"))]
    pub silence: Option<Span>,
    /// Context window of its models in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1_000, max = 100_000_000))]
    pub window: Option<u32>,
}

/// Protocol of a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VendorWire {
    /// OpenAI's Chat Completions.
    OpenaiChat,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's `generateContent`.
    Gemini,
}

impl From<VendorWire> for WireKind {
    fn from(wire: VendorWire) -> Self {
        match wire {
            VendorWire::OpenaiChat => Self::OpenaiChat,
            VendorWire::OpenaiResponses => Self::OpenaiResponses,
            VendorWire::Anthropic => Self::Anthropic,
            VendorWire::Gemini => Self::Gemini,
        }
    }
}

/// A vendor section of one layer. Later sections override earlier ones.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigVendor {
    /// Its name.
    pub vendor: String,
    /// The keys.
    pub keys: VendorKeys,
    /// Its origin.
    pub origin: Origin,
}

impl ConfigVendor {
    /// Whether this is a valid vendor name.
    pub(in crate::config) fn is_name(name: &str) -> bool {
        ModelName::new(name, "m").is_ok_and(|model| model.vendor() == name)
    }

    /// A setting for each key.
    pub(in crate::config) fn settings(&self) -> Vec<Setting> {
        let Ok(Value::Object(keys)) = to_value(&self.keys) else { return Vec::new() };
        let path = joined("vendor", &self.vendor);
        let setting = |(name, value): (&String, &Value)| Setting {
            key: joined(&path, name),
            value: value.clone(),
            origin: self.origin.clone(),
        };
        keys.iter().map(setting).collect()
    }
}

/// Settings of all sections, without replaced ones.
pub(in crate::config) fn settings(vendors: &[ConfigVendor]) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for setting in vendors.iter().flat_map(ConfigVendor::settings) {
        settings.retain(|earlier| earlier.key != setting.key);
        settings.push(setting);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_one_name_or_several() {
        let read = |value: Value| serde_json::from_value::<ModelChain>(value);
        assert_eq!(read(json!("openai/gpt-5")).unwrap().0.len(), 1);
        let several = json!(["openai/gpt-5", "ollama/qwen3"]);
        assert_eq!(to_value(read(several.clone()).unwrap()).unwrap(), several);
        assert!(read(json!(["gpt-5"])).is_err());
    }
}
