//! `toolroom mcp`: Toolroom as an MCP server, and the MCP servers whose tools it offers.

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
use crate::app::{App, ProcessLifetime};
use crate::gateway::forget;

const EXAMPLES: &str = "\
Examples:
    toolroom mcp config claude-code                                  connect Claude Code to Toolroom
    toolroom mcp config cursor --http https://tools.example/mcp      connect Cursor over HTTP, with an API key
    toolroom mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
    toolroom mcp add search --url https://search.example/mcp --header authorization=secret:SEARCH_KEY
    toolroom mcp test files          connect and list its tools
    toolroom mcp declare files --effect read --can reads-private     declare what its tools do
    toolroom mcp review files        review and accept changes of its tools";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct McpArgs {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Print the configuration that connects a client to Toolroom
    Config(config::McpConfigArgs),
    /// Serve MCP on standard input and output
    Serve(serve::McpServeArgs),
    /// List MCP servers
    List,
    /// Add a server: a program on this machine, or a URL
    Add(Box<add::AddArgs>),
    /// Change a server: its sandbox, readable files, variables or headers
    Set(set::SetArgs),
    /// Import servers from other programs, after a preview; starts nothing
    Import(import::McpImportArgs),
    /// Show a server
    Show(Named),
    /// Remove a server, its secrets and the accepted definitions of its tools
    #[command(visible_alias = "rm")]
    Remove(Named),
    /// Enable a server, and forget earlier failures
    Enable(Named),
    /// Disable a server and its tools
    Disable(Named),
    /// Connect to a server and list its tools
    Test(Named),
    /// Sign in at a server over HTTP
    Login(login::LoginArgs),
    /// Delete the token of a server
    Logout(Named),
    /// Show what a server printed to standard error
    Logs(Named),
    /// Declare what the tools of a server do, so that they need no approval before each call
    Declare(declare::DeclareArgs),
    /// Review changes of foreign tools, and accept them
    Review(review::ReviewArgs),
    /// Run as the client of the official conformance runner
    #[command(hide = true)]
    ConformanceClient(conformance_client::ConformanceArgs),
}

/// A server.
#[derive(Args)]
struct Named {
    /// Name of the server
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
    let app = open(settings, ProcessLifetime::OneCommand, output, register).await?;
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

/// MCP servers belong to the project of the machine's owner.
fn project() -> ProjectId {
    ProjectId::default()
}

/// The server with this name.
async fn find_server(app: &App, name: &str) -> anyhow::Result<ServerRecord> {
    let servers = app.store.servers(&project()).await?;
    let meant = nearest_one(name, servers.iter().map(|server| server.name.as_str())).map(str::to_owned);
    if let Some(server) = servers.into_iter().find(|server| server.name == name) {
        return Ok(server);
    }
    if let Some(server) = app.store.unreadable(&project()).await?.iter().find(|server| server.name == name) {
        let (name, why) = (visible(name), visible(&server.why));
        let text = format!(
            "the entry of `{name}` is unreadable: {why}; remove it with `toolroom mcp remove {name}`"
        );
        return Err(Missing(text).into());
    }
    let hint = match meant {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "see `toolroom mcp list`".to_owned(),
    };
    Err(Missing(format!("unknown server `{}`; {hint}", visible(name))).into())
}

async fn remove(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    // Also removes a server whose entry is unreadable.
    let removed = forget(app, &project(), name).await?;
    if !removed {
        find_server(app, name).await?;
    }
    match output.is_json() {
        true => output.document(&json!({"server": name, "removed": removed}))?,
        false => output.talk(format_args!("removed the server `{}`", visible(name))),
    }
    Ok(Exit::Done)
}

async fn enable(app: &App, name: &str, is_enabled: bool, output: Output) -> anyhow::Result<Exit> {
    let name = find_server(app, name).await?.name;
    app.store.switch_server(&project(), &name, is_enabled, app.room.clock().now()).await?;
    let server = find_server(app, &name).await?;
    if output.is_json() {
        output.document(&ServerDocument::load(app, server).await?)?;
    } else {
        let state = if is_enabled { "enabled" } else { "disabled" };
        output.talk(format_args!("the server `{}` is {state}", visible(&name)));
    }
    Ok(Exit::Done)
}

async fn logs(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = find_server(app, name).await?;
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
        "" => output.talk("no output on standard error"),
        log => output.data(&visible(log))?,
    }
    Ok(Exit::Done)
}
