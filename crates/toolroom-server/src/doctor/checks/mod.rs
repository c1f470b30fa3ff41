//! The checks of `toolroom doctor`, a file for each subject: the facts it needs, how they are gathered, and what they mean.
//!
//! Facts are plain values, so every fault can be tested without causing it. A finding that is not in order has a stable
//! code and a command to type.

pub(super) mod clock;
pub(super) mod config;
pub(super) mod counts;
pub(super) mod disk;
pub(super) mod files;
pub(super) mod models;
pub(super) mod policy;
pub(super) mod sandbox;
pub(super) mod secrets;
pub(super) mod servers;
pub(super) mod store;
#[cfg(test)]
mod tests;

use std::path::Path;

use store::{OpenStore, StoreFacts, StoreState};
use toolroom::clock::Timestamp;
use toolroom_host::machine::Machine;
use toolroom_tools::builtin::doctor::{Check, Finding, Report};

use super::gather::Facts;

pub(super) const MB: u64 = 1_000_000;
pub(super) const GB: u64 = 1_000 * MB;

/// Longer lists are cut to this many names.
pub(super) const LISTED: usize = 5;

/// Restores lost or damaged data.
pub(super) const RESTORE: &str = "toolroom backup restore FILE";

pub(super) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { plural })
}

pub(super) fn first_of(lines: &[String]) -> String {
    let first = lines.first().map(String::as_str).unwrap_or_default();
    match lines.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} (and {} more)", count - 1),
    }
}

pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Coarse, so that consecutive reports are equal.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        ..MB => "less than 1 MB".to_owned(),
        MB..GB => format!("{} MB", bytes / MB),
        GB.. => format!("{}.{} GB", bytes / GB, bytes % GB / (100 * MB)),
    }
}

/// A path, quoted for the shell.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

const NOT_CONFIGURED: &str = "not configured";

/// Runs all checks over the facts.
pub(super) fn report(facts: &Facts) -> Report {
    let newest_at = facts.store.as_ref().and_then(newest_at);
    let checks = vec![
        ("config", config::check(&facts.config)),
        ("memory", counts::memory(facts)),
        ("context", models::context(facts.models.as_ref())),
        ("provider", models::provider(facts.models.as_ref())),
        ("sessions", counts::sessions(facts)),
        ("policy", policy::check(facts.policy.as_ref(), facts.answers.as_ref())),
        ("files", files::check(facts.files.as_ref())),
        ("secrets", secrets::check(&facts.key, facts.sealed.as_ref())),
        (
            "store",
            facts.store.as_ref().map_or_else(|| unexamined("store.unexamined", "config"), store::check),
        ),
        ("instances", with_store(facts, "instances.unexamined", counts::instances)),
        ("approvals", with_store(facts, "approvals.unexamined", counts::approvals)),
        ("servers", servers::check(facts)),
        ("disk", facts.disk.as_ref().map_or_else(|| unexamined("disk.unexamined", "config"), disk::check)),
        (
            "sandbox",
            with_machine(facts, "sandbox.unreadable", |machine| sandbox::check(machine, &facts.sandbox)),
        ),
        (
            "clock",
            with_machine(facts, "clock.unreadable", |machine| clock::check(machine, newest_at, facts.at)),
        ),
    ];
    Report::new(facts.at, checks)
}

fn newest_at(store: &StoreFacts) -> Option<Timestamp> {
    match &store.state {
        StoreState::Open(open) => open.health.newest_at,
        StoreState::Absent | StoreState::Lost(_) | StoreState::Unusable(..) | StoreState::Gone(_) => None,
    }
}

fn one(finding: Finding) -> Check {
    Check { worst: finding, further: Vec::new() }
}

/// A check that could not run because of another one, as a warning.
fn unexamined(code: &'static str, on: &str) -> Check {
    one(Finding::warning(code, format!("not examined, see `{on}`"), "toolroom doctor"))
}

/// Runs a check over the database.
fn with_store(facts: &Facts, code: &'static str, check: fn(&OpenStore) -> Check) -> Check {
    match facts.store.as_ref().map(|store| &store.state) {
        Some(StoreState::Open(open)) => check(open),
        Some(StoreState::Absent | StoreState::Lost(_)) => one(Finding::ok("none")),
        Some(StoreState::Unusable(..) | StoreState::Gone(_)) => unexamined(code, "store"),
        None => unexamined(code, "config"),
    }
}

fn with_machine(facts: &Facts, code: &'static str, check: impl Fn(&Machine) -> Check) -> Check {
    match &facts.machine {
        Ok(machine) => check(machine),
        Err(cause) => one(Finding::error(code, format!("cannot be examined: {cause}"), "toolroom doctor")),
    }
}

/// Not examined because another check already reports the fault.
fn not_examined(on: &str) -> Check {
    one(Finding::ok(format!("not examined, see `{on}`")))
}
