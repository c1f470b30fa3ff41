//! The checks `memory`, `sessions`, `instances` and `approvals`: rows that are counted in an open database.

use toolroom::ledger::CallStatus;
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::store::{OpenStore, StoreState};
use super::{NOT_CONFIGURED, counted, not_examined, one};
use crate::doctor::gather::Facts;

pub(crate) fn memory(facts: &Facts) -> Check {
    count_in_store(facts, |open| {
        Some(match open.counts?.memories {
            1 => "1 memory".to_owned(),
            memories => format!("{memories} memories"),
        })
    })
}

pub(crate) fn sessions(facts: &Facts) -> Check {
    count_in_store(facts, |open| Some(counted(open.counts?.conversations, "conversation")))
}

fn count_in_store(facts: &Facts, count: fn(&OpenStore) -> Option<String>) -> Check {
    match facts.store.as_ref().map(|store| &store.state) {
        Some(StoreState::Absent | StoreState::Lost(_)) => one(Finding::ok(NOT_CONFIGURED)),
        Some(StoreState::Open(open)) => {
            let late = || "not counted: timed out".to_owned();
            one(Finding::ok(count(open).unwrap_or_else(late)))
        }
        Some(StoreState::Unusable(..) | StoreState::Gone(_)) => not_examined("store"),
        None => not_examined("config"),
    }
}

pub(crate) fn instances(open: &OpenStore) -> Check {
    let others: Vec<_> = open.health.instances.iter().filter(|instance| !instance.is_this).collect();
    let dead = others.iter().filter(|instance| instance.is_alive == Some(false)).count();
    let mut found = Vec::new();
    if dead > 0 {
        let details = format!(
            "{} died during a call; the next command marks its open calls as unknown",
            counted(dead, "process")
        );
        found.push(Finding::warning("instances.dead", details, "toolroom log --status unknown"));
    }
    let unknown = open.calls.iter().flatten().find(|(status, _)| *status == CallStatus::Unknown);
    if let Some((_, calls)) = unknown {
        let details =
            format!("the outcome of {} is unknown; check whether they took effect", counted(*calls, "call"));
        found.push(Finding::warning("instances.unknown_calls", details, "toolroom log --status unknown"));
    }
    let mut details = match others.len() - dead {
        0 => "no other process has calls open".to_owned(),
        living => format!("{} with calls open", counted(living, "other process")),
    };
    if open.calls.is_none() {
        details.push_str("; unknown calls were not counted: timed out");
    }
    Check::new(details, found)
}

pub(crate) fn approvals(open: &OpenStore) -> Check {
    let health = &open.health;
    let mut found = Vec::new();
    if health.overdue > 0 {
        let details = format!("{} expired; the next command denies it", counted(health.overdue, "question"));
        found.push(Finding::warning("approvals.overdue", details, "toolroom approvals"));
    }
    Check::new(format!("{} open", counted(health.open_questions, "question")), found)
}
