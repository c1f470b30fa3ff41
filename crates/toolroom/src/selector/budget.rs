//! Selects the tools a model is offered if the definitions of all exceed the budget.

use std::collections::HashMap;

use super::Ranking;

/// A tool and the estimated tokens of its definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizedTool<'a> {
    /// Its id in rankings.
    pub id: &'a str,
    /// Estimated tokens.
    pub tokens: u64,
}

/// Whether all tools fit the budget.
#[must_use]
pub fn fits_budget(tools: &[SizedTool<'_>], budget: u64) -> bool {
    tools.iter().fold(0u64, |sum, tool| sum.saturating_add(tool.tokens)) <= budget
}

/// The tools to offer: all if they fit, else the best ranked ones that fit together. Sorted by id, so that prompts have a
/// stable prefix for the provider's cache.
#[must_use]
pub fn offered<'a>(tools: &[SizedTool<'a>], budget: u64, rank: impl FnOnce() -> Ranking) -> Vec<&'a str> {
    let mut chosen: Vec<&str> = if fits_budget(tools, budget) {
        tools.iter().map(|tool| tool.id).collect()
    } else {
        let known: HashMap<&str, SizedTool<'a>> = tools.iter().map(|tool| (tool.id, *tool)).collect();
        let mut left = budget;
        let ranking = rank();
        let ranked = ranking.tools.iter().filter_map(|ranked| known.get(ranked.id.as_str()));
        // Smaller tools after one that is too large may still fit.
        let fitting = ranked.filter(|tool| match left.checked_sub(tool.tokens) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        });
        fitting.map(|tool| tool.id).collect()
    };
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}
