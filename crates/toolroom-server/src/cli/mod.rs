//! The command line: a file per command. Data goes to stdout, talk to stderr; `--json` works everywhere.

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

use crate::app::{App, Stay};
use crate::telemetry::Log;
use command::Command;
use console::exit::Exit;
use console::output::{Output, visible};
use version::BuildInfo;

/// Where AI agents get their tools: defined once, guarded, executed, journaled.
#[derive(Parser)]
#[command(name = "toolroom", version, after_help = EXAMPLES, max_term_width = 110)]
struct Cli {
    #[command(flatten)]
    look: Look,
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

/// What holds for this one command.
#[derive(Args, Clone)]
struct Overrides {
    /// Set a key of the configuration for this command, e.g. policy.preset=careful (repeatable)
    #[arg(long, global = true, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Runs the command line of this process. `register` adds an embedder's own tools to the catalog, so that
/// they can be called, listed, completed and logged like the built-in ones.
#[must_use]
pub fn run(register: impl Fn(&Catalog) -> Result<(), RegisterError> + Send + Sync + 'static) -> ExitCode {
    if let Some(code) = supervise() {
        return code;
    }
    let register: Register = Arc::new(register);
    if completions::answer(&register) {
        return ExitCode::SUCCESS;
    }
    console::redaction::hide(Vec::new());
    console::redaction::tell_panics();
    // A crash must not leave secrets behind in a file. Where that cannot be arranged, `doctor` says so.
    drop(machine::disable_core_dumps());
    // Where that cannot be arranged, it is as it was everywhere.
    drop(interrupt::outlive_file_limit());
    let cli = match Cli::try_parse_from(environment::arguments()) {
        Ok(cli) => cli,
        Err(error) => return misread(&error),
    };
    let output = Output::new(cli.look.json, cli.look.color);
    match &cli.command {
        Some(Command::Serve(args)) => args.start_log(),
        _ => console::redaction::tell_warnings(),
    }
    let stays = matches!(cli.command, Some(Command::Serve(_)));
    let outcome = runtime(stays).map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(dispatch(cli.command, &cli.overrides.set, &output, &register));
        // A tool on the blocking pool may never end; the process does not wait for it.
        runtime.shutdown_background();
        result
    });
    let exit = outcome.unwrap_or_else(|error| Exit::of_error(&error, &output));
    Log::finish();
    ExitCode::from(exit.code())
}

/// What was asked for instead of a command, or what is wrong with the words.
fn misread(error: &clap::Error) -> ExitCode {
    let is_version = error.kind() == ErrorKind::DisplayVersion;
    if let Some(beside) = beside_version().filter(|_| is_version) {
        return misread(&beside);
    }
    let wants_json = environment::arguments().iter().any(|word| word == "--json");
    if is_version && wants_json {
        let told = Output::new(true, clap::ColorChoice::Never).document(&BuildInfo::of_this_program());
        return ExitCode::from(if told.is_ok() { Exit::Done.code() } else { Exit::FAILED });
    }
    // Help and version come as errors too; those go to stdout with code 0.
    if !error.use_stderr() {
        return ExitCode::from(if error.print().is_ok() { Exit::Done.code() } else { Exit::FAILED });
    }
    let text = error.render().to_string();
    let output = Output::new(false, clap::ColorChoice::Auto);
    match text.strip_prefix("error: ") {
        Some(text) => output.error(text.trim_end()),
        // A word is missing, and the help says which ones there are.
        None => output.talk(visible(text.trim_end())),
    }
    ExitCode::from(Exit::USAGE)
}

/// What is wrong with the words beside `--version`, at which clap stops to read.
fn beside_version() -> Option<clap::Error> {
    let others = environment::arguments().into_iter().filter(|word| word != "--version" && word != "-V");
    match Cli::try_parse_from(others) {
        Ok(Cli { command: None, .. }) => None,
        Ok(_) => Some(Cli::command().error(
            ErrorKind::ArgumentConflict,
            "`--version` runs no command; leave out the one or the other",
        )),
        Err(error) => Some(error).filter(clap::Error::use_stderr),
    }
}

/// Whether this process was started as the helper between us and a program or a clipboard, and how it ended then. Nothing is opened or
/// read before that.
fn supervise() -> Option<ExitCode> {
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

/// One thread is enough for one call, and starts faster; who stays serves many at once.
fn runtime(stays: bool) -> io::Result<tokio::runtime::Runtime> {
    let mut builder = match stays {
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
        None if is_talk(*output) => Command::Chat(Box::default()),
        None => {
            output.data(&Cli::command().render_help().ansi().to_string())?;
            return Ok(Exit::Done);
        }
        Some(Command::Completions(args)) => return completions::print_script(&args, output),
        // These have to work where nothing else does, or open what they need themselves.
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
    let stay = if matches!(command, Command::Chat(_)) { Stay::Long } else { Stay::Short };
    let app = open(settings, stay, *output, register).await?;
    // The process ends with this command: taking a thousand definitions apart before that would only take time.
    let _kept_to_the_end = ManuallyDrop::new(app.room.clone());
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

/// Whether somebody sits there who wants to talk: without a command, and without a pipe.
fn is_talk(output: Output) -> bool {
    !output.is_json() && io::stdout().is_terminal() && Terminal::open().is_some()
}

/// The owner of the data folder speaks for the whole local project.
fn owner() -> Scope {
    Scope::default()
}

/// Opens the toolroom for a command, and tells what is odd about it.
async fn open(settings: &[String], stay: Stay, output: Output, register: &Register) -> anyhow::Result<App> {
    let app = App::open(settings, stay, |catalog| register(catalog)).await?;
    match app.vault.hidden(&owner().project).await {
        Ok(hidden) => console::redaction::hide(hidden),
        // Calls are refused until it is mended; everything else still works.
        Err(error) => tracing::warn!("secrets cannot be opened: {error:#}; see `toolroom doctor`"),
    }
    tell_oddities(&app, output);
    Ok(app)
}

/// What was acknowledged is written or promised, and told: an untidy end must not turn it into a failure.
async fn close(app: &App) {
    if let Err(error) = app.close().await {
        tracing::warn!(%error, "the database could not be closed in order");
    }
}

/// What is odd about the configuration, and what a project's file may not do before it is trusted.
fn tell_oddities(app: &App, output: Output) {
    for warning in &app.config.warnings {
        output.warning(&warning.to_string());
    }
    if !app.config.ignored.is_empty() {
        let file = app.sources.project.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let count = app.config.ignored.len();
        output.hint(&format!(
            "`{file}` is not trusted; settings in it that are ignored: {count}; see `toolroom trust`"
        ));
    }
}
