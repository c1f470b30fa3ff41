//! `toolroom mcp list`: lists servers and their states.

use serde_json::json;
use toolroom::foreign::{ForeignServers, UnreadableServer};

use super::document::{McpServerState, ServerDocument, target};
use super::project;
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, GREEN, Output, RED, YELLOW, one_line, table, visible};

/// Width of the command; `toolroom mcp show` shows all of it.
const TARGET_CHARS: usize = 60;

pub(super) async fn run(app: &App, output: Output) -> anyhow::Result<Exit> {
    let mut documents = Vec::new();
    let mut unreadable = app.store.unreadable(&project()).await?;
    for server in app.store.servers(&project()).await? {
        let name = server.name.clone();
        match ServerDocument::load(app, server).await {
            Ok(document) => documents.push(document),
            Err(error) => unreadable.push(UnreadableServer { name, why: format!("{error:#}") }),
        }
    }
    if output.is_json() {
        let listed = documents.iter().map(serde_json::to_value).chain(unreadable.iter().map(|server| {
            let UnreadableServer { name, why } = server;
            Ok(json!({"name": name, "state": "unreadable", "why": why}))
        }));
        output.document(&listed.collect::<Result<Vec<_>, _>>()?)?;
        return Ok(Exit::Done);
    }
    if documents.is_empty() && unreadable.is_empty() {
        output.talk("no servers yet; add one with `toolroom mcp add`");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> =
        documents.iter().map(row).chain(unreadable.iter().map(unreadable_row)).collect();
    output.data(&table(&rows))?;
    if !unreadable.is_empty() {
        output.hint("servers with an unreadable entry are not used; remove them with `toolroom mcp remove`");
    }
    if documents.iter().any(|document| document.tool_counts().0 < document.tool_counts().1) {
        output.hint("some tools wait for review; see `toolroom mcp review`");
    }
    Ok(Exit::Done)
}

fn unreadable_row(UnreadableServer { name, why }: &UnreadableServer) -> Vec<String> {
    vec![
        format!("{BOLD}{}{BOLD:#}", visible(name)),
        format!("{RED}unreadable{RED:#}"),
        "no tools".to_owned(),
        format!("{DIM}{}{DIM:#}", visible(&one_line(why, TARGET_CHARS))),
    ]
}

fn row(document: &ServerDocument) -> Vec<String> {
    let style = match document.state {
        McpServerState::Ready => GREEN,
        McpServerState::Disabled | McpServerState::NeverSeen => DIM,
        McpServerState::Failing => YELLOW,
        McpServerState::GivenUp => RED,
    };
    let (accepted, all) = document.tool_counts();
    vec![
        format!("{BOLD}{}{BOLD:#}", visible(&document.record.name)),
        format!("{style}{}{style:#}", document.state.label()),
        format!("{accepted} of {all} tools"),
        format!("{DIM}{}{DIM:#}", visible(&one_line(&target(&document.record.transport), TARGET_CHARS))),
    ]
}
