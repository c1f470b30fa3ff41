//! `toolroom models`: who can be asked, and whether they answer.

mod list;
mod remedy;
mod trial;

use clap::{Args, Subcommand};
use toolroom::scope::Scope;
use toolroom_models::vendor::ModelName;

use super::console::exit::{Exit, Usage};
use super::console::output::Output;
use crate::app::App;
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
        None => list::list(app, &directory, false, *output),
        Some(Action::List { all }) => list::list(app, &directory, all, *output),
        Some(Action::Test { model }) => {
            let name: ModelName = model.parse().map_err(|error| Usage(format!("{error}")))?;
            trial::test(&directory.named([&name]), &name, *output).await
        }
    }
}
