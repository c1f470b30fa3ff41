//! `toolroom mcp enable` and `toolroom mcp disable`.

use toolroom::foreign::{ForeignServers, ServerRecord};

use super::super::exit::Exit;
use super::super::output::{Output, visible};
use super::document::ServerDocument;
use super::{known, project};
use crate::app::App;

pub(super) async fn run(app: &App, name: &str, is_enabled: bool, output: Output) -> anyhow::Result<Exit> {
    let before = known(app, name).await?;
    let server = ServerRecord { is_enabled, changed_at: app.room.clock().now(), ..before };
    app.store.set_server(&project(), &server).await?;
    if is_enabled {
        let mut condition = app.store.condition(&project(), name).await?;
        condition.is_given_up = false;
        app.store.set_condition(&project(), name, &condition).await?;
    }
    if output.is_json() {
        output.document(&ServerDocument::of(app, server).await?)?;
    } else {
        let state = if is_enabled { "on" } else { "off" };
        output.talk(format_args!("the server `{}` is {state}", visible(name)));
    }
    Ok(Exit::Done)
}
