//! `toolroom models`: lists vendors and models, and tests a model.

mod test;

use clap::{Args, Subcommand};
use toolroom::scope::Scope;
use toolroom_models::directory::Directory;
use toolroom_models::vendor::ModelName;

use super::console::exit::{Exit, Usage};
use super::console::output::{BOLD, DIM, GREEN, Output, YELLOW, table, visible};
use crate::app::App;
use crate::documents::{ListedModel, ListedVendor, ModelsDocument};
use crate::models::directory;

pub(super) use test::remedy;

const EXAMPLES: &str = "\
Examples:
  OPENAI_API_KEY=… toolroom models                   list models with prices
  toolroom models test anthropic/claude-opus-5-5     ask it a short question
  toolroom models test ollama/qwen3                  test a local model";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ModelsArgs {
    #[command(subcommand)]
    command: Option<ModelsCommand>,
}

#[derive(Subcommand)]
enum ModelsCommand {
    /// List vendors with their models and where the API keys come from
    List {
        /// Include vendors without a key
        #[arg(long)]
        all: bool,
    },
    /// Test a model with a short question
    Test {
        /// Model as vendor/model, e.g. openai/gpt-5.6-terra
        model: String,
    },
}

pub(super) async fn run(app: &App, scope: Scope, args: ModelsArgs, output: &Output) -> anyhow::Result<Exit> {
    let directory = directory(&app.config.config, &app.vault, &scope.project).await?;
    match args.command {
        None => list(app, &directory, false, *output),
        Some(ModelsCommand::List { all }) => list(app, &directory, all, *output),
        Some(ModelsCommand::Test { model }) => {
            let name: ModelName = model.parse().map_err(|error| Usage(format!("{error}")))?;
            test::run(&directory.named([&name]), &name, *output).await
        }
    }
}

fn list(app: &App, directory: &Directory, all: bool, output: Output) -> anyhow::Result<Exit> {
    let document = ModelsDocument::of(&app.config.config, directory, all);
    if output.is_json() {
        output.document(&document)?;
        return Ok(Exit::Done);
    }
    let ModelsDocument { model: default, vendors: listed, .. } = document;
    if listed.is_empty() {
        output.talk(
            "No vendor configured: using the built-in offline mode; set a key such as OPENAI_API_KEY, ANTHROPIC_API_KEY or \
             GEMINI_API_KEY, or OLLAMA_HOST for local models; `toolroom models list --all` shows all vendors",
        );
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = listed.iter().flat_map(rows).collect();
    output.data(&table(&rows))?;
    match default {
        Some(model) => {
            output.hint(&format!("default model: {}", visible(model.as_str())));
        }
        None => output.hint("no default model; set `model` in toolroom.toml"),
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
            Some(price) => format!("${} in, ${} out per million tokens", price.input, price.output),
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
