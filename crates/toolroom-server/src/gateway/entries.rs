//! Storing and removing servers.

use toolroom::foreign::{ForeignServers, ProgramEntry, ServerRecord, Transport};
use toolroom::scope::ProjectId;
use toolroom_host::folders::remove_private;
use toolroom_store::ServerEntry;

use super::grants::{forget_secrets, oauth_prefix};
use crate::app::App;

/// An update that stores a server in place of `before`. Accepted definitions are kept, so that the user sees differences.
/// The token is deleted if the URL changes, and the condition if the server changes.
pub(crate) fn entry(before: Option<&ServerRecord>, record: ServerRecord) -> ServerEntry {
    let is_same_address = before.is_some_and(|before| address(before) == address(&record));
    ServerEntry {
        deleted_secrets: (!is_same_address).then(|| oauth_prefix(&record.name)),
        is_other_server: before.is_some_and(|before| !is_same_server(before, &record)),
        before: before.cloned(),
        record,
    }
}

/// Removes a server with its definitions, secrets and home folder. Returns whether it existed.
pub(crate) async fn forget(app: &App, project: &ProjectId, name: &str) -> anyhow::Result<bool> {
    // Validates the name first: it becomes part of a path and of names of secrets.
    if !ServerRecord::is_name(name) || !app.store.remove_server(project, name).await? {
        return Ok(false);
    }
    forget_secrets(&app.store, project, name).await?;
    let folder = super::folder_of(&app.folders, name);
    tokio::task::spawn_blocking(move || remove_private(&folder)).await??;
    Ok(true)
}

/// Whether two entries start the same program or use the same URL.
pub(crate) fn is_same_server(one: &ServerRecord, other: &ServerRecord) -> bool {
    match (&one.transport, &other.transport) {
        (Transport::Stdio(one), Transport::Stdio(other)) => command(one) == command(other),
        _ => address(one) == address(other),
    }
}

fn command(entry: &ProgramEntry) -> (&str, &[String], Option<&str>) {
    (&entry.command, &entry.arguments, entry.folder.as_deref())
}

/// The URL that a token would be for.
fn address(record: &ServerRecord) -> Option<&str> {
    match &record.transport {
        Transport::Http(address) | Transport::Sse(address) => Some(&address.url),
        Transport::Stdio(_) => None,
    }
}
