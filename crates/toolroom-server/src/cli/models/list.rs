//! Vendors, where their keys come from, and their models.

use serde::Serialize;
use serde_json::json;
use toolroom::model::{ModelFacts, Price};
use toolroom_models::directory::{Directory, Vendor};
use toolroom_models::vendor::{Known, KnownModel, ModelName, WireKind, known_models};

use crate::app::App;
use crate::cli::exit::Exit;
use crate::cli::output::{BOLD, DIM, GREEN, Output, YELLOW, table, visible};

/// A vendor, as it is listed.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    title: &'a str,
    configured: bool,
    local: bool,
    wire: Option<&'static str>,
    base_url: Option<String>,
    key_from: Option<&'a str>,
    problem: Option<String>,
    model: Option<ModelName>,
    models: Vec<ListedModel<'a>>,
}

/// What is known about a model, with prices in dollars per million tokens.
#[derive(Serialize)]
struct ListedModel<'a> {
    name: &'a str,
    window: u64,
    max_output: Option<u32>,
    price: Option<Price>,
    tools: bool,
    images: bool,
    reasoning: bool,
}

impl<'a> Listed<'a> {
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
            model: vendor.usual(),
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

pub(super) fn list(app: &App, directory: &Directory, all: bool, output: Output) -> anyhow::Result<Exit> {
    let chain = app.config.config.model.clone().unwrap_or_default().0;
    let first = chain.first().cloned().or_else(|| directory.usual());
    let listed: Vec<Listed<'_>> =
        directory.vendors().iter().filter(|vendor| all || vendor.is_configured()).map(Listed::of).collect();
    if output.is_json() {
        output.document(&json!({ "model": first, "chain": chain, "vendors": listed }))?;
        return Ok(Exit::Done);
    }
    if listed.is_empty() {
        output.talk(
            "no vendor is set up, so the offline model answers; set a key such as OPENAI_API_KEY, ANTHROPIC_API_KEY or \
             GEMINI_API_KEY, or OLLAMA_HOST for models of your own; `toolroom models list --all` shows who is known",
        );
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = listed.iter().flat_map(rows).collect();
    output.data(&table(&rows))?;
    match first {
        Some(model) => {
            output.hint(&format!("asked where nobody says otherwise: {}", visible(model.as_str())));
        }
        None => output.hint("no model is asked by default; set `model` in toolroom.toml"),
    }
    Ok(Exit::Done)
}

fn rows(vendor: &Listed<'_>) -> Vec<Vec<String>> {
    let state = match (&vendor.problem, vendor.key_from) {
        (Some(problem), _) => format!("{YELLOW}{}{YELLOW:#}", visible(problem)),
        (None, Some(from)) => format!("{GREEN}key from {}{GREEN:#}", visible(from)),
        (None, None) => format!("{GREEN}no key needed{GREEN:#}"),
    };
    let url = visible(vendor.base_url.as_deref().unwrap_or("-"));
    let head = vec![format!("{BOLD}{}{BOLD:#}  {url}  {state}", visible(vendor.name))];
    let model = |model: &ListedModel<'_>| {
        let price = match &model.price {
            Some(price) => format!("${} in, ${} out per million", price.input, price.output),
            None => "price unknown".to_owned(),
        };
        vec![
            format!("  {}", visible(model.name)),
            format!("{DIM}{} tokens{DIM:#}", model.window),
            format!("{DIM}{price}{DIM:#}"),
        ]
    };
    std::iter::once(head).chain(vendor.models.iter().map(model)).collect()
}
