//! The checks `provider` and `context`: the default models and their context window. Sends nothing.

use toolroom::redact::Secret;
use toolroom_models::vendor::ModelName;
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::{NOT_CONFIGURED, not_examined, one};
use crate::config::Config;
use crate::doctor::gather::one_line;
use crate::models::directory_of;

/// The default models.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ModelFacts {
    /// In order. Empty if none is configured: the offline model answers.
    pub(crate) asked: Vec<String>,
    /// The context window of the first usable one, in tokens.
    pub(crate) window: Option<u64>,
    /// Unusable models or vendors, and why.
    pub(crate) troubles: Vec<(String, String)>,
}

pub(crate) fn gather(config: &Config, secrets: &[Secret]) -> ModelFacts {
    let directory = directory_of(config, secrets);
    let chain = config.model.clone().unwrap_or_default().0;
    let asked: Vec<ModelName> = match (chain.is_empty(), directory.configured().next()) {
        (false, _) => chain,
        (true, Some(_)) => directory.default_model().into_iter().collect(),
        (true, None) => Vec::new(),
    };
    let mut facts = ModelFacts::default();
    for name in asked {
        match directory.open(&name) {
            Ok(opened) => facts.window = facts.window.or(Some(opened.known.facts.window)),
            Err(error) => facts.troubles.push((name.to_string(), one_line(error))),
        }
        facts.asked.push(name.to_string());
    }
    let broken = directory.configured().filter(|vendor| facts.asked.is_empty() && vendor.problem().is_some());
    facts
        .troubles
        .extend(broken.filter_map(|vendor| Some((vendor.name().to_owned(), vendor.problem()?.to_string()))));
    facts
}

pub(crate) fn provider(models: Option<&ModelFacts>) -> Check {
    let Some(models) = models else { return not_examined("config") };
    let found = models.troubles.iter().map(|(name, why)| {
        let details = format!("`{name}` cannot be used: {why}");
        Finding::warning("provider.not_set_up", details, "toolroom models list")
    });
    let asked: Vec<String> = models.asked.iter().map(|name| format!("`{name}`")).collect();
    let details = match asked.is_empty() {
        true => NOT_CONFIGURED.to_owned(),
        false => format!("default: {}", asked.join(", then ")),
    };
    Check::new(details, found.collect())
}

pub(crate) fn context(models: Option<&ModelFacts>) -> Check {
    let Some(models) = models else { return not_examined("config") };
    one(Finding::ok(match models.window {
        Some(window) => format!("window of {window} tokens; conversations are compacted at 70 % of it"),
        None => NOT_CONFIGURED.to_owned(),
    }))
}
