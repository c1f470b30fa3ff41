//! Models as they are configured: which one answers, and where their vendors are.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json, to_value};
use toolroom_models::vendor::{ModelName, ModelNameError, WireKind};

use super::effective::Setting;
use super::toml_text::joined;
use super::{KeyPlace, Origin, Span};

/// Each is asked when the one before it fails.
const MAX_MODELS: usize = 8;

/// The model that answers, or several: the next one answers when one fails.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct ModelChain(pub Vec<ModelName>);

/// One name or a list of them.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    One(String),
    Several(Vec<String>),
}

impl TryFrom<Written> for ModelChain {
    type Error = ModelNameError;

    fn try_from(written: Written) -> Result<Self, ModelNameError> {
        let texts = match written {
            Written::One(text) => vec![text],
            Written::Several(texts) => texts,
        };
        texts.iter().map(|text| text.parse()).collect::<Result<_, _>>().map(Self)
    }
}

impl From<ModelChain> for Written {
    fn from(chain: ModelChain) -> Self {
        match chain.0.as_slice() {
            [one] => Self::One(one.to_string()),
            several => Self::Several(several.iter().map(ToString::to_string).collect()),
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

/// `[vendor.<name>]`: what differs from what is known about a vendor, or a vendor of one's own. What is absent comes
/// from the usual variables, such as `OPENAI_API_KEY`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VendorKeys {
    /// The known vendor that one of another name works like; `custom`, which is OpenAI-compatible, if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Where it is, with or without `/v1`. The address may be a private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Where its key is: `secret:NAME` for what `toolroom secrets` keeps, or `$VARIABLE`. Never the key itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyPlace>,
    /// The model to begin with, in the vendor's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<VendorWire>,
    /// The version of its API, where one has to be named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// How long it may send nothing before it counts as gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-least" = "1s", "x-most" = "1h"))]
    pub silence: Option<Span>,
    /// How many tokens its models read and write together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1_000, max = 100_000_000))]
    pub window: Option<u32>,
}

/// What a vendor speaks.
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

/// What one layer says about a vendor. Later ones count where two say the same.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigVendor {
    /// Its name.
    pub vendor: String,
    /// What is said.
    pub keys: VendorKeys,
    /// Where it was said.
    pub origin: Origin,
}

impl ConfigVendor {
    /// Whether a vendor may be called so.
    pub(super) fn is_name(name: &str) -> bool {
        ModelName::new(name, "m").is_ok_and(|model| model.vendor() == name)
    }

    /// What it says, a setting for each key.
    pub(super) fn settings(&self) -> Vec<Setting> {
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

/// What all layers say, without what a later one replaces.
pub(super) fn settings(vendors: &[ConfigVendor]) -> Vec<Setting> {
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
