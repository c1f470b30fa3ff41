//! `toolroom agents`: agents with their prompts, models, tools and limits.

mod flags;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;
use toolroom::agent::{AgentRecord, DEFAULT_AGENT, OnDisconnect};
use toolroom::conversation::AgentId;
use toolroom::scope::Scope;

use super::console::exit::{Exit, Missing, Usage};
use super::console::input::read_text;
use super::console::output::{BOLD, DIM, Output, one_line, table, visible};
use crate::agents::{self, AgentOrigin, ListedAgent, OpenAgentError, SaveAgentError, unknown_parts};
use crate::app::App;
use crate::config::MAX_FILE_BYTES;
use flags::{AgentFlags, apply_flags, read_record};

/// Column width of a list.
const LIST_CHARS: usize = 40;

const EXAMPLES: &str = "\
Examples:
  toolroom agents set cook --prompt 'You are a cook.' --model openai/gpt-4o --allow 'web_*'
  toolroom agents set cook --deny '' --budget none     lists are replaced; '' empties one
  toolroom agents set cook --file cook.toml            read the agent from a file, TOML or JSON";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AgentsArgs {
    #[command(subcommand)]
    command: Option<AgentsCommand>,
}

#[derive(Subcommand)]
enum AgentsCommand {
    /// List agents
    List,
    /// Show an agent
    Show {
        /// Agent id
        #[arg(default_value = DEFAULT_AGENT)]
        id: String,
    },
    /// Create or change an agent; other fields stay unchanged
    Set {
        /// Agent id: letters, digits, `_`, `-` and `.`
        id: String,
        /// Read the agent from this file, TOML or JSON (- for stdin); flags override it
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
        #[command(flatten)]
        flags: Box<AgentFlags>,
    },
    /// Remove an agent; `default` is reset to its original state
    #[command(visible_alias = "rm")]
    Remove {
        /// Agent id
        id: String,
    },
}

pub(super) async fn run(app: &App, scope: Scope, args: AgentsArgs, output: &Output) -> anyhow::Result<Exit> {
    match args.command {
        None | Some(AgentsCommand::List) => list(&agents::records(app, &scope).await?, *output),
        Some(AgentsCommand::Show { id }) => show(app, &scope, &known(app, &scope, &id).await?, *output),
        Some(AgentsCommand::Set { id, file, flags }) => set(app, &scope, &id, file, &flags, *output).await,
        Some(AgentsCommand::Remove { id }) => remove(app, &scope, &id, *output).await,
    }
}

async fn known(app: &App, scope: &Scope, id: &str) -> anyhow::Result<ListedAgent> {
    agents::record(app, scope, id).await.map_err(|error| match error {
        OpenAgentError::NotFound { .. } => Missing(error.to_string()).into(),
        error => error.into(),
    })
}

fn list(agents: &[ListedAgent], output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(&agents)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = agents
        .iter()
        .map(|ListedAgent { record: agent, origin }| {
            vec![
                format!("{BOLD}{}{BOLD:#}", visible(agent.id.as_str())),
                one_line(&agent.name, LIST_CHARS),
                one_line(&models(agent), LIST_CHARS),
                one_line(&tools(agent), LIST_CHARS),
                format!("{DIM}{}{DIM:#}", visible(kind(origin))),
            ]
        })
        .collect();
    output.data(&table(&rows))?;
    Ok(Exit::Done)
}

fn kind(origin: &AgentOrigin) -> &'static str {
    match origin {
        AgentOrigin::BuiltIn => "built in",
        AgentOrigin::Database => "database",
        AgentOrigin::Configuration { .. } => "configuration",
    }
}

fn models(agent: &AgentRecord) -> String {
    if agent.models.is_empty() { "configured models".to_owned() } else { agent.models.join(", ") }
}

fn tools(agent: &AgentRecord) -> String {
    let allowed = if agent.allow.is_empty() { "all tools".to_owned() } else { agent.allow.join(", ") };
    if agent.deny.is_empty() { allowed } else { format!("{allowed}, except {}", agent.deny.join(", ")) }
}

fn show(app: &App, scope: &Scope, known: &ListedAgent, output: Output) -> anyhow::Result<Exit> {
    if output.is_json() {
        output.document(known)?;
        return Ok(Exit::Done);
    }
    let ListedAgent { record: agent, origin } = known;
    let mut text = String::new();
    let mut line =
        |name: &str, value: &str| text.push_str(&format!("{DIM}{name:<12}{DIM:#}{}\n", visible(value)));
    let bound = |limit: Option<String>| limit.unwrap_or_else(|| "unlimited".to_owned());
    let limits = &agent.limits;
    line("agent", agent.id.as_str());
    line(
        "stored in",
        match origin {
            AgentOrigin::BuiltIn => "built in, unchanged",
            AgentOrigin::Database => "the database",
            AgentOrigin::Configuration { place } => place,
        },
    );
    line("name", &agent.name);
    line("models", &models(agent));
    line("tools", &tools(agent));
    if let Some(ranker) = &agent.ranker {
        line("ranker", ranker);
    }
    line("budget", &bound(limits.daily_budget_usd.map(|usd| format!("{usd} US dollars a day"))));
    line("iterations", &limits.iterations.to_string());
    line("parallel", &limits.parallel.to_string());
    line("max tokens", &bound(limits.max_tokens.map(|tokens| tokens.to_string())));
    line("tool tokens", &limits.tool_tokens.to_string());
    line(
        "disconnect",
        match agent.on_disconnect {
            OnDisconnect::Continue => "continue",
            OnDisconnect::Cancel => "cancel",
        },
    );
    line("prompt", if agent.prompt.is_empty() { "default assistant" } else { &agent.prompt });
    output.data(text.trim_end())?;
    warn_about_unknown_parts(app, scope, agent, output);
    Ok(Exit::Done)
}

async fn set(
    app: &App,
    scope: &Scope,
    id: &str,
    file: Option<PathBuf>,
    flags: &AgentFlags,
    output: Output,
) -> anyhow::Result<Exit> {
    agents::check_not_configured(app, id).map_err(not_kept)?;
    // The stored agent, without the restrictions of a project file.
    let existing = agents::stored(app, scope, id).await?;
    let is_new = existing.is_none() && id != DEFAULT_AGENT;
    let base = match file {
        Some(path) => read_record(id, &read_text(&path, MAX_FILE_BYTES)?).map_err(Usage)?,
        None => existing.unwrap_or_else(|| match id {
            DEFAULT_AGENT => AgentRecord::default(),
            id => AgentRecord { id: AgentId::new(id), name: id.to_owned(), ..AgentRecord::default() },
        }),
    };
    let agent = apply_flags(base, flags).map_err(Usage)?;
    agents::save(app, scope, &agent).await.map_err(not_kept)?;
    if output.is_json() {
        output.document(&ListedAgent { record: agent.clone(), origin: AgentOrigin::Database })?;
    } else {
        let verb = if is_new { "Created" } else { "Changed" };
        output.talk(format_args!("{verb} agent `{}`", agent.id));
    }
    warn_about_unknown_parts(app, scope, &agent, output);
    Ok(Exit::Done)
}

/// Maps errors in the given agent to usage errors.
fn not_kept(error: SaveAgentError) -> anyhow::Error {
    match error {
        SaveAgentError::Invalid(_) | SaveAgentError::Configured { .. } => Usage(error.to_string()).into(),
        error @ (SaveAgentError::Redactions(_) | SaveAgentError::Ledger(_)) => error.into(),
    }
}

/// Warns about unknown tools and models of an agent: they may be mistyped, or added later.
fn warn_about_unknown_parts(app: &App, scope: &Scope, agent: &AgentRecord, output: Output) {
    let tools = app.room.catalog().list(&scope.project);
    for part in unknown_parts(agent, &app.config.config, &tools) {
        output.warning(&part);
    }
}

async fn remove(app: &App, scope: &Scope, id: &str, output: Output) -> anyhow::Result<Exit> {
    let ListedAgent { record: agent, .. } = known(app, scope, id).await?;
    let removed = agents::remove(app, scope, &agent.id).await.map_err(not_kept)?;
    if output.is_json() {
        output.document(&json!({"agent": agent.id, "removed": removed}))?;
    } else if id == DEFAULT_AGENT {
        output.talk("Reset agent `default`");
    } else {
        output.talk(format_args!("Removed agent `{}`", agent.id));
    }
    Ok(Exit::Done)
}
