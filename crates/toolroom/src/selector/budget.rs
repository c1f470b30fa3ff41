//! Which tools a model is shown when the definitions of all of them would take too much of its window.

use std::collections::HashMap;

use super::Ranking;

/// A tool and about how many tokens its definition takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weighed<'a> {
    /// What rankings call it.
    pub id: &'a str,
    /// Estimated tokens.
    pub tokens: u64,
}

/// Whether all of them fit, so that nothing has to be selected.
#[must_use]
pub fn fit(tools: &[Weighed<'_>], budget: u64) -> bool {
    tools.iter().fold(0u64, |sum, tool| sum.saturating_add(tool.tokens)) <= budget
}

/// The tools to show: all of them when they fit, else the best ranked ones that fit together. They come sorted by id,
/// not by rank: a prompt that starts the same is found in the provider's cache.
#[must_use]
pub fn offered<'a>(tools: &[Weighed<'a>], budget: u64, rank: impl FnOnce() -> Ranking) -> Vec<&'a str> {
    let mut chosen: Vec<&str> = if fit(tools, budget) {
        tools.iter().map(|tool| tool.id).collect()
    } else {
        let known: HashMap<&str, Weighed<'a>> = tools.iter().map(|tool| (tool.id, *tool)).collect();
        let mut left = budget;
        let ranking = rank();
        let ranked = ranking.tools.iter().filter_map(|ranked| known.get(ranked.id.as_str()));
        // One large definition does not keep out the smaller ones behind it.
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
