//! `toolroom mcp test`: connects to a server and lists its tools.

use toolroom::foreign::{ServerRecord, Transport};

use super::document::{ServerDocument, ToolState};
use super::known;
use super::show::show;
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{DIM, GREEN, Output, visible};

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, name).await?;
    look(app, server, output).await
}

/// Connects, and tells what was seen.
pub(super) async fn look(app: &App, server: ServerRecord, output: Output) -> anyhow::Result<Exit> {
    let name = visible(&server.name);
    let is_program = matches!(server.transport, Transport::Stdio(_));
    let seen = app.gateway.inspect(&server).await;
    let document = ServerDocument::of(app, server).await?;
    let Err(error) = seen else {
        if output.is_json() {
            show(&document, output)?;
            return Ok(Exit::Done);
        }
        let (accepted, all) = document.counted();
        output.talk(format_args!("{GREEN}`{name}` works{GREEN:#}: {accepted} of {all} tools can be used"));
        for tool in &document.tools {
            let mark = if tool.state == ToolState::Accepted { "" } else { tool.state.words() };
            output.data(format!("{}  {mark}", visible(&tool.id)).trim_end())?;
            if !tool.about.is_empty() {
                output.data(&format!("    {DIM}{}{DIM:#}", visible(&tool.about)))?;
            }
        }
        document.condition.left_out.iter().for_each(|left_out| output.warning(left_out));
        if accepted < all {
            output.hint(&format!("look at those that wait with `toolroom mcp review {name}`"));
        }
        return Ok(Exit::Done);
    };
    if output.is_json() {
        show(&document, output)?;
    }
    output.failure(&format!("`{name}` does not work: {}", visible(&error.to_string())), None, None);
    let look = match is_program {
        true => format!("what it printed is in `toolroom mcp logs {name}`"),
        false => format!("where it is and what is sent along is in `toolroom mcp show {name}`"),
    };
    output.hint(&format!("{look}; try again with `toolroom mcp test {name}`"));
    Ok(Exit::Failed)
}
