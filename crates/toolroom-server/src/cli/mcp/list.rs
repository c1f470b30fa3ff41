//! `toolroom mcp list`: which servers there are, and how they stand.

use toolroom::foreign::ForeignServers;

use super::super::exit::Exit;
use super::super::output::{BOLD, DIM, GREEN, Output, RED, YELLOW, one_line, table, visible};
use super::document::{ServerDocument, State, target};
use super::project;
use crate::app::App;

/// Room for a command beside the other columns; all of it is in `show`.
const TARGET_CHARS: usize = 60;

pub(super) async fn run(app: &App, output: Output) -> anyhow::Result<Exit> {
    let mut documents = Vec::new();
    for server in app.store.servers(&project()).await? {
        documents.push(ServerDocument::of(app, server).await?);
    }
    if output.is_json() {
        output.document(&documents)?;
        return Ok(Exit::Done);
    }
    if documents.is_empty() {
        output.talk("there is no server yet; add one with `toolroom mcp add`");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = documents.iter().map(row).collect();
    output.data(&table(&rows))?;
    if documents.iter().any(|document| document.counted().0 < document.counted().1) {
        output.hint("some tools wait for a person; look at them with `toolroom mcp review`");
    }
    Ok(Exit::Done)
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
        format!("{DIM}{}{DIM:#}", visible(&one_line(&target(&document.record.reached), TARGET_CHARS))),
    ]
}
