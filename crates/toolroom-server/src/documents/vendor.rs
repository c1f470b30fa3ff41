//! Vendors of models, where their keys come from, and their models.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::model::{ModelFacts, Price};
use toolroom_models::directory::{Directory, Vendor};
use toolroom_models::vendor::{Known, KnownModel, ModelName, WireKind, known_models};

use crate::config::Config;

/// Who can be asked.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Models")]
pub(crate) struct ModelsDocument<'a> {
    /// Who is asked where nobody says otherwise.
    #[schemars(with = "Option<String>")]
    pub(crate) model: Option<ModelName>,
    /// Who is asked next where one fails, in order.
    #[schemars(with = "Vec<String>")]
    pub(crate) chain: Vec<ModelName>,
    /// The vendors.
    pub(crate) vendors: Vec<ListedVendor<'a>>,
}

impl<'a> ModelsDocument<'a> {
    /// With `all`, vendors that are not set up are there too.
    pub(crate) fn of(config: &Config, directory: &'a Directory, all: bool) -> Self {
        let chain = config.model.clone().unwrap_or_default().0;
        let model = chain.first().cloned().or_else(|| directory.default_model());
        let vendors = directory.vendors().iter().filter(|vendor| all || vendor.is_configured());
        Self { model, chain, vendors: vendors.map(ListedVendor::of).collect() }
    }
}

/// A vendor, as it is listed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Vendor")]
pub(crate) struct ListedVendor<'a> {
    /// Its name in the configuration.
    pub(crate) name: &'a str,
    /// What people call it.
    pub(crate) title: &'a str,
    /// Whether it is set up.
    pub(crate) configured: bool,
    /// Whether its models run on this machine.
    pub(crate) local: bool,
    /// How it is spoken to.
    pub(crate) wire: Option<&'static str>,
    /// Where it is.
    pub(crate) base_url: Option<String>,
    /// Where its key comes from.
    pub(crate) key_from: Option<&'a str>,
    /// Why it cannot be asked.
    pub(crate) problem: Option<String>,
    /// Which of its models is asked where nobody says otherwise.
    #[schemars(with = "Option<String>")]
    pub(crate) model: Option<ModelName>,
    /// What is known about its models.
    pub(crate) models: Vec<ListedModel<'a>>,
}

/// What is known about a model, with prices in dollars per million tokens.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Model")]
pub(crate) struct ListedModel<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Tokens it reads.
    pub(crate) window: u64,
    /// Tokens it writes at most.
    pub(crate) max_output: Option<u32>,
    /// What it costs.
    pub(crate) price: Option<Price>,
    /// Whether it calls tools.
    pub(crate) tools: bool,
    /// Whether it sees images.
    pub(crate) images: bool,
    /// Whether it thinks first.
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
            problem: vendor.problem().map(|problem| told(&problem)),
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

fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |&source| source.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
