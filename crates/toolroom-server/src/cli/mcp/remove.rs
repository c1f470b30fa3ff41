//! `toolroom mcp remove`: a server is forgotten, with what was accepted of its tools and all that was made for it.

use serde_json::json;

use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{Output, visible};
use crate::gateway::forget;

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
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
