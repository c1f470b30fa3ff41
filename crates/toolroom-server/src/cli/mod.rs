//! The command line: a file per command. Data goes to stdout, talk to stderr; `--json` works everywhere.

mod call;
mod complete;
mod exit;
mod log;
mod output;
mod span;
mod switch;
mod tools;
mod words;

use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, CommandFactory, Parser, Subcommand};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::scope::Scope;
use toolroom_host::environment;

use crate::app::App;
use exit::Exit;
use output::Output;

/// Where AI agents get their tools: defined once, guarded, executed, journaled.
#[derive(Parser)]
#[command(name = "toolroom", version, after_help = EXAMPLES, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    look: Look,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  toolroom call calculator expression='2 + 2 * 3'
  toolroom tools show calculator
  toolroom log --since 1h

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 denied, 4 needs approval, 5 unknown tool, 124 timeout, 130 interrupted
Data lives in ~/.local/share/toolroom; TOOLROOM_HOME names another folder.";

/// How things are printed.
#[derive(Args, Clone, Copy)]
struct Look {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value_t, hide_default_value = true)]
    color: clap::ColorChoice,
}

#[derive(Subcommand)]
enum Command {
    /// Call a tool
    Call(call::CallArgs),
    /// List tools, look at one, switch it on or off
    Tools(tools::ToolsArgs),
    /// List and set feature switches
    Switch(switch::SwitchArgs),
    /// See what was called and what came of it
    Log(log::LogArgs),
    /// Print the completion script of a shell
    Completions(complete::CompletionsArgs),
}

/// Runs the command line of this process. `register` adds an embedder's own tools to the catalog, so that
/// they can be called, listed, completed and logged like the built-in ones.
#[must_use]
pub fn run(register: impl Fn(&Catalog) -> Result<(), RegisterError> + Send + Sync + 'static) -> ExitCode {
    let register: Register = Arc::new(register);
    if complete::answer(&register) {
        return ExitCode::SUCCESS;
    }
    tell_warnings();
    let cli = match Cli::try_parse_from(environment::arguments()) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version come as errors too; those go to stdout with code 0.
            let code = u8::try_from(error.exit_code()).unwrap_or(Exit::USAGE);
            return if error.print().is_ok() { ExitCode::from(code) } else { ExitCode::from(Exit::FAILED) };
        }
    };
    let output = Output::new(cli.look.json, cli.look.color);
    let outcome = runtime().map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(dispatch(cli.command, &output, &register));
        // A tool on the blocking pool may never end; the process does not wait for it.
        runtime.shutdown_background();
        result
    });
    let exit = outcome.unwrap_or_else(|error| Exit::of_error(&error, &output));
    ExitCode::from(exit.code())
}

/// An embedder's own tools.
type Register = Arc<dyn Fn(&Catalog) -> Result<(), RegisterError> + Send + Sync>;

/// What goes wrong behind a call's back is told to the operator, who is the person at the terminal.
fn tell_warnings() {
    let warnings =
        tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(std::io::stderr);
    // An embedder may have a subscriber of its own; that one stays.
    drop(warnings.without_time().with_target(false).try_init());
}

/// One thread is enough for one call, and starts faster.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

async fn dispatch(command: Option<Command>, output: &Output, register: &Register) -> anyhow::Result<Exit> {
    let command = match command {
        None => {
            output.data(&Cli::command().render_help().ansi().to_string())?;
            return Ok(Exit::Done);
        }
        Some(Command::Completions(args)) => return complete::print_script(&args, output),
        Some(command) => command,
    };
    let app = App::open(|catalog| register(catalog)).await?;
    // The process ends with this command: taking a thousand definitions apart before that would only take time.
    let _kept_to_the_end = ManuallyDrop::new(app.room.clone());
    // The owner of the data folder speaks for the whole local project.
    let scope = Scope::default();
    let result = match command {
        Command::Call(args) => call::run(&app, scope, args, output).await,
        Command::Tools(args) => tools::run(&app, scope, args, output).await,
        Command::Switch(args) => switch::run(&app, scope, args, output).await,
        Command::Log(args) => log::run(&app, scope, args, output).await,
        Command::Completions(args) => complete::print_script(&args, output),
    };
    // What was acknowledged is written already, and told: an untidy end must not turn it into a failure.
    if let Err(error) = app.close().await {
        tracing::warn!(%error, "the database could not be closed in order");
    }
    result
}
