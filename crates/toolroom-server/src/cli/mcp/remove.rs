//! `toolroom mcp remove`: a server is forgotten, with what was accepted of its tools and the secrets made for it.

use serde_json::json;
use toolroom::foreign::ForeignServers;

use super::super::exit::Exit;
use super::super::output::{Output, visible};
use super::{known, project};
use crate::app::App;

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, name).await?;
    let removed = app.store.remove_server(&project(), &server.name).await?;
    // Those that were made for it alone go with it.
    let own = format!("mcp.{}.", server.name);
    for secret in app.store.secrets(&project()).await?.iter().filter(|secret| secret.name.starts_with(&own)) {
        app.store.remove_secret(&project(), &secret.name).await?;
    }
    match output.is_json() {
        true => output.document(&json!({"server": server.name, "removed": removed}))?,
        false => output.talk(format_args!("removed the server `{}`", visible(&server.name))),
    }
    Ok(Exit::Done)
}
