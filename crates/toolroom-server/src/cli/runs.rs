//! `toolroom runs`: what followed from each message, and going on with it.

use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use serde_json::{Map, json};
use toolroom::agent::RunReport;
use toolroom::conversation::{Run, RunFilter, RunId, RunState};
use toolroom::model::Dollars;
use toolroom::scope::Scope;
use toolroom_host::environment;
use toolroom_models::offline;

use super::approvals::resolve::Beforehand;
use super::chat::{Card, Hand, Look, Turn, exit_of, finish, open};
use super::console::exit::{Exit, Missing, Usage};
use super::console::output::short_id;
use super::console::output::{BOLD, DIM, GREEN, Output, RED, YELLOW, one_line, table, visible};
use super::console::time::local_time;
use super::conversations;
use crate::agents::{self, Choice};
use crate::app::App;

/// What fits on a screen without scrolling much.
const DEFAULT_LINES: u32 = 20;

/// Room for what a column says.
const CHARS: usize = 60;

const EXAMPLES: &str = "\
Examples:
  toolroom runs                          what was asked, the newest first
  toolroom runs list --state waiting     what waits for an answer
  toolroom runs show last                what the last one called, and what it cost
  toolroom runs resume last              goes on with it";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunsArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// List runs, the newest first
    List {
        /// Only those in this state
        #[arg(long, value_parser = state_names())]
        state: Option<String>,
        /// Only those of this conversation: its id, the end of it, or `last`
        #[arg(long, value_name = "ID")]
        conversation: Option<String>,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = DEFAULT_LINES)]
        limit: u32,
    },
    /// Look at one: its id, the end of it, or `last`
    Show {
        /// Which one
        id: String,
    },
    /// Go on with one that waits, or whose process died
    Resume {
        /// Which one: its id, the end of it, or `last`
        id: String,
        /// If a call has to be approved, answer "once" for its caller
        #[arg(long)]
        yes: bool,
        /// Never ask on the terminal
        #[arg(long)]
        no_input: bool,
    },
    /// End one that waits, or whose process died; what it waits for is not done
    Cancel {
        /// Which one: its id, the end of it, or `last`
        id: String,
    },
}

fn state_names() -> clap::builder::PossibleValuesParser {
    RunState::ALL.map(RunState::as_str).into()
}

pub(super) async fn run(app: &App, scope: Scope, args: RunsArgs, output: &Output) -> anyhow::Result<Exit> {
    let list_all = Action::List { state: None, conversation: None, limit: DEFAULT_LINES };
    match args.action.unwrap_or(list_all) {
        Action::List { state, conversation, limit } => {
            let conversation = match conversation {
                Some(name) => Some(conversations::find(app, &scope, &name).await?.id),
                None => None,
            };
            let state = state.as_deref().and_then(RunState::from_name);
            let filter = RunFilter { conversation, state, limit: Some(limit), ..RunFilter::default() };
            list(app, &scope, filter, *output).await
        }
        Action::Show { id } => show(app, &scope, &id, *output).await,
        Action::Resume { id, yes, no_input } => {
            let beforehand = match (yes, no_input || output.is_json()) {
                (true, _) => Beforehand::Yes,
                (false, true) => Beforehand::Silent,
                (false, false) => Beforehand::Ask,
            };
            let run = find(app, &scope, &id).await?;
            resume(app, &scope, run, beforehand, *output).await
        }
        Action::Cancel { id } => {
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
            true => "no run matches",
            false => "nothing was asked yet; try: toolroom chat 'what is 17*23?'",
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
        format!("{BOLD}{}{BOLD:#}", one_line(run.model.as_deref().unwrap_or("–"), CHARS)),
        format!("in {}", short_id(&run.conversation)),
        format!("{} → {} tokens", run.usage.input, run.usage.output),
        one_line(why, CHARS),
    ]
}

const fn style_of(state: RunState) -> anstyle::Style {
    match state {
        RunState::Done => GREEN,
        RunState::Running | RunState::Waiting | RunState::Cancelled => YELLOW,
        RunState::Failed => RED,
    }
}

/// One run by its id, by the end of its id, or the last one.
async fn find(app: &App, scope: &Scope, name: &str) -> anyhow::Result<Run> {
    // Every id ends in nothing. Whoever says that has a variable that is not set, and means no run at all.
    if name.is_empty() {
        return Err(Usage("no run is named; give its id, the end of it, or `last`".to_owned()).into());
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
        (Some(_), Some(_)) => Err(Usage(format!("several runs end in `{name}`; give more of the id")).into()),
        (Some(only), None) => Ok(only),
        (None, _) => Err(Missing(format!("there is no run `{name}`; see `toolroom runs`")).into()),
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
    line("began", &local_time(run.started_at, &zone, "%Y-%m-%d %H:%M:%S %Z"));
    if let Some(model) = &run.model {
        line("model", model);
    }
    line(
        "tokens",
        &format!("{} read, {} written, asked {} times", run.usage.input, run.usage.output, run.iterations),
    );
    line("cost", &Dollars(run.cost).to_string());
    if let Some(failure) = &run.failure {
        line("why", &format!("{} ({})", failure.message, failure.kind));
    }
    if run.state.is_open() {
        line("next", &format!("toolroom runs resume {0}, or toolroom runs cancel {0}", run.id));
    }
    for card in Card::all(&events) {
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
    beforehand: Beforehand,
    output: Output,
) -> anyhow::Result<Exit> {
    // Whoever said `--model` in the beginning does not want another one to end it.
    let so_far = run.model.as_deref().and_then(|model| model.parse().ok());
    let choice = Choice { agent: Some(run.agent.to_string()), so_far, ..Choice::default() };
    let opened = open(app, scope, &choice, output).await?;
    let hand = Hand::take()?;
    let turn = turn(app, scope, beforehand, &hand, output);
    let report = turn.resume(&opened.agent, run.id).await?;
    hand.put_down();
    finish(app, scope, &report, turn.look, output).await
}

async fn cancel(app: &App, scope: &Scope, run: Run, output: Output) -> anyhow::Result<Exit> {
    // Nobody is asked anything, so it does not matter whether the agent's own models can be.
    let models = vec![offline::NAME.parse()?];
    let choice = Choice { agent: Some(run.agent.to_string()), models, ..Choice::default() };
    let opened = open(app, scope, &choice, output).await?;
    let hand = Hand::take()?;
    let turn = turn(app, scope, Beforehand::Silent, &hand, output);
    let report: RunReport = turn.cancel(&opened.agent, run.id).await?;
    hand.put_down();
    finish(app, scope, &report, turn.look, output).await?;
    match exit_of(&report) {
        // That is what was asked for.
        Exit::Interrupted => Ok(Exit::Done),
        exit => Ok(exit),
    }
}

fn turn<'a>(
    app: &'a App,
    scope: &'a Scope,
    beforehand: Beforehand,
    hand: &'a Hand,
    output: Output,
) -> Turn<'a> {
    let look = Look::of(output.is_json(), false, false);
    Turn { app, scope, look, is_plain: false, is_talk: false, beforehand, context: Map::new(), hand, output }
}
