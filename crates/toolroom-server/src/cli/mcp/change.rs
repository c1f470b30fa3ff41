//! Changes of what was said about a server, over what is said now: whoever says something else meanwhile is not undone.

use toolroom::foreign::{ForeignServers, ServerRecord};

use super::{known, project};
use crate::app::App;

/// So often somebody else may come in between.
const TRIES: u32 = 10;

/// Changes a server, each time over what is said of it then, until nobody has come in between.
pub(super) async fn change(
    app: &App,
    name: &str,
    mut changed: impl AsyncFnMut(ServerRecord) -> anyhow::Result<ServerRecord>,
) -> anyhow::Result<ServerRecord> {
    for _ in 0..TRIES {
        let before = known(app, name).await?;
        let after = changed(before.clone()).await?;
        let after = ServerRecord { changed_at: app.room.clock().now(), ..after };
        if app.store.replace_server(&project(), &before, &after).await? {
            return Ok(after);
        }
    }
    anyhow::bail!("others keep changing the server `{name}` at the same time; try again")
}
