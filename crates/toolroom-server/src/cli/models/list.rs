//! Vendors, where their keys come from, and their models.

use toolroom_models::directory::Directory;

use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, GREEN, Output, YELLOW, table, visible};
use crate::documents::{ListedModel, ListedVendor, ModelsDocument};

pub(super) fn list(app: &App, directory: &Directory, all: bool, output: Output) -> anyhow::Result<Exit> {
    let document = ModelsDocument::of(&app.config.config, directory, all);
    if output.is_json() {
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let ModelsDocument { model: first, vendors: listed, .. } = document;
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

fn rows(vendor: &ListedVendor<'_>) -> Vec<Vec<String>> {
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
