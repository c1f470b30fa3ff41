//! What was left open means: calls of processes that died, and questions nobody answered.

use toolroom::ledger::CallStatus;
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::OpenStore;
use super::wording::counted;

pub(super) fn instances(open: &OpenStore) -> Check {
    let others: Vec<_> = open.health.instances.iter().filter(|instance| !instance.is_this).collect();
    let dead = others.iter().filter(|instance| instance.is_alive == Some(false)).count();
    let mut found = Vec::new();
    if dead > 0 {
        let details = format!(
            "{} died in the middle of a call; the next command marks what it left as unknown",
            counted(dead, "process")
        );
        found.push(Finding::warning("instances.dead", details, "toolroom log --status unknown"));
    }
    let unknown = open.calls.iter().flatten().find(|(status, _)| *status == CallStatus::Unknown);
    if let Some((_, calls)) = unknown {
        let details = format!("nobody knows how {} ended; look whether it happened", counted(*calls, "call"));
        found.push(Finding::warning("instances.unknown_calls", details, "toolroom log --status unknown"));
    }
    let mut details = match others.len() - dead {
        0 => "no other process has calls open".to_owned(),
        living => format!("{} with calls open", counted(living, "other process")),
    };
    if open.calls.is_none() {
        details.push_str("; unknown calls were not counted, since there was no time");
    }
    Check::new(details, found)
}

pub(super) fn approvals(open: &OpenStore) -> Check {
    let health = &open.health;
    let mut found = Vec::new();
    if health.overdue > 0 {
        let details =
            format!("{} out of time; the next command answers with no", counted(health.overdue, "question"));
        found.push(Finding::warning("approvals.overdue", details, "toolroom approvals"));
    }
    Check::new(format!("{} open", counted(health.open_questions, "question")), found)
}
