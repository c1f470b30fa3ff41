//! `toolroom mcp logs`: what a server printed as errors, the end of it.

use serde_json::json;
use toolroom::foreign::ForeignServers;

use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{Output, visible};

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
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
