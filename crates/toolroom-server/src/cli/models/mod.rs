//! `toolroom models`: who can be asked, and whether they answer.

mod remedy;
mod trial;

use clap::{Args, Subcommand};
use toolroom::scope::Scope;
use toolroom_models::directory::Directory;
use toolroom_models::vendor::ModelName;

use super::console::exit::{Exit, Usage};
use super::console::output::{BOLD, DIM, GREEN, Output, YELLOW, table, visible};
use crate::app::App;
use crate::documents::{ListedModel, ListedVendor, ModelsDocument};
use crate::models::directory;

pub(super) use remedy::remedy;

const EXAMPLES: &str = "\
Examples:
  OPENAI_API_KEY=… toolroom models                   who can be asked, and what it costs
  toolroom models test anthropic/claude-opus-5-5     one short question
  toolroom models test ollama/qwen3                  a model on this machine";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// List vendors, where their keys come from, and their models
    List {
        /// Also vendors that are not set up
        #[arg(long)]
        all: bool,
    },
    /// Ask a model one short question
    Test {
        /// Vendor and model, such as openai/gpt-5.6-terra
        model: String,
    },
}

pub(super) async fn run(app: &App, scope: Scope, args: ModelsArgs, output: &Output) -> anyhow::Result<Exit> {
    let directory = directory(&app.config.config, &app.vault, &scope.project).await?;
    match args.action {
        None => list(app, &directory, false, *output),
        Some(Action::List { all }) => list(app, &directory, all, *output),
        Some(Action::Test { model }) => {
            let name: ModelName = model.parse().map_err(|error| Usage(format!("{error}")))?;
            trial::test(&directory.named([&name]), &name, *output).await
        }
    }
}

fn list(app: &App, directory: &Directory, all: bool, output: Output) -> anyhow::Result<Exit> {
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
