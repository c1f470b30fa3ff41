//! `toolroom mcp enable` and `toolroom mcp disable`.

use toolroom::foreign::ForeignServers;

use super::document::ServerDocument;
use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{Output, visible};

pub(super) async fn run(app: &App, name: &str, is_enabled: bool, output: Output) -> anyhow::Result<Exit> {
    let name = known(app, name).await?.name;
    app.store.switch_server(&project(), &name, is_enabled, app.room.clock().now()).await?;
    let server = known(app, &name).await?;
    if output.is_json() {
        output.document(&ServerDocument::of(app, server).await?)?;
    } else {
        let state = if is_enabled { "on" } else { "off" };
        output.talk(format_args!("the server `{}` is {state}", visible(&name)));
    }
    Ok(Exit::Done)
}
