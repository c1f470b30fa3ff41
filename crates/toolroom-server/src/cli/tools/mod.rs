//! `toolroom tools`: lists and shows tools, and switches them on or off.

mod risk;

use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::Value;
use toolroom::catalog::{Entry, NotFound, ToolLine};
use toolroom::ledger::SwitchState;
use toolroom::scope::Scope;
use toolroom::tool::{Timeout, ToolSpec};

use super::completions;
use super::console::exit::{Exit, Missing, Refused};
use super::console::output::{BOLD, DIM, Output, one_line, table, visible};
use crate::app::App;
use crate::documents::{ToggleNameError, ToggleState, ToolDocument, remedy, toggle_name};
use toolroom::schema::choices;

/// Column width of a description.
const DESCRIPTION_CHARS: usize = 70;

/// Untranslated descriptions.
const NO_LANGUAGE: &str = "";

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct ToolsArgs {
    #[command(subcommand)]
    command: Option<ToolsCommand>,
    #[command(flatten)]
    list_args: ListArgs,
}

#[derive(Args)]
struct ListArgs {
    /// Include tools that are switched off
    #[arg(long)]
    all: bool,
    /// List risky tools with their effects and how their calls are judged
    #[arg(long)]
    risk: bool,
}

#[derive(Subcommand)]
enum ToolsCommand {
    /// List tools
    List(ListArgs),
    /// Show a tool with its parameters
    Show {
        /// Tool id, alias or name
        #[arg(add = completions::tools())]
        tool: String,
    },
    /// Switch a tool on
    Enable {
        /// Tool id, alias or name
        #[arg(add = completions::tools())]
        tool: String,
    },
    /// Switch a tool off
    Disable {
        /// Tool id, alias or name
        #[arg(add = completions::tools())]
        tool: String,
    },
    /// Reset a tool to its default
    Reset {
        /// Tool id, alias or name
        #[arg(add = completions::tools())]
        tool: String,
    },
}

pub(super) async fn run(app: &App, scope: Scope, args: ToolsArgs, output: &Output) -> anyhow::Result<Exit> {
    match args.command {
        None => list(app, &scope, &args.list_args, output).await,
        Some(ToolsCommand::List(list_args)) => list(app, &scope, &list_args, output).await,
        Some(ToolsCommand::Show { tool }) => show(app, &scope, &tool, output).await,
        Some(ToolsCommand::Enable { tool }) => {
            toggle(app, &scope, &tool, Some(SwitchState::On), output).await
        }
        Some(ToolsCommand::Disable { tool }) => {
            toggle(app, &scope, &tool, Some(SwitchState::Off), output).await
        }
        Some(ToolsCommand::Reset { tool }) => toggle(app, &scope, &tool, None, output).await,
    }
}

/// Finds a tool by id, alias or name.
fn find(app: &App, scope: &Scope, name: &str) -> Result<Arc<Entry>, Missing> {
    app.room.catalog().find(&scope.project, name).map_err(|error| missing(name, &error))
}

fn missing(name: &str, error: &NotFound) -> Missing {
    let hint = error.hint().unwrap_or_else(|| "see `toolroom tools --all`".to_owned());
    Missing(format!("unknown tool `{name}`; {hint}"))
}

async fn list(app: &App, scope: &Scope, list_args: &ListArgs, output: &Output) -> anyhow::Result<Exit> {
    let standing = app.room.switchboard().standing(&scope.project).await?;
    let every = app.room.catalog().tool_lines(&scope.project, &standing.switches, NO_LANGUAGE);
    let all = list_args.all;
    if list_args.risk {
        let listed = every.iter().filter(|tool| all || tool.enabled);
        return risk::report(app, scope, &standing.answers, listed, *output);
    }
    let hidden = every.iter().filter(|tool| !tool.enabled).count();
    let tools: Vec<ToolLine> = every.into_iter().filter(|tool| all || tool.enabled).collect();
    if output.is_json() {
        output.document(&tools)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = tools
        .iter()
        .map(|tool| {
            let state = if tool.enabled { String::new() } else { format!("{DIM}off{DIM:#}") };
            vec![
                format!("{BOLD}{}{BOLD:#}", visible(tool.id.as_str())),
                one_line(&tool.description, DESCRIPTION_CHARS),
                state,
            ]
        })
        .collect();
    if rows.is_empty() {
        output.talk("No tools are switched on");
    } else {
        output.data(&table(&rows))?;
    }
    if hidden > 0 && !all {
        output.talk(format_args!("{hidden} more switched off: toolroom tools --all"));
    }
    Ok(Exit::Done)
}

async fn show(app: &App, scope: &Scope, name: &str, output: &Output) -> anyhow::Result<Exit> {
    let entry = find(app, scope, name)?;
    let standing = app.room.switchboard().standing(&scope.project).await?;
    let list_args = app.room.catalog().tool_lines(&scope.project, &standing.switches, NO_LANGUAGE);
    let off = list_args.into_iter().find(|tool| tool.id == entry.spec().id).and_then(|tool| tool.off);
    let spec = entry.spec();
    if output.is_json() {
        output.document(&ToolDocument::of(&entry, off.is_none()))?;
        return Ok(Exit::Done);
    }
    let (id, title) = (visible(spec.id.as_str()), visible(&spec.title));
    let mut text = format!("{BOLD}{id}{BOLD:#}  {title}\n{}\n", visible(&spec.description));
    let mut line =
        |name: &str, value: &str| text.push_str(&format!("{DIM}{name:<13}{DIM:#}{}\n", visible(value)));
    line("state", &off.map_or_else(|| "on".to_owned(), |off| format!("{off}; {}", remedy(&off))));
    if let Some(when) = &spec.when_to_use {
        line("when to use", when);
    }
    line("effect", spec.effective_effect().as_str());
    line("risk", spec.risk.as_str());
    let limits = entry.limits();
    line("time limit", &time_limit(&limits.timeout));
    for limit in &limits.rates {
        line("rate limit", &limit.to_string());
    }
    if let Some(places) = limits.concurrency {
        line("concurrency", &places.to_string());
    }
    for pattern in entry.patterns_not_enforced() {
        line("not enforced", pattern);
    }
    output.data(text.trim_end())?;
    parameters(&spec.parameters, output)?;
    output.talk(format_args!("\n{DIM}Call it:{DIM:#} toolroom call {}", visible(&sample(spec))));
    Ok(Exit::Done)
}

fn time_limit(timeout: &Timeout) -> String {
    match timeout {
        Timeout::After(limit) => format!("{limit:?}"),
        Timeout::FromArgument { name, default, max } => format!("{default:?}, `{name}` up to {max:?}"),
        Timeout::Never => "none".to_owned(),
    }
}

fn parameters(schema: &Value, output: &Output) -> anyhow::Result<()> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let rows: Vec<Vec<String>> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let text = |key: &str| property.get(key).and_then(Value::as_str).unwrap_or_default();
            let choices = choices(schema, name);
            let kind = match property.get("type") {
                Some(kind) => type_names(kind),
                None => choices.join(" | "),
            };
            let need = if is_required(schema, name) { "required" } else { "" };
            let default =
                property.get("default").map(|default| format!(" (default {default})")).unwrap_or_default();
            vec![
                format!("  {BOLD}{name}{BOLD:#}"),
                kind,
                need.into(),
                visible(text("description")) + &default,
            ]
        })
        .collect();
    if rows.is_empty() {
        output.data("\nno parameters")?;
    } else {
        output.data(&format!("\nparameters\n{}", table(&rows)))?;
    }
    Ok(())
}

fn type_names(kind: &Value) -> String {
    match kind {
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        other => other.to_string(),
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|names| names.iter().any(|other| other == name))
}

fn sample(spec: &ToolSpec) -> String {
    let required = spec.parameters.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str).map(|name| format!(" {name}=…"));
    format!("{}{}", spec.id.bare(), names.collect::<String>())
}

async fn toggle(
    app: &App,
    scope: &Scope,
    name: &str,
    state: Option<SwitchState>,
    output: &Output,
) -> anyhow::Result<Exit> {
    let toggle = toggle_name(app.room.catalog(), &scope.project, name).map_err(|error| match error {
        ToggleNameError::Unknown(error) => anyhow::Error::from(missing(name, &error)),
        ToggleNameError::FeatureOnly(error) => {
            Refused(format!("{error}: `toolroom switch on|off {}`", error.feature)).into()
        }
    })?;
    app.store.set_tool_toggle(&scope.project, &toggle, state).await?;
    if output.is_json() {
        output.document(&ToggleState { toggle, state })?;
    } else {
        let state = state.map_or("reset to its default", SwitchState::as_str);
        output.talk(format_args!("`{}` is {state}", visible(&toggle)));
    }
    Ok(Exit::Done)
}
