//! The check `policy`: preset, rules and standing answers.

use tokio::time::Instant;
use toolroom::ledger::Switchboard;
use toolroom::policy::{Condition, Preset};
use toolroom::scope::ProjectId;
use toolroom_store::Store;
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::{LISTED, counted, first_of, one, unexamined};
use crate::doctor::gather::within;

/// A valid policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct PolicyFacts {
    pub(crate) preset: Preset,
    pub(crate) rules: usize,
    /// Examples in the rules, all of which hold.
    pub(crate) examples: usize,
}

/// Standing answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AnswerFacts {
    pub(crate) count: usize,
    /// Ids of standing answers whose condition cannot be parsed.
    pub(crate) unreadable: Vec<String>,
}

pub(crate) async fn standing_answers(store: &Store, deadline: Instant) -> Option<AnswerFacts> {
    let standing = within(deadline, store.standing(&ProjectId::default())).await.ok()?.ok()?;
    let mut facts = AnswerFacts::default();
    for answer in standing.answers.iter() {
        facts.count += 1;
        if answer.when.as_deref().is_some_and(|condition| Condition::parse(condition).is_err()) {
            facts.unreadable.push(answer.id.to_string());
        }
    }
    Some(facts)
}

pub(crate) fn check(
    facts: Option<&Result<PolicyFacts, Vec<String>>>,
    answers: Option<&AnswerFacts>,
) -> Check {
    let facts = match facts {
        Some(Ok(facts)) => facts,
        Some(Err(problems)) => {
            return one(Finding::error("policy.invalid", first_of(problems), "toolroom policy check"));
        }
        None => return unexamined("policy.unexamined", "config"),
    };
    let mut details = format!("preset {}, {}", facts.preset.as_str(), counted(facts.rules, "rule"));
    if facts.examples > 0 {
        details.push_str(&format!(" ({}, all hold)", counted(facts.examples, "example")));
    }
    let mut found = Vec::new();
    match answers {
        Some(answers) => {
            details.push_str(&format!(", {}", counted(answers.count, "standing answer")));
            found.extend(answers.unreadable.iter().take(LISTED).map(|id| {
                let details = format!("the condition of the standing answer `{id}` cannot be parsed");
                Finding::warning("policy.unreadable_answer", details, format!("toolroom policy forget {id}"))
            }));
        }
        None => found.push(Finding::warning(
            "policy.answers_unexamined",
            format!("{details}; standing answers were not examined, see `store`"),
            "toolroom doctor",
        )),
    }
    Check::new(details, found)
}
