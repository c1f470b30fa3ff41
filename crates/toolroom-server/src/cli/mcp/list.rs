//! `toolroom mcp list`: which servers there are, and how they stand.

use serde_json::json;
use toolroom::foreign::{ForeignServers, UnreadableServer};

use super::document::{ServerDocument, State, target};
use super::project;
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{BOLD, DIM, GREEN, Output, RED, YELLOW, one_line, table, visible};

/// Room for a command beside the other columns; all of it is in `show`.
const TARGET_CHARS: usize = 60;

pub(super) async fn run(app: &App, output: Output) -> anyhow::Result<Exit> {
    let mut documents = Vec::new();
    let mut unreadable = app.store.unreadable(&project()).await?;
    for server in app.store.servers(&project()).await? {
        let name = server.name.clone();
        match ServerDocument::of(app, server).await {
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
        output.talk("there is no server yet; add one with `toolroom mcp add`");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = documents.iter().map(row).chain(unreadable.iter().map(lost)).collect();
    output.data(&table(&rows))?;
    if !unreadable.is_empty() {
        output.hint("an entry that cannot be read is not used; `toolroom mcp remove` forgets it");
    }
    if documents.iter().any(|document| document.counted().0 < document.counted().1) {
        output.hint("some tools wait for a person; look at them with `toolroom mcp review`");
    }
    Ok(Exit::Done)
}

/// A server whose entry cannot be read.
fn lost(UnreadableServer { name, why }: &UnreadableServer) -> Vec<String> {
    vec![
        format!("{BOLD}{}{BOLD:#}", visible(name)),
        format!("{RED}unreadable{RED:#}"),
        "no tools".to_owned(),
        format!("{DIM}{}{DIM:#}", visible(&one_line(why, TARGET_CHARS))),
    ]
}

fn row(document: &ServerDocument) -> Vec<String> {
    let style = match document.state {
        State::Ready => GREEN,
        State::Disabled | State::NeverSeen => DIM,
        State::Failing => YELLOW,
        State::GivenUp => RED,
    };
    let (accepted, all) = document.counted();
    vec![
        format!("{BOLD}{}{BOLD:#}", visible(&document.record.name)),
        format!("{style}{}{style:#}", document.state.words()),
        format!("{accepted} of {all} tools"),
        format!("{DIM}{}{DIM:#}", visible(&one_line(&target(&document.record.transport), TARGET_CHARS))),
    ]
}
