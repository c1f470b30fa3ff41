//! Entering servers, and forgetting them.

use toolroom::foreign::{ForeignServers, ProgramEntry, ServerRecord, Transport};
use toolroom::scope::ProjectId;
use toolroom_host::folders::remove_private;
use toolroom_store::ServerEntry;

use super::grants::{forget_secrets, granted_to};
use crate::app::App;

/// A server to be entered, in the place of what somebody saw there before they decided on it. What was accepted of its
/// tools stays, so that a person sees what is different about those that come; what was granted for another address goes,
/// and so does what was seen of another server.
pub(crate) fn entry(before: Option<&ServerRecord>, record: ServerRecord) -> ServerEntry {
    let is_same_address = before.is_some_and(|before| address(before) == address(&record));
    ServerEntry {
        deleted_secrets: (!is_same_address).then(|| granted_to(&record.name)),
        is_other_server: before.is_some_and(|before| !is_same_server(before, &record)),
        before: before.cloned(),
        record,
    }
}

/// Forgets a server with all that was made for it: what was accepted of its tools, its secrets, its home. Says whether
/// there was one.
pub(crate) async fn forget(app: &App, project: &ProjectId, name: &str) -> anyhow::Result<bool> {
    // The name becomes part of a path, and of names of secrets.
    if !ServerRecord::is_name(name) || !app.store.remove_server(project, name).await? {
        return Ok(false);
    }
    forget_secrets(&app.store, project, name).await?;
    let folder = super::folder_of(&app.folders, name);
    tokio::task::spawn_blocking(move || remove_private(&folder)).await??;
    Ok(true)
}

/// Whether the same program is started or the same address asked.
pub(crate) fn is_same_server(one: &ServerRecord, other: &ServerRecord) -> bool {
    match (&one.transport, &other.transport) {
        (Transport::Stdio(one), Transport::Stdio(other)) => words(one) == words(other),
        _ => address(one) == address(other),
    }
}

fn words(entry: &ProgramEntry) -> (&str, &[String], Option<&str>) {
    (&entry.command, &entry.arguments, entry.folder.as_deref())
}

/// The address that a token would be for.
fn address(record: &ServerRecord) -> Option<&str> {
    match &record.transport {
        Transport::Http(address) | Transport::Sse(address) => Some(&address.url),
        Transport::Stdio(_) => None,
    }
}
