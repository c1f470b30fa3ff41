//! Servers that bring tools: how they were last seen, and whether their programs are there. Starts nothing.

use std::path::Path;

use tokio::time::Instant;
use toolroom::foreign::{ForeignServers, ServerCondition, ServerRecord, Transport};
use toolroom::ledger::LedgerError;
use toolroom::scope::ProjectId;
use toolroom_host::process::FoundProgram;
use toolroom_host::sandbox::NamedProfile;
use toolroom_store::Store;
use toolroom_tools::mcp::lock::{LockState, state_of};

use super::facts::{ServerFacts, Standing};
use super::gather::{aside, told, within};

/// The servers of the person whose machine it is.
pub(super) async fn look(store: &Store, deadline: Instant) -> Result<Vec<ServerFacts>, String> {
    let mut seen = within(deadline, kept(store)).await.map_err(|late| late.to_string())?.map_err(told)?;
    // A file system may never answer.
    aside(deadline, move || {
        for (record, facts) in &mut seen {
            let is_readable = facts.standing != Standing::Unreadable;
            if is_readable && record.as_ref().is_some_and(|record| record.is_enabled && is_missing(record)) {
                facts.standing = Standing::NoProgram;
            }
        }
        seen.into_iter().map(|(_, facts)| facts).collect()
    })
    .await
}

async fn kept(store: &Store) -> Result<Vec<(Option<ServerRecord>, ServerFacts)>, LedgerError> {
    let project = ProjectId::default();
    let mut seen = Vec::new();
    for record in store.servers(&project).await? {
        // What cannot be read of one server says nothing about the others.
        let facts = facts(store, &project, &record).await.unwrap_or_else(|_| unreadable(&record.name));
        seen.push((Some(record), facts));
    }
    let lost = store.unreadable(&project).await?;
    seen.extend(lost.iter().map(|server| (None, unreadable(&server.name))));
    Ok(seen)
}

async fn facts(
    store: &Store,
    project: &ProjectId,
    record: &ServerRecord,
) -> Result<ServerFacts, LedgerError> {
    let condition = store.condition(project, &record.name).await?;
    let definitions = store.definitions(project, &record.name).await?;
    Ok(ServerFacts {
        name: record.name.clone(),
        standing: match condition {
            _ if !record.is_enabled => Standing::Off,
            ServerCondition { is_given_up: true, .. } => Standing::GivenUp,
            ServerCondition { failure: Some(_), .. } => Standing::Failing,
            _ => Standing::Fine,
        },
        waiting: definitions.iter().filter(|tool| state_of(tool) != LockState::Accepted).count(),
        is_confined: is_confined(&record.transport),
    })
}

fn unreadable(name: &str) -> ServerFacts {
    ServerFacts { name: name.to_owned(), standing: Standing::Unreadable, waiting: 0, is_confined: false }
}

fn is_confined(transport: &Transport) -> bool {
    match transport {
        Transport::Stdio(program) => !matches!(program.profile.parse(), Ok(NamedProfile::Off)),
        Transport::Http(_) | Transport::Sse(_) => false,
    }
}

/// Whether its program is nowhere. A path that begins somewhere else is found when it is started.
fn is_missing(record: &ServerRecord) -> bool {
    let Transport::Stdio(program) = &record.transport else { return false };
    let is_relative = program.command.contains('/') && !program.command.starts_with('/');
    !is_relative && FoundProgram::find(&program.command, Path::new("/")).is_none()
}
