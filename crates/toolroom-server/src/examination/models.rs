//! Who answers where nobody says otherwise. Nothing is sent.

use toolroom::redact::Secret;
use toolroom_models::vendor::ModelName;

use super::facts::ModelFacts;
use super::gather::told;
use crate::config::Config;
use crate::models::directory_of;

pub(super) fn look(config: &Config, secrets: &[Secret]) -> ModelFacts {
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
            Err(error) => facts.troubles.push((name.to_string(), told(error))),
        }
        facts.asked.push(name.to_string());
    }
    let broken = directory.configured().filter(|vendor| facts.asked.is_empty() && vendor.problem().is_some());
    facts
        .troubles
        .extend(broken.filter_map(|vendor| Some((vendor.name().to_owned(), vendor.problem()?.to_string()))));
    facts
}
