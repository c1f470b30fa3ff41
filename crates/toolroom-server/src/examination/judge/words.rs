//! What it means who answers, and what is kept of what was said.

use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::{Facts, ModelFacts, OpenStore, StoreState};
use super::one;
use super::wording::counted;

/// What is said of a part that nobody has set up or used.
const ABSENT: &str = "not configured";

pub(super) fn provider(models: Option<&ModelFacts>) -> Check {
    let Some(models) = models else { return unexamined("config") };
    let found = models.troubles.iter().map(|(name, why)| {
        let details = format!("`{name}` cannot be asked: {why}");
        Finding::warning("provider.not_set_up", details, "toolroom models list")
    });
    let asked: Vec<String> = models.asked.iter().map(|name| format!("`{name}`")).collect();
    let details = match asked.is_empty() {
        true => ABSENT.to_owned(),
        false => format!("{} answers where nobody says otherwise", asked.join(", then ")),
    };
    Check::new(details, found.collect())
}

pub(super) fn context(models: Option<&ModelFacts>) -> Check {
    let Some(models) = models else { return unexamined("config") };
    one(Finding::ok(match models.window {
        Some(window) => format!("a window of {window} tokens; conversations are summed up at 70 % of it"),
        None => ABSENT.to_owned(),
    }))
}

pub(super) fn memory(facts: &Facts) -> Check {
    kept(facts, |open| Some(format!("{} remembered", counted(open.words?.memories, "thing"))))
}

pub(super) fn sessions(facts: &Facts) -> Check {
    kept(facts, |open| Some(counted(open.words?.conversations, "conversation")))
}

fn kept(facts: &Facts, count: fn(&OpenStore) -> Option<String>) -> Check {
    match facts.store.as_ref().map(|store| &store.state) {
        Some(StoreState::Absent | StoreState::Lost(_)) => one(Finding::ok(ABSENT)),
        Some(StoreState::Open(open)) => {
            let late = || "not counted, since there was no time".to_owned();
            one(Finding::ok(count(open).unwrap_or_else(late)))
        }
        Some(StoreState::Unusable(..) | StoreState::Gone(_)) => unexamined("store"),
        None => unexamined("config"),
    }
}

/// What depends on another part that is broken, which is told there.
fn unexamined(on: &str) -> Check {
    one(Finding::ok(format!("not examined, see `{on}`")))
}
