//! `toolroom mcp`: this toolroom for clients of the Model Context Protocol, and the tools of other servers here.

mod add;
mod callback;
mod config;
mod conformance_client;
mod declare;
mod diff;
mod document;
mod entry;
mod import;
mod list;
mod login;
mod review;
mod serve;
mod set;
mod show;
mod snippet;
mod test;

use clap::{Args, Subcommand};
use document::ServerDocument;
use serde_json::json;
use toolroom::foreign::{ForeignServers, ServerRecord};
use toolroom::nearest::nearest_one;
use toolroom::scope::ProjectId;

use super::console::exit::{Exit, Missing};
use super::console::output::{Output, visible};
use super::{Register, close, open};
use crate::app::{App, Stay};
use crate::gateway::forget;

const EXAMPLES: &str = "\
Examples:
  toolroom mcp config claude-code                                  how Claude Code gets these tools
  toolroom mcp config cursor --http https://tools.example/mcp      the same over HTTP, with a key
  toolroom mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  toolroom mcp add search --url https://search.example/mcp --header authorization=secret:SEARCH_KEY
  toolroom mcp test files          connects, and lists the tools it has
  toolroom mcp declare files --effect read --can reads-private     what its tools do
  toolroom mcp review files        what has changed about its tools, and whether that is fine";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct McpArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Print what connects a client to this toolroom
    Config(config::ConfigArgs),
    /// Serve the client that started this, over standard input and output
    Serve(serve::ServeArgs),
    /// List servers
    List,
    /// Add a server: a program on this machine, or an address
    Add(Box<add::AddArgs>),
    /// Change parts of an entry: its sandbox, what it may read, its variables or headers
    Set(set::SetArgs),
    /// Take over servers that other programs know: shown first, and nothing is started
    Import(import::ImportArgs),
    /// Show all about one
    Show(Named),
    /// Remove a server and what was accepted of its tools
    #[command(visible_alias = "rm")]
    Remove(Named),
    /// Switch a server on; what failed before is forgotten
    Enable(Named),
    /// Switch a server off, and with it its tools
    Disable(Named),
    /// Connect to a server and list its tools
    Test(Named),
    /// Sign in at a server over HTTP
    Login(login::LoginArgs),
    /// Forget what was granted for a server
    Logout(Named),
    /// See what a server printed as errors
    Logs(Named),
    /// Say what the tools of a server do, so that they need not ask before each call
    Declare(declare::DeclareArgs),
    /// See what has changed about foreign tools, and accept it
    Review(review::ReviewArgs),
    /// Be the client of the official conformance runner
    #[command(hide = true)]
    ConformanceClient(conformance_client::ConformanceArgs),
}

/// A server by its name.
#[derive(Args)]
struct Named {
    /// Its name
    name: String,
}

pub(super) async fn run(
    settings: &[String],
    args: McpArgs,
    output: Output,
    register: &Register,
) -> anyhow::Result<Exit> {
    let action = match args.action.unwrap_or(Action::List) {
        Action::Config(args) => return config::run(&args, output),
        Action::Serve(args) => return serve::run(settings, &args, output, register).await,
        Action::ConformanceClient(args) => return conformance_client::run(&args).await,
        action => action,
    };
    let app = open(settings, Stay::Short, output, register).await?;
    let result = act(&app, action, output).await;
    close(&app).await;
    result
}

async fn act(app: &App, action: Action, output: Output) -> anyhow::Result<Exit> {
    match action {
        Action::List => list::run(app, output).await,
        Action::Add(args) => add::run(app, *args, output).await,
        Action::Set(args) => set::run(app, args, output).await,
        Action::Import(args) => import::run(app, args, output).await,
        Action::Show(Named { name }) => show::run(app, &name, output).await,
        Action::Remove(Named { name }) => remove(app, &name, output).await,
        Action::Enable(Named { name }) => enable(app, &name, true, output).await,
        Action::Disable(Named { name }) => enable(app, &name, false, output).await,
        Action::Test(Named { name }) => test::run(app, &name, output).await,
        Action::Login(args) => login::run(app, args, output).await,
        Action::Logout(Named { name }) => login::logout(app, &name, output).await,
        Action::Logs(Named { name }) => logs(app, &name, output).await,
        Action::Declare(args) => declare::run(app, args, output).await,
        Action::Review(args) => review::run(app, args, output).await,
        Action::Config(_) | Action::Serve(_) | Action::ConformanceClient(_) => Ok(Exit::Usage),
    }
}

/// Servers belong to the project of the person whose machine it is.
fn project() -> ProjectId {
    ProjectId::default()
}

/// The server of that name.
async fn known(app: &App, name: &str) -> anyhow::Result<ServerRecord> {
    let servers = app.store.servers(&project()).await?;
    let meant = nearest_one(name, servers.iter().map(|server| server.name.as_str())).map(str::to_owned);
    if let Some(server) = servers.into_iter().find(|server| server.name == name) {
        return Ok(server);
    }
    if let Some(server) = app.store.unreadable(&project()).await?.iter().find(|server| server.name == name) {
        let (name, why) = (visible(name), visible(&server.why));
        let text =
            format!("the entry of `{name}` cannot be read: {why}; `toolroom mcp remove {name}` forgets it");
        return Err(Missing(text).into());
    }
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "see `toolroom mcp list`".to_owned(),
    };
    Err(Missing(format!("there is no server `{}`; {hint}", visible(name))).into())
}

async fn remove(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    // An entry that cannot be read can still be forgotten.
    let removed = forget(app, &project(), name).await?;
    if !removed {
        known(app, name).await?;
    }
    match output.is_json() {
        true => output.document(&json!({"server": name, "removed": removed}))?,
        false => output.talk(format_args!("removed the server `{}`", visible(name))),
    }
    Ok(Exit::Done)
}

async fn enable(app: &App, name: &str, is_enabled: bool, output: Output) -> anyhow::Result<Exit> {
    let name = known(app, name).await?.name;
    app.store.switch_server(&project(), &name, is_enabled, app.room.clock().now()).await?;
    let server = known(app, &name).await?;
    if output.is_json() {
        output.document(&ServerDocument::of(app, server).await?)?;
    } else {
        let state = if is_enabled { "on" } else { "off" };
        output.talk(format_args!("the server `{}` is {state}", visible(&name)));
    }
    Ok(Exit::Done)
}

async fn logs(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, name).await?;
    let condition = app.store.condition(&project(), &server.name).await?;
    if output.is_json() {
        output.document(&json!({
            "server": server.name,
            "failure": condition.failure,
            "seen_at": condition.seen_at,
            "log": condition.log,
        }))?;
        return Ok(Exit::Done);
    }
    if let Some(failure) = &condition.failure {
        output.warning(failure);
    }
    match condition.log.trim_end() {
        "" => output.talk("it has printed nothing as an error"),
        log => output.data(&visible(log))?,
    }
    Ok(Exit::Done)
}
