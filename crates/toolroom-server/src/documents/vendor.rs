//! Model vendors and their models.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::model::{ModelFacts, Price};
use toolroom_models::directory::{Directory, Vendor};
use toolroom_models::vendor::{Known, KnownModel, ModelName, WireKind, known_models};

use crate::config::Config;

/// Configured models.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Models")]
pub(crate) struct ModelsDocument<'a> {
    /// Default model.
    #[schemars(with = "Option<String>")]
    pub(crate) model: Option<ModelName>,
    /// The configured chain of models, in order.
    #[schemars(with = "Vec<String>")]
    pub(crate) chain: Vec<ModelName>,
    /// Vendors.
    pub(crate) vendors: Vec<ListedVendor<'a>>,
}

impl<'a> ModelsDocument<'a> {
    /// `all` includes vendors that are not configured.
    pub(crate) fn of(config: &Config, directory: &'a Directory, all: bool) -> Self {
        let chain = config.model.clone().unwrap_or_default().0;
        let model = chain.first().cloned().or_else(|| directory.default_model());
        let vendors = directory.vendors().iter().filter(|vendor| all || vendor.is_configured());
        Self { model, chain, vendors: vendors.map(ListedVendor::of).collect() }
    }
}

/// A model vendor.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Vendor")]
pub(crate) struct ListedVendor<'a> {
    /// Name in the configuration.
    pub(crate) name: &'a str,
    /// Display name.
    pub(crate) title: &'a str,
    /// Whether it is configured.
    pub(crate) configured: bool,
    /// Whether its models run on this machine.
    pub(crate) local: bool,
    /// Protocol.
    pub(crate) wire: Option<&'static str>,
    /// Base URL.
    pub(crate) base_url: Option<String>,
    /// Source of the API key.
    pub(crate) key_from: Option<&'a str>,
    /// Why it cannot be used.
    pub(crate) problem: Option<String>,
    /// Its default model.
    #[schemars(with = "Option<String>")]
    pub(crate) model: Option<ModelName>,
    /// Known models.
    pub(crate) models: Vec<ListedModel<'a>>,
}

/// A model, with prices in US dollars per million tokens.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Model")]
pub(crate) struct ListedModel<'a> {
    /// Name.
    pub(crate) name: &'a str,
    /// Context window in tokens.
    pub(crate) window: u64,
    /// Maximum output tokens.
    pub(crate) max_output: Option<u32>,
    /// Price.
    pub(crate) price: Option<Price>,
    /// Whether it supports tools.
    pub(crate) tools: bool,
    /// Whether it supports images.
    pub(crate) images: bool,
    /// Whether it is a reasoning model.
    pub(crate) reasoning: bool,
}

impl<'a> ListedVendor<'a> {
    fn of(vendor: &'a Vendor) -> Self {
        let known = known_models().iter().filter(|known| known.vendor == vendor.name());
        Self {
            name: vendor.name(),
            title: vendor.title(),
            configured: vendor.is_configured(),
            local: vendor.is_local(),
            wire: vendor.wire().map(WireKind::as_str),
            base_url: vendor.base_url().map(|url| url.to_string()),
            key_from: vendor.key_from(),
            problem: vendor.problem().map(|problem| with_causes(&problem)),
            model: vendor.default_model(),
            models: known.map(ListedModel::of).collect(),
        }
    }
}

impl<'a> ListedModel<'a> {
    fn of(known: &'a KnownModel) -> Self {
        let Known { facts, reasoning, .. } = known.known();
        let ModelFacts { window, max_output, price, tools, images, .. } = facts;
        Self { name: &known.name, window, max_output, price, tools, images, reasoning }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |&source| source.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
