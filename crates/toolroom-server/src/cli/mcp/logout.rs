//! `toolroom mcp logout`: what was granted for a server is forgotten.

use serde_json::json;

use super::change::change;
use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::Exit;
use crate::cli::console::output::{Output, visible};
use crate::gateway::forget_grants;

pub(super) async fn run(app: &App, name: &str, output: Output) -> anyhow::Result<Exit> {
    let server = known(app, name).await?;
    let was_in = forget_grants(&app.store, &project(), &server.name).await?;
    if was_in {
        // A server that runs looks at what is said of it, and begins anew without what it was granted.
        change(app, &server.name, async |record| Ok(record)).await?;
    }
    let name = visible(&server.name);
    match (output.is_json(), was_in) {
        (true, _) => output.document(&json!({"server": server.name, "signed_out": was_in}))?,
        (false, true) => {
            output.talk(format_args!("signed out of `{name}`; where tokens are given out it may still hold"));
        }
        (false, false) => output.talk(format_args!("nobody was signed in at `{name}`")),
    }
    Ok(Exit::Done)
}
