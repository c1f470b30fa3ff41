//! `toolroom mcp show`: shows all about one server.

use toolroom::foreign::Transport;
use toolroom_host::environment;

use super::document::{ServerDocument, declared_summary, target, value};
use super::find_server;
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{DIM, Output, visible};
use crate::cli::console::time::local_time;
use crate::gateway::process_list_warning;

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let document = ServerDocument::load(app, find_server(app, name).await?).await?;
    show(&document, output)?;
    Ok(Exit::Done)
}

/// Prints it as text or JSON.
pub(super) fn show(document: &ServerDocument, output: Output) -> anyhow::Result<()> {
    if output.is_json() {
        return output.document(document);
    }
    let ServerDocument { record, state, condition, reads, tools } = document;
    let mut text = String::new();
    let mut line =
        |name: &str, value: &str| text.push_str(&format!("{DIM}{name:<12}{DIM:#}{}\n", visible(value)));
    line("server", &record.name);
    line("state", state.label());
    match &record.transport {
        Transport::Stdio(program) => {
            line("command", &target(&record.transport));
            process_list_warning(&record.transport).iter().for_each(|warning| line("warning", warning));
            line("profile", &program.profile);
            program.folder.iter().for_each(|folder| line("folder", folder));
            reads.iter().for_each(|path| line("reads", path));
            program
                .environment
                .iter()
                .for_each(|(name, set)| line("variable", &format!("{name}={}", value(set))));
        }
        Transport::Http(address) | Transport::Sse(address) => {
            line("address", &target(&record.transport));
            address.headers.iter().for_each(|(name, set)| line("header", &format!("{name}: {}", value(set))));
        }
    }
    if !record.traits.all.is_empty() {
        line("declared", &declared_summary(record.traits.all));
    }
    record.imported_from.iter().for_each(|from| line("imported", from));
    condition.title.iter().for_each(|title| line("title", title));
    condition.era.iter().for_each(|era| line("era", era));
    let zone = environment::time_zone();
    condition.seen_at.iter().for_each(|at| line("last seen", &local_time(*at, &zone, "%Y-%m-%d %H:%M:%S")));
    condition.failure.iter().for_each(|failure| line("failure", failure));
    for tool in tools {
        line("tool", &format!("{} ({})", tool.id, tool.state.label()));
        tool.classification.iter().for_each(|tool| line("  class", &tool.summary()));
    }
    condition.left_out.iter().for_each(|left_out| line("left out", left_out));
    output.data(text.trim_end())?;
    Ok(())
}
