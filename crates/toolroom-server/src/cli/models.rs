//! `toolroom models`: who can be asked, and whether they answer.

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolroom::model::{
    Answer, Block, Dollars, Message, ModelError, ModelErrorKind, ModelFacts, ModelRequest, Offered, Price,
    SystemPrompt, ToolUse, Usage,
};
use toolroom::scope::Scope;
use toolroom_models::directory::{Directory, OpenedModel, Vendor};
use toolroom_models::vendor::{Known, KnownModel, ModelName, WireKind, known_models};

use super::exit::{Exit, Usage as WrongUsage};
use super::output::{BOLD, DIM, GREEN, Output, YELLOW, one_line, table, visible};
use crate::app::App;
use crate::models::directory;

const EXAMPLES: &str = "\
Examples:
  OPENAI_API_KEY=… toolroom models                   who can be asked, and what it costs
  toolroom models test anthropic/claude-opus-5-5     one short question
  toolroom models test ollama/qwen3                  a model on this machine";

/// The longest answer to a trial. Thoughts count, too.
const TRIAL_TOKENS: u32 = 2_000;

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
            let name: ModelName = model.parse().map_err(|error| WrongUsage(format!("{error}")))?;
            test(&directory, &name, *output).await
        }
    }
}

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

fn list(app: &App, directory: &Directory, all: bool, output: Output) -> anyhow::Result<Exit> {
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
            "no vendor is set up: set a key such as OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or OLLAMA_HOST for \
             models of your own; `toolroom models list --all` shows who is known",
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
    let head = vec![format!("{BOLD}{}{BOLD:#}", visible(vendor.name)), url, state];
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

/// What came of a trial.
#[derive(Serialize)]
struct Trial {
    model: ModelName,
    answered_by: Option<String>,
    first_ms: u64,
    total_ms: u64,
    streamed: bool,
    called_tool: bool,
    text: String,
    usage: Usage,
    cost_usd: Option<f64>,
    window: u64,
    window_assumed: bool,
}

async fn test(directory: &Directory, name: &ModelName, output: Output) -> anyhow::Result<Exit> {
    let OpenedModel { model, known } = directory.open(name)?;
    let began = Instant::now();
    let mut first = None;
    let mut pieces = 0_usize;
    let request = trial();
    let answered = {
        let mut heard = |_| {
            first.get_or_insert_with(|| began.elapsed());
            pieces += 1;
        };
        model.ask(&request, &mut heard, &CancellationToken::new()).await
    };
    let took = began.elapsed();
    let answer = match answered {
        Ok(answer) => answer,
        Err(error) => return failed(&error, name, output),
    };
    let trial = Trial {
        model: name.clone(),
        answered_by: answer.model.clone(),
        first_ms: millis(first.unwrap_or(took)),
        total_ms: millis(took),
        streamed: pieces > 1,
        called_tool: answer.blocks.iter().any(|block| matches!(block, Block::Call { .. })),
        text: text(&answer),
        usage: answer.usage,
        cost_usd: known.facts.price.map(|price| price.of(&answer.usage)),
        window: known.facts.window,
        window_assumed: known.assumed,
    };
    if output.is_json() {
        output.document(&trial)?;
        return Ok(Exit::Done);
    }
    output.data(&table(&report(&trial)))?;
    Ok(Exit::Done)
}

fn report(trial: &Trial) -> Vec<Vec<String>> {
    let line = |name: &str, value: String| vec![format!("{DIM}{name}{DIM:#}"), value];
    let assumed = if trial.window_assumed { ", assumed" } else { "" };
    let calls =
        if trial.called_tool { "called the tool it was given" } else { "did not call the tool it was given" };
    let said = match trial.text.trim() {
        "" => "nothing besides".to_owned(),
        text => visible(&one_line(text, 200)),
    };
    vec![
        line(
            "model",
            format!(
                "{GREEN}{}{GREEN:#}",
                visible(trial.answered_by.as_deref().unwrap_or(trial.model.as_str()))
            ),
        ),
        line("time", format!("{} ms until the first piece, {} ms in all", trial.first_ms, trial.total_ms)),
        line("stream", if trial.streamed { "came in pieces" } else { "came at once" }.to_owned()),
        line("tools", calls.to_owned()),
        line("said", said),
        line("tokens", format!("{} read, {} written", trial.usage.input, trial.usage.output)),
        line("cost", trial.cost_usd.map_or("unknown".to_owned(), |cost| Dollars(cost).to_string())),
        line("window", format!("{} tokens{assumed}", trial.window)),
    ]
}

fn failed(error: &ModelError, name: &ModelName, output: Output) -> anyhow::Result<Exit> {
    let hint = remedy(error, name);
    if output.is_json() {
        let retry_after_ms = error.retry_after.map(millis);
        output.document(&json!({
            "model": name, "error": error.message, "kind": error.kind, "status": error.status,
            "retry_after_ms": retry_after_ms, "hint": hint,
        }))?;
    } else {
        output.failure(&format!("{}: {}", error.kind, error.message), Some(&hint), None);
    }
    Ok(match error.kind {
        ModelErrorKind::Timeout => Exit::Timeout,
        ModelErrorKind::NotFound => Exit::NotFound,
        _ => Exit::Failed,
    })
}

/// What to do about it.
fn remedy(error: &ModelError, name: &ModelName) -> String {
    let vendor = name.vendor();
    match error.kind {
        ModelErrorKind::Auth => {
            format!("look at the key of `{vendor}`: `toolroom models` says where it comes from")
        }
        ModelErrorKind::Billing => format!("`{vendor}` wants to be paid: look at your account there"),
        ModelErrorKind::RateLimit => "wait a little, or ask for higher limits".to_owned(),
        ModelErrorKind::Overloaded | ModelErrorKind::Server => "try again later, or another model".to_owned(),
        ModelErrorKind::NotFound => {
            format!("see whether `{vendor}` has `{}`, and whether its base_url is right", name.model())
        }
        ModelErrorKind::Network | ModelErrorKind::Timeout => {
            format!("see whether `{vendor}` runs, and whether its base_url is right: `toolroom models`")
        }
        ModelErrorKind::Protocol => {
            format!("see whether base_url and wire in `[vendor.{vendor}]` are right: what came is no answer")
        }
        ModelErrorKind::ContextOverflow | ModelErrorKind::ContentFilter | ModelErrorKind::BadRequest => {
            "the model does not take even a short question: try another one".to_owned()
        }
        ModelErrorKind::Endless => "it does not stop talking: try another model".to_owned(),
        ModelErrorKind::Cancelled => "nothing is to be done".to_owned(),
    }
}

/// One short question that a tool would answer.
fn trial() -> ModelRequest {
    let parameters = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "description": "The city" } },
        "required": ["city"],
        "additionalProperties": false,
    });
    let tool = Offered {
        name: "local_time".to_owned(),
        description: "Tells what time it is in a city.".to_owned(),
        parameters: Arc::new(parameters),
    };
    ModelRequest {
        system: SystemPrompt { lasting: "Answer in one short sentence.".into(), changing: "".into() },
        messages: vec![Arc::new(Message::user("What time is it in Oslo? Use the tool."))],
        tools: [tool].into(),
        tool_use: ToolUse::Free,
        max_tokens: Some(TRIAL_TOKENS),
        temperature: None,
    }
}

fn text(answer: &Answer) -> String {
    Message::assistant(answer.blocks.clone()).text()
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
