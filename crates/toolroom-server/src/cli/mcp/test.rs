//! `toolroom mcp test`: connects to a server and lists its tools.

use toolroom::foreign::ServerRecord;

use super::super::exit::Exit;
use super::super::output::{GREEN, Output, visible};
use super::document::{ServerDocument, ToolState};
use super::known;
use super::show::show;
use crate::app::App;

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, name).await?;
    look(app, server, output).await
}

/// Connects, and tells what was seen.
pub(super) async fn look(app: &App, server: ServerRecord, output: Output) -> anyhow::Result<Exit> {
    let name = visible(&server.name);
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
    output.failure(&format!("`{name}` does not work: {error}"), None, None);
    output.hint(&format!(
        "what it printed is in `toolroom mcp logs {name}`; try again with `toolroom mcp test {name}`"
    ));
    Ok(Exit::Failed)
}
