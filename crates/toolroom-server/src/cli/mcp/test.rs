//! `toolroom mcp test`: connects to a server and lists its tools.

use toolroom::foreign::{ServerRecord, Transport};

use super::document::{ServerDocument, ToolState};
use super::find_server;
use super::show::show;
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{DIM, GREEN, Output, visible};

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = find_server(app, name).await?;
    test_server(app, server, output).await
}

/// Connects and shows the tools.
pub(super) async fn test_server(app: &App, server: ServerRecord, output: Output) -> anyhow::Result<Exit> {
    let name = visible(&server.name);
    let is_program = matches!(server.transport, Transport::Stdio(_));
    let inspected = app.gateway.inspect(&server).await;
    let document = ServerDocument::load(app, server).await?;
    let Err(error) = inspected else {
        if output.is_json() {
            show(&document, output)?;
            return Ok(Exit::Done);
        }
        let (accepted, all) = document.tool_counts();
        output.talk(format_args!("{GREEN}`{name}` works{GREEN:#}: {accepted} of {all} tools available"));
        for tool in &document.tools {
            let mark = if tool.state == ToolState::Accepted { "" } else { tool.state.label() };
            output.data(format!("{}  {mark}", visible(&tool.id)).trim_end())?;
            if !tool.about.is_empty() {
                output.data(&format!("    {DIM}{}{DIM:#}", visible(&tool.about)))?;
            }
        }
        document.condition.left_out.iter().for_each(|left_out| output.warning(left_out));
        if accepted < all {
            output.hint(&format!("review the others with `toolroom mcp review {name}`"));
        }
        return Ok(Exit::Done);
    };
    if output.is_json() {
        show(&document, output)?;
    }
    output.failure(&format!("`{name}` does not work: {}", visible(&error.to_string())), None, None);
    let details = match is_program {
        true => format!("see its output with `toolroom mcp logs {name}`"),
        false => format!("check its URL and headers with `toolroom mcp show {name}`"),
    };
    output.hint(&format!("{details}; try again with `toolroom mcp test {name}`"));
    Ok(Exit::Failed)
}
