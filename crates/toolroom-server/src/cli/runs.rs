//! `toolroom runs`: the runs of agents; shows, resumes and cancels them.

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use serde_json::{Map, json};
use toolroom::agent::RunReport;
use toolroom::conversation::{Run, RunFilter, RunId, RunState};
use toolroom::model::Dollars;
use toolroom::scope::Scope;
use toolroom_host::environment;
use toolroom_models::offline;

use super::approvals::resolve::ApprovalMode;
use super::chat::{CallCard, DisplayMode, RunInterrupt, Turn, exit_of, finish, open};
use super::console::exit::{Exit, Missing, Usage};
use super::console::output::{BOLD, DIM, GREEN, Output, RED, YELLOW, one_line, short_id, table, visible};
use super::console::time::local_time;
use super::conversations;
use crate::agents::{self, AgentChoice};
use crate::app::App;

/// Fits on one screen.
const DEFAULT_LINES: u32 = 20;

/// Column width.
const COLUMN_CHARS: usize = 60;

const EXAMPLES: &str = "\
Examples:
  toolroom runs                          all runs, newest first
  toolroom runs list --state waiting     runs that wait for an approval
  toolroom runs show last                its calls and cost
  toolroom runs resume last              resume it";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunsArgs {
    #[command(subcommand)]
    command: Option<RunsCommand>,
}

#[derive(Subcommand)]
enum RunsCommand {
    /// List runs, newest first
    List {
        /// Only runs in this state
        #[arg(long, value_parser = state_names())]
        state: Option<String>,
        /// Only runs of this conversation: its id, the ending of the id, or `last`
        #[arg(long, value_name = "ID")]
        conversation: Option<String>,
        /// Maximum number to list
        #[arg(long, value_name = "N", default_value_t = DEFAULT_LINES)]
        limit: u32,
    },
    /// Show a run and its calls
    Show {
        /// Run id, its ending, or `last`
        id: String,
    },
    /// Resume a run that waits, or whose process died
    Resume {
        /// Run id, its ending, or `last`
        id: String,
        /// Approve once, as the caller, any call that needs approval
        #[arg(long)]
        yes: bool,
        /// Never prompt on the terminal
        #[arg(long)]
        no_input: bool,
    },
    /// Cancel a run that waits, or whose process died; pending calls are not made
    Cancel {
        /// Run id, its ending, or `last`
        id: String,
    },
}

fn state_names() -> clap::builder::PossibleValuesParser {
    RunState::ALL.map(RunState::as_str).into()
}

pub(super) async fn run(app: &App, scope: Scope, args: RunsArgs, output: &Output) -> anyhow::Result<Exit> {
    let list_all = RunsCommand::List { state: None, conversation: None, limit: DEFAULT_LINES };
    match args.command.unwrap_or(list_all) {
        RunsCommand::List { state, conversation, limit } => {
            let conversation = match conversation {
                Some(name) => Some(conversations::find(app, &scope, &name).await?.id),
                None => None,
            };
            let state = state.as_deref().and_then(RunState::from_name);
            let filter = RunFilter { conversation, state, limit: Some(limit), ..RunFilter::default() };
            list(app, &scope, filter, *output).await
        }
        RunsCommand::Show { id } => show(app, &scope, &id, *output).await,
        RunsCommand::Resume { id, yes, no_input } => {
            let approval_mode = match (yes, no_input || output.is_json()) {
                (true, _) => ApprovalMode::Yes,
                (false, true) => ApprovalMode::Silent,
                (false, false) => ApprovalMode::Ask,
            };
            let run = find(app, &scope, &id).await?;
            resume(app, &scope, run, approval_mode, *output).await
        }
        RunsCommand::Cancel { id } => {
            let run = find(app, &scope, &id).await?;
            cancel(app, &scope, run, *output).await
        }
    }
}

async fn list(app: &App, scope: &Scope, filter: RunFilter, output: Output) -> anyhow::Result<Exit> {
    let filtered = filter != RunFilter { limit: filter.limit, ..RunFilter::default() };
    let found = agents::conversations(app).runs(scope, filter).await?;
    if output.is_json() {
        output.document(&found)?;
    } else if found.is_empty() {
        output.talk(match filtered {
            true => "No matching runs",
            false => "No runs yet; try: toolroom chat 'what is 17*23?'",
        });
    } else {
        let zone = environment::time_zone();
        let rows: Vec<Vec<String>> = found.iter().map(|run| line(run, &zone)).collect();
        output.data(&table(&rows))?;
    }
    Ok(Exit::Done)
}

fn line(run: &Run, zone: &TimeZone) -> Vec<String> {
    let style = style_of(run.state);
    let why = run.failure.as_ref().map(|failure| failure.message.as_str()).unwrap_or_default();
    vec![
        format!("{DIM}{}{DIM:#}", local_time(run.started_at, zone, "%m-%d %H:%M:%S")),
        short_id(&run.id),
        format!("{style}{}{style:#}", run.state),
        format!("{BOLD}{}{BOLD:#}", one_line(run.model.as_deref().unwrap_or("–"), COLUMN_CHARS)),
        format!("in {}", short_id(&run.conversation)),
        format!("{} → {} tokens", run.usage.input, run.usage.output),
        one_line(why, COLUMN_CHARS),
    ]
}

const fn style_of(state: RunState) -> anstyle::Style {
    match state {
        RunState::Done => GREEN,
        RunState::Running | RunState::Waiting | RunState::Cancelled => YELLOW,
        RunState::Failed => RED,
    }
}

/// Finds a run by id, by the ending of its id, or as the `last` one.
async fn find(app: &App, scope: &Scope, name: &str) -> anyhow::Result<Run> {
    // An empty name, likely an unset shell variable, would match every id.
    if name.is_empty() {
        return Err(Usage("the run id is empty; give an id, its ending, or `last`".to_owned()).into());
    }
    let port = agents::conversations(app);
    if let Some(run) = port.run(scope, &RunId::new(name)).await? {
        return Ok(run);
    }
    let filter = match name {
        "last" => RunFilter { limit: Some(1), ..RunFilter::default() },
        _ => RunFilter { id_suffix: Some(name.to_owned()), limit: Some(2), ..RunFilter::default() },
    };
    let mut found = port.runs(scope, filter).await?;
    match (found.pop(), found.pop()) {
        (Some(_), Some(_)) => {
            Err(Usage(format!("several run ids end in `{name}`; give more of the id")).into())
        }
        (Some(only), None) => Ok(only),
        (None, _) => Err(Missing(format!("no run `{name}`; see `toolroom runs`")).into()),
    }
}

async fn show(app: &App, scope: &Scope, name: &str, output: Output) -> anyhow::Result<Exit> {
    let run = find(app, scope, name).await?;
    let events = agents::conversations(app).events(scope, &run.id, 0).await?;
    if output.is_json() {
        output.document(&json!({"run": run, "events": events}))?;
        return Ok(Exit::Done);
    }
    let zone = environment::time_zone();
    let mut text = String::new();
    let mut line =
        |name: &str, value: &str| text.push_str(&format!("{DIM}{name:<13}{DIM:#}{}\n", visible(value)));
    line("run", run.id.as_str());
    line("conversation", run.conversation.as_str());
    line("agent", run.agent.as_str());
    line("state", run.state.as_str());
    line("started", &local_time(run.started_at, &zone, "%Y-%m-%d %H:%M:%S %Z"));
    if let Some(model) = &run.model {
        line("model", model);
    }
    line(
        "tokens",
        &format!("{} input, {} output, {} model requests", run.usage.input, run.usage.output, run.iterations),
    );
    line("cost", &Dollars(run.cost).to_string());
    if let Some(failure) = &run.failure {
        line("error", &format!("{} ({})", failure.message, failure.kind));
    }
    if run.state.is_open() {
        line("next", &format!("toolroom runs resume {0}, or toolroom runs cancel {0}", run.id));
    }
    for card in CallCard::all(&events) {
        text.push_str(&card.line());
        text.push('\n');
    }
    output.data(text.trim_end())?;
    Ok(Exit::Done)
}

async fn resume(
    app: &App,
    scope: &Scope,
    run: Run,
    approval_mode: ApprovalMode,
    output: Output,
) -> anyhow::Result<Exit> {
    // A run that began with `--model` continues with the same model.
    let last_model = run.model.as_deref().and_then(|model| model.parse().ok());
    let choice = AgentChoice { agent: Some(run.agent.to_string()), last_model, ..AgentChoice::default() };
    let opened = open(app, scope, &choice, output).await?;
    let interrupt = RunInterrupt::install()?;
    let turn = turn(app, scope, approval_mode, &interrupt, output);
    let report = turn.resume(&opened.agent, run.id).await?;
    interrupt.end_on_next_signal();
    finish(app, scope, &report, turn.mode, output).await
}

async fn cancel(app: &App, scope: &Scope, run: Run, output: Output) -> anyhow::Result<Exit> {
    // Cancelling asks no model, so the agent's own models need not be available.
    let models = vec![offline::NAME.parse()?];
    let choice = AgentChoice { agent: Some(run.agent.to_string()), models, ..AgentChoice::default() };
    let opened = open(app, scope, &choice, output).await?;
    let interrupt = RunInterrupt::install()?;
    let turn = turn(app, scope, ApprovalMode::Silent, &interrupt, output);
    let report: RunReport = turn.cancel(&opened.agent, run.id).await?;
    interrupt.end_on_next_signal();
    finish(app, scope, &report, turn.mode, output).await?;
    match exit_of(&report) {
        // The run was cancelled as requested.
        Exit::Interrupted => Ok(Exit::Done),
        exit => Ok(exit),
    }
}

fn turn<'a>(
    app: &'a App,
    scope: &'a Scope,
    approval_mode: ApprovalMode,
    interrupt: &'a RunInterrupt,
    output: Output,
) -> Turn<'a> {
    let mode = DisplayMode::new(output.is_json(), false, false);
    Turn {
        app,
        scope,
        mode,
        is_plain: false,
        is_interactive: false,
        approval_mode,
        context: Map::new(),
        interrupt,
        output,
    }
}
