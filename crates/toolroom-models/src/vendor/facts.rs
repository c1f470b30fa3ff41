//! Facts about models from `models.toml`, and assumptions about unknown ones.

use std::sync::LazyLock;

use serde::Deserialize;
use toolroom::model::{ModelFacts, Price};

use super::preset::{VendorPreset, presets};

const FILE: &str = include_str!("models.toml");

/// The window of an unknown local model. Local servers truncate longer conversations silently.
const UNKNOWN_LOCAL_WINDOW: u64 = 8_000;

static MODELS: LazyLock<Vec<KnownModel>> = LazyLock::new(|| read(FILE).unwrap_or_default());

/// The known models in the order of their vendors.
#[must_use]
pub fn known_models() -> &'static [KnownModel] {
    &MODELS
}

/// What is known about a model, for conversations and for its wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The facts for conversations.
    pub facts: ModelFacts,
    /// Whether it reasons.
    pub reasoning: bool,
    /// Whether it rejects a temperature.
    pub no_temperature: bool,
    /// Whether all of this is assumed. Then everything is tried, and an error that names the window
    /// ([`toolroom::model::ModelError::window`]) corrects it.
    pub assumed: bool,
}

/// A model, or several with a common name prefix.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about a model, and none follows from another"
)]
pub struct KnownModel {
    /// Its vendor.
    pub vendor: String,
    /// The name prefix. A date, a word or a tag may follow, but no other version.
    pub name: String,
    /// The context window.
    pub window: u64,
    /// The limit of output tokens.
    #[serde(default)]
    pub max_output: Option<u32>,
    #[serde(default)]
    price: Option<Price>,
    #[serde(default = "yes")]
    tools: bool,
    #[serde(default)]
    images: bool,
    #[serde(default)]
    reasoning: bool,
    #[serde(default)]
    no_temperature: bool,
}

const fn yes() -> bool {
    true
}

fn read(text: &str) -> Result<Vec<KnownModel>, toml::de::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ModelsFile {
        model: Vec<KnownModel>,
    }
    toml::from_str::<ModelsFile>(text).map(|file| file.model)
}

impl Known {
    /// What is known about a model of this vendor.
    #[must_use]
    pub fn for_model(preset: &VendorPreset, model: &str) -> Self {
        if preset.local {
            let mut local = Self::assumed(preset.window.unwrap_or(UNKNOWN_LOCAL_WINDOW));
            local.facts.price = Some(Price::FREE);
            return local;
        }
        let listed = find(&preset.name, model).or_else(|| made_elsewhere(model));
        let mut known = match listed {
            Some(listed) => listed.known(),
            None => Self::assumed(preset.window.unwrap_or(ModelFacts::UNKNOWN.window)),
        };
        // Routers mark free models.
        if model.ends_with(":free") {
            known.facts.price = Some(Price::FREE);
        }
        known
    }

    fn assumed(window: u64) -> Self {
        Self {
            facts: ModelFacts { window, images: true, ..ModelFacts::UNKNOWN },
            reasoning: false,
            no_temperature: false,
            assumed: true,
        }
    }
}

impl KnownModel {
    /// What is known about it.
    #[must_use]
    pub fn known(&self) -> Known {
        Known {
            facts: ModelFacts {
                window: self.window,
                max_output: self.max_output,
                price: self.price,
                tools: self.tools,
                images: self.images,
                on_device: false,
            },
            reasoning: self.reasoning,
            no_temperature: self.no_temperature,
            assumed: false,
        }
    }

    fn is(&self, vendor: &str, model: &str) -> bool {
        self.vendor == vendor && spelt(model).strip_prefix(&spelt(&self.name)).is_some_and(is_variant)
    }
}

fn find(vendor: &str, model: &str) -> Option<&'static KnownModel> {
    known_models().iter().filter(|known| known.is(vendor, model)).max_by_key(|known| known.name.len())
}

/// A router's `maker/model`.
fn made_elsewhere(model: &str) -> Option<&'static KnownModel> {
    let (maker, model) = model.split_once('/')?;
    let preset = presets().iter().find(|preset| preset.makers.iter().any(|known| known == maker))?;
    find(&preset.name, model)
}

/// Routers write `4.5` where a maker writes `4-5`.
fn spelt(name: &str) -> String {
    name.to_ascii_lowercase().replace('.', "-")
}

/// Whether what follows a name is still the same model: a date or a revision, a word, a tag. A short number is another
/// version, or a size.
fn is_variant(rest: &str) -> bool {
    if rest.is_empty() || rest.starts_with([':', '@']) {
        return true;
    }
    let Some(rest) = rest.strip_prefix('-') else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits == 0 || digits >= 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vendor::preset;

    fn known(vendor: &str, model: &str) -> Known {
        Known::for_model(preset(vendor).unwrap(), model)
    }

    fn facts(vendor: &str, model: &str) -> ModelFacts {
        known(vendor, model).facts
    }

    fn input_price(vendor: &str, model: &str) -> String {
        facts(vendor, model).price.unwrap().input.to_string()
    }

    #[test]
    fn the_file_can_be_read_and_makes_sense() {
        let models = read(FILE).unwrap();
        for (at, model) in models.iter().enumerate() {
            let name = format!("{}/{}", model.vendor, model.name);
            let preset = preset(&model.vendor).unwrap_or_else(|| panic!("{name}: no such vendor"));
            assert!(!preset.local, "{name}: unused window");
            assert!((4_000..=20_000_000).contains(&model.window), "{name}");
            assert!(model.max_output.is_none_or(|most| u64::from(most) <= model.window), "{name}");
            let twice = |other: &KnownModel| other.vendor == model.vendor && other.name == model.name;
            assert!(!models[..at].iter().any(twice), "{name} is there twice");
            let Some(price) = model.price else { continue };
            for part in [Some(price.input), Some(price.output), price.cache_read, price.cache_write] {
                let Some(part) = part else { continue };
                assert!((0.0..1_000.0).contains(&part), "{name}: {part}");
                assert!((part * 1_000.0 - (part * 1_000.0).round()).abs() < 1e-6, "{name}: {part}");
            }
            assert!(price.cache_read.is_none_or(|read| read <= price.input), "{name}");
        }
    }

    #[test]
    fn every_vendors_first_model_is_known() {
        for preset in presets() {
            if let Some(model) = &preset.model {
                let routed = preset.name == "openrouter";
                assert!(routed || !Known::for_model(preset, model).assumed, "{}/{model}", preset.name);
            }
        }
    }

    #[test]
    fn a_date_or_a_word_is_the_same_model_and_another_version_is_not() {
        assert_eq!(facts("openai", "gpt-5-2025-08-07").window, 400_000);
        assert_eq!(input_price("openai", "gpt-4o-mini"), "0.15");
        assert_eq!(input_price("openai", "gpt-4o-2024-11-20"), "2.5");
        assert!(known("openai", "gpt-5.99").assumed);
        assert!(known("openai", "gpt-50").assumed);
        assert_eq!(facts("anthropic", "claude-sonnet-4-20250514").window, 200_000);
        assert_eq!(facts("anthropic", "claude-sonnet-4-6").window, 1_000_000);
    }

    #[test]
    fn a_router_knows_what_the_maker_knows() {
        let (direct, routed) =
            (known("anthropic", "claude-haiku-4-5"), known("openrouter", "anthropic/claude-haiku-4.5"));
        assert_eq!(direct, routed);
        assert!(!routed.assumed);
        assert_eq!(facts("openrouter", "openai/gpt-4o-mini:free").price, Some(Price::FREE));
    }

    #[test]
    fn little_is_assumed_about_an_unknown_model() {
        assert_eq!(facts("together", "who/knows").window, 32_000);
        assert_eq!(facts("ollama", "qwen3:4b").window, 8_000);
        assert_eq!(facts("ollama", "qwen3:4b").price, Some(Price::FREE));
        assert_eq!(facts("anthropic", "claude-next-9").window, 200_000);
        let unknown = known("groq", "new");
        assert!(unknown.assumed && unknown.facts.tools && unknown.facts.images);
        assert_eq!(unknown.facts.price, None);
    }
}
