//! The command line, one file or folder per command. Data goes to stdout, messages to stderr; `--json` works everywhere.

mod agents;
mod approvals;
mod artifacts;
mod backup;
mod call;
mod chat;
mod command;
mod completions;
mod config;
mod console;
mod conversations;
mod doctor;
mod export;
mod import;
mod init;
mod keys;
mod log;
mod man;
mod mcp;
mod memory;
mod migrate;
mod models;
mod policy;
mod projects;
mod prune;
mod runs;
mod sandbox;
mod secrets;
mod select;
mod self_check;
mod serve;
mod service;
mod switch;
mod tools;
mod trust;
mod version;

use std::io::{self, IsTerminal};
use std::mem::ManuallyDrop;
use std::process::ExitCode;
use std::sync::Arc;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser};
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::scope::Scope;
use toolroom_host::desktop;
use toolroom_host::process::{SUBCOMMAND, helper_main};
use toolroom_host::terminal::Terminal;
use toolroom_host::{environment, interrupt, machine};

use crate::app::{App, ProcessLifetime};
use crate::telemetry::Log;
use command::Command;
use console::exit::Exit;
use console::output::{Output, visible};
use version::BuildInfo;

/// Where AI agents get their tools: defined once, then guarded, executed and logged
#[derive(Parser)]
#[command(name = "toolroom", version, after_help = EXAMPLES, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    output_args: GlobalOutputArgs,
    #[command(flatten)]
    overrides: Overrides,
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  toolroom chat 'what is 17*23?'
  toolroom call calculator expression='2 + 2 * 3'
  toolroom tools show calculator
  toolroom log --since 1h

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 denied, 4 needs approval, 5 unknown tool, 124 timeout, 130 interrupted
Data is stored in ~/.local/share/toolroom; set TOOLROOM_HOME to use another folder.";

#[derive(Args, Clone, Copy)]
struct GlobalOutputArgs {
    /// Print one JSON document instead of text
    #[arg(long, global = true)]
    json: bool,
    /// When to use colors
    #[arg(long, global = true, value_name = "WHEN", default_value_t, hide_default_value = true)]
    color: clap::ColorChoice,
}

#[derive(Args, Clone)]
struct Overrides {
    /// Set a configuration key for this command, e.g. policy.preset=careful (repeatable)
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Runs the command line of this process. `register` adds an embedder's own tools to the catalog, so that
/// they can be called, listed, completed and logged like the built-in ones.
#[must_use]
pub fn run(register: impl Fn(&Catalog) -> Result<(), RegisterError> + Send + Sync + 'static) -> ExitCode {
    if let Some(code) = run_helper() {
        return code;
    }
    let register: Register = Arc::new(register);
    if completions::complete(&register) {
        return ExitCode::SUCCESS;
    }
    console::redaction::hide(Vec::new());
    console::redaction::log_panics();
    // A core dump could hold secrets. `doctor` reports when this fails.
    drop(machine::disable_core_dumps());
    // Best effort.
    drop(interrupt::outlive_file_limit());
    let cli = match Cli::try_parse_from(environment::arguments()) {
        Ok(cli) => cli,
        Err(error) => return exit_on_parse_error(&error),
    };
    let output = Output::new(cli.output_args.json, cli.output_args.color);
    match &cli.command {
        Some(Command::Serve(args)) => args.start_log(),
        _ => console::redaction::log_warnings(),
    }
    let is_server = matches!(cli.command, Some(Command::Serve(_)));
    let outcome = runtime(is_server).map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(dispatch(cli.command, &cli.overrides.set, &output, &register));
        // A tool on the blocking pool may never end; the process does not wait for it.
        runtime.shutdown_background();
        result
    });
    let exit = outcome.unwrap_or_else(|error| Exit::of_error(&error, &output));
    Log::finish();
    ExitCode::from(exit.code())
}

/// Prints help, the version, or what is wrong with the command line.
fn exit_on_parse_error(error: &clap::Error) -> ExitCode {
    let is_version = error.kind() == ErrorKind::DisplayVersion;
    if let Some(conflict) = version_conflict().filter(|_| is_version) {
        return exit_on_parse_error(&conflict);
    }
    let wants_json = environment::arguments().iter().any(|word| word == "--json");
    if is_version && wants_json {
        let printed = Output::new(true, clap::ColorChoice::Never).document(&BuildInfo::current());
        return ExitCode::from(if printed.is_ok() { Exit::Done.code() } else { Exit::FAILED });
    }
    // Help and version come as errors too; those go to stdout with code 0.
    if !error.use_stderr() {
        return ExitCode::from(if error.print().is_ok() { Exit::Done.code() } else { Exit::FAILED });
    }
    let text = error.render().to_string();
    let output = Output::new(false, clap::ColorChoice::Auto);
    match text.strip_prefix("error: ") {
        Some(text) => output.error(text.trim_end()),
        // A missing subcommand prints the help.
        None => output.talk(visible(text.trim_end())),
    }
    ExitCode::from(Exit::USAGE)
}

/// The problem with other arguments next to `--version`, where clap stops parsing.
fn version_conflict() -> Option<clap::Error> {
    let others = environment::arguments().into_iter().filter(|word| word != "--version" && word != "-V");
    match Cli::try_parse_from(others) {
        Ok(Cli { command: None, .. }) => None,
        Ok(_) => Some(
            Cli::command()
                .error(ErrorKind::ArgumentConflict, "`--version` cannot be combined with a command"),
        ),
        Err(error) => Some(error).filter(clap::Error::use_stderr),
    }
}

/// Runs the supervisor of a program or the clipboard helper, if this process was started as one. Called before anything
/// is opened or read.
fn run_helper() -> Option<ExitCode> {
    let mut arguments = environment::arguments().into_iter().skip(1);
    let first = arguments.next()?;
    match first.to_str()? {
        SUBCOMMAND => Some(helper_main(arguments)),
        desktop::SUBCOMMAND => Some(desktop::helper_main(arguments)),
        _ => None,
    }
}

/// An embedder's own tools.
type Register = Arc<dyn Fn(&Catalog) -> Result<(), RegisterError> + Send + Sync>;

/// A single-threaded runtime starts faster and is enough for one command; the server uses all cores.
fn runtime(is_server: bool) -> io::Result<tokio::runtime::Runtime> {
    let mut builder = match is_server {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    };
    builder.enable_all().build()
}

async fn dispatch(
    command: Option<Command>,
    settings: &[String],
    output: &Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let command = match command {
        None if is_interactive(*output) => Command::Chat(Box::default()),
        None => {
            output.data(&Cli::command().render_help().ansi().to_string())?;
            return Ok(Exit::Done);
        }
        Some(Command::Completions(args)) => return completions::print_script(&args, output),
        // These work without a valid configuration or database, or open what they need themselves.
        Some(Command::Config(args)) => return config::run(settings, args, output, register).await,
        Some(Command::Init(args)) => return init::run(&args, output),
        Some(Command::Trust(args)) => return trust::run(settings, args, output).await,
        Some(Command::Backup(args)) => return backup::run(args, output).await,
        Some(Command::Migrate(args)) => return migrate::run(&args, output).await,
        Some(Command::SelfCheck(args)) => return self_check::run(&args, output, register).await,
        Some(Command::Man(args)) => return man::run(&args, output),
        Some(Command::Doctor(args)) => return doctor::run(settings, args, output).await,
        Some(Command::Sandbox(args)) => return sandbox::run(settings, args, output).await,
        Some(Command::Policy(args)) => return policy::run(settings, args, output, register).await,
        Some(Command::Serve(args)) => return serve::run(settings, args, output, register).await,
        Some(Command::Service(args)) => return service::run(&args, output),
        Some(Command::Mcp(args)) => return Box::pin(mcp::run(settings, args, *output, register)).await,
        Some(Command::Select(args)) => return select::run(settings, args, output, register).await,
        Some(command) => command,
    };
    let lifetime = if matches!(command, Command::Chat(_)) {
        ProcessLifetime::LongRunning
    } else {
        ProcessLifetime::OneCommand
    };
    let app = open(settings, lifetime, *output, register).await?;
    // Dropping a thousand tool definitions before the process exits only takes time.
    let _leaked = ManuallyDrop::new(app.room.clone());
    let scope = owner();
    let result = match command {
        Command::Chat(args) => Box::pin(chat::run(&app, scope, *args, output)).await,
        Command::Conversations(args) => conversations::run(&app, scope, args, output).await,
        Command::Runs(args) => Box::pin(runs::run(&app, scope, args, output)).await,
        Command::Call(args) => call::run(&app, scope, args, output).await,
        Command::Tools(args) => tools::run(&app, scope, args, output).await,
        Command::Switch(args) => switch::run(&app, scope, args, output).await,
        Command::Log(args) => log::run(&app, scope, args, output).await,
        Command::Artifacts(args) => artifacts::run(&app, scope, args, output).await,
        Command::Approvals(args) => approvals::run(&app, scope, args, output).await,
        Command::Memory(args) => memory::run(&app, scope, args, output).await,
        Command::Agents(args) => agents::run(&app, scope, args, output).await,
        Command::Secrets(args) => secrets::run(&app, scope, args, output).await,
        Command::Models(args) => models::run(&app, scope, args, output).await,
        Command::Keys(args) => keys::run(&app, scope, args, output).await,
        Command::Projects(args) => projects::run(&app, scope, args, output).await,
        Command::Export(args) => export::run(&app, scope, args, output).await,
        Command::Import(args) => import::run(&app, scope, args, output).await,
        Command::Prune(args) => prune::run(&app, scope, args, output).await,
        Command::Completions(_)
        | Command::Config(_)
        | Command::Init(_)
        | Command::Man(_)
        | Command::Mcp(_)
        | Command::Migrate(_)
        | Command::SelfCheck(_)
        | Command::Trust(_)
        | Command::Backup(_)
        | Command::Doctor(_)
        | Command::Policy(_)
        | Command::Sandbox(_)
        | Command::Serve(_)
        | Command::Service(_)
        | Command::Select(_) => Ok(Exit::Usage),
    };
    close(&app).await;
    result
}

/// Whether to start a chat when no command is given: on a terminal, without a pipe.
fn is_interactive(output: Output) -> bool {
    !output.is_json() && io::stdout().is_terminal() && Terminal::open().is_some()
}

/// The owner of the data folder acts for the whole local project.
fn owner() -> Scope {
    Scope::default()
}

/// Opens the toolroom for a command and prints configuration warnings.
async fn open(
    settings: &[String],
    lifetime: ProcessLifetime,
    output: Output,
    register: &Register,
) -> anyhow::Result<App> {
    let app = App::open(settings, lifetime, |catalog| register(catalog)).await?;
    match app.vault.redacted_values(&owner().project).await {
        Ok(hidden) => console::redaction::hide(hidden),
        // Calls fail until this is fixed; everything else works.
        Err(error) => tracing::warn!("secrets cannot be opened: {error:#}; see `toolroom doctor`"),
    }
    print_warnings(&app, output);
    Ok(app)
}

/// All acknowledged results are durable at this point, so a failed shutdown is only a warning.
async fn close(app: &App) {
    if let Err(error) = app.close().await {
        tracing::warn!(%error, "the database was not closed cleanly");
    }
}

/// Prints configuration warnings, and how many settings of an untrusted project file are ignored.
fn print_warnings(app: &App, output: Output) {
    for warning in &app.config.warnings {
        output.warning(&warning.to_string());
    }
    if !app.config.ignored.is_empty() {
        let file = app.sources.project.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let count = app.config.ignored.len();
        output.hint(&format!("`{file}` is not trusted; ignored settings: {count}; see `toolroom trust`"));
    }
}
