//! The check `servers`: how MCP servers did last time, and whether their programs exist. Starts none of them.

use std::path::Path;

use tokio::time::Instant;
use toolroom::foreign::{ForeignServers, ServerCondition, ServerRecord, Transport};
use toolroom::ledger::LedgerError;
use toolroom::scope::ProjectId;
use toolroom_host::process::FoundProgram;
use toolroom_host::sandbox::NamedProfile;
use toolroom_store::Store;
use toolroom_tools::builtin::doctor::{Check, Finding};
use toolroom_tools::mcp::lock::{LockState, state_of};

use super::sandbox::sandbox_remedy;
use super::{counted, one, unexamined};
use crate::doctor::gather::{Facts, blocking, one_line, within};

/// An MCP server. Its own texts are left out: they are untrusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerFacts {
    pub(crate) name: String,
    pub(crate) state: ServerState,
    /// Tools that wait for review.
    pub(crate) in_review: usize,
    /// It is a program that runs in a sandbox.
    pub(crate) is_confined: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerState {
    Disabled,
    Ok,
    FailedLast,
    /// It failed so often that it is no longer started.
    GivenUp,
    NoProgram,
    /// Its stored entry cannot be read.
    Unreadable,
}

/// The servers of the project `local`.
pub(crate) async fn gather(store: &Store, deadline: Instant) -> Result<Vec<ServerFacts>, String> {
    let mut seen =
        within(deadline, stored(store)).await.map_err(|late| late.to_string())?.map_err(one_line)?;
    // A file system may never answer.
    blocking(deadline, move || {
        for (record, facts) in &mut seen {
            let is_readable = facts.state != ServerState::Unreadable;
            if is_readable && record.as_ref().is_some_and(|record| record.is_enabled && is_missing(record)) {
                facts.state = ServerState::NoProgram;
            }
        }
        seen.into_iter().map(|(_, facts)| facts).collect()
    })
    .await
}

async fn stored(store: &Store) -> Result<Vec<(Option<ServerRecord>, ServerFacts)>, LedgerError> {
    let project = ProjectId::default();
    let mut seen = Vec::new();
    for record in store.servers(&project).await? {
        // One unreadable server must not hide the others.
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
        state: match condition {
            _ if !record.is_enabled => ServerState::Disabled,
            ServerCondition { is_given_up: true, .. } => ServerState::GivenUp,
            ServerCondition { failure: Some(_), .. } => ServerState::FailedLast,
            _ => ServerState::Ok,
        },
        in_review: definitions.iter().filter(|tool| state_of(tool) != LockState::Accepted).count(),
        is_confined: is_confined(&record.transport),
    })
}

fn unreadable(name: &str) -> ServerFacts {
    ServerFacts { name: name.to_owned(), state: ServerState::Unreadable, in_review: 0, is_confined: false }
}

fn is_confined(transport: &Transport) -> bool {
    match transport {
        Transport::Stdio(program) => !matches!(program.profile.parse(), Ok(NamedProfile::Off)),
        Transport::Http(_) | Transport::Sse(_) => false,
    }
}

/// Whether its program does not exist. A relative path is only resolved when the server starts.
fn is_missing(record: &ServerRecord) -> bool {
    let Transport::Stdio(program) = &record.transport else { return false };
    let is_relative = program.command.contains('/') && !program.command.starts_with('/');
    !is_relative && FoundProgram::find(&program.command, Path::new("/")).is_none()
}

pub(crate) fn check(facts: &Facts) -> Check {
    let servers = match &facts.servers {
        None => return unexamined("servers.unexamined", "store"),
        Some(Err(cause)) => {
            let details = format!("stored servers cannot be read: {cause}");
            return one(Finding::error("servers.unreadable", details, "toolroom mcp list"));
        }
        Some(Ok(servers)) => servers,
    };
    let on: Vec<&ServerFacts> =
        servers.iter().filter(|server| server.state != ServerState::Disabled).collect();
    let mut found: Vec<Finding> = on.iter().filter_map(|server| trouble(server)).collect();
    let confined: Vec<&str> =
        on.iter().filter(|server| server.is_confined).map(|server| server.name.as_str()).collect();
    if facts.sandbox.is_err() && !confined.is_empty() {
        let details = format!("{} cannot start without a sandbox; see `sandbox`", named(&confined));
        let remedy = facts.machine.as_ref().map_or_else(|_| "toolroom sandbox".to_owned(), sandbox_remedy);
        found.push(Finding::warning("servers.no_sandbox", details, remedy));
    }
    found.extend(on.iter().filter(|server| server.in_review > 0).map(|server| in_review(server)));
    let details = match servers.len() {
        0 => "none".to_owned(),
        all => format!("{}, {} enabled", counted(all, "server"), on.len()),
    };
    Check::new(details, found)
}

fn trouble(server: &ServerFacts) -> Option<Finding> {
    let name = &server.name;
    let (code, details, remedy) = match server.state {
        ServerState::Disabled | ServerState::Ok => return None,
        ServerState::Unreadable => (
            "servers.entry_unreadable",
            format!("the entry of the server `{name}` cannot be read"),
            format!("toolroom mcp remove {name}"),
        ),
        ServerState::NoProgram => (
            "servers.no_program",
            format!("the program of the server `{name}` does not exist"),
            format!("install it, or: toolroom mcp add {name} --replace -- COMMAND"),
        ),
        ServerState::GivenUp => (
            "servers.given_up",
            format!("the server `{name}` failed repeatedly and is no longer started"),
            format!("toolroom mcp enable {name}"),
        ),
        ServerState::FailedLast => (
            "servers.failing",
            format!("the server `{name}` failed the last time"),
            format!("toolroom mcp test {name}"),
        ),
    };
    Some(Finding::warning(code, details, remedy))
}

fn in_review(server: &ServerFacts) -> Finding {
    let name = &server.name;
    let details =
        format!("{} of the server `{name}` disabled until reviewed", counted(server.in_review, "tool"));
    Finding::warning("servers.review", details, format!("toolroom mcp review {name}"))
}

fn named(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
