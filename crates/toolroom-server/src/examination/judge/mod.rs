//! From facts to a report. Nothing is looked at here: the same facts always give the same report.
//!
//! Every finding that is not in order has a code that stays the same, and something to type. Each file judges one area.

mod calls;
mod files;
mod machine;
mod secrets;
mod servers;
mod settings;
mod store;
mod wording;
mod words;

use toolroom::clock::Timestamp;
use toolroom_host::machine::Machine;
use toolroom_tools::builtin::doctor::{Check, Finding, Report};

use super::facts::{Facts, OpenStore, StoreFacts, StoreState};

/// What these facts mean.
pub(super) fn judge(facts: &Facts) -> Report {
    let newest_at = facts.store.as_ref().and_then(newest_at);
    let checks = vec![
        ("config", settings::config(&facts.config)),
        ("memory", words::memory(facts)),
        ("context", words::context(facts.models.as_ref())),
        ("provider", words::provider(facts.models.as_ref())),
        ("sessions", words::sessions(facts)),
        ("policy", settings::policy(facts.policy.as_ref(), facts.answers.as_ref())),
        ("files", files::files(facts.files.as_ref())),
        ("secrets", secrets::secrets(&facts.key, facts.sealed.as_ref())),
        (
            "store",
            facts.store.as_ref().map_or_else(|| unexamined("store.unexamined", "config"), store::store),
        ),
        ("instances", of_store(facts, "instances.unexamined", calls::instances)),
        ("approvals", of_store(facts, "approvals.unexamined", calls::approvals)),
        ("servers", servers::servers(facts)),
        ("disk", facts.disk.as_ref().map_or_else(|| unexamined("disk.unexamined", "config"), machine::disk)),
        (
            "sandbox",
            of_machine(facts, "sandbox.unreadable", |machine| machine::sandbox(machine, &facts.sandbox)),
        ),
        (
            "clock",
            of_machine(facts, "clock.unreadable", |machine| machine::clock(machine, newest_at, facts.at)),
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

/// A part that depends on another one, which is broken.
fn unexamined(code: &'static str, on: &str) -> Check {
    one(Finding::warning(code, format!("not examined, see `{on}`"), "toolroom doctor"))
}

/// What is in the database: nothing, if there is none.
fn of_store(facts: &Facts, code: &'static str, judge: fn(&OpenStore) -> Check) -> Check {
    match facts.store.as_ref().map(|store| &store.state) {
        Some(StoreState::Open(open)) => judge(open),
        Some(StoreState::Absent | StoreState::Lost(_)) => one(Finding::ok("none")),
        Some(StoreState::Unusable(..) | StoreState::Gone(_)) => unexamined(code, "store"),
        None => unexamined(code, "config"),
    }
}

fn of_machine(facts: &Facts, code: &'static str, judge: impl Fn(&Machine) -> Check) -> Check {
    match &facts.machine {
        Ok(machine) => judge(machine),
        Err(cause) => one(Finding::error(code, format!("cannot be examined: {cause}"), "toolroom doctor")),
    }
}

#[cfg(test)]
mod tests;
