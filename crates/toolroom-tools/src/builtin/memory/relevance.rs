//! Ranks memories by relevance to a query.

use std::cmp::Reverse;

use toolroom::memory::Memory;

use super::super::search::{Folded, fold_case};

/// Weight of a word in the key, relative to the content.
const KEY_WEIGHT: f64 = 2.0;

/// Weight of the whole query, relative to each of its words.
const WHOLE_WEIGHT: f64 = 2.0;

/// Weight of a match inside a word, and at its beginning, relative to the whole word.
const INSIDE: f64 = 0.25;
const BEGINNING: f64 = 0.5;

/// A parsed query.
pub(super) struct MemoryQuery {
    /// The whole text, case-folded.
    whole: String,
    words: Vec<String>,
}

/// How well one memory matches.
struct Fit {
    /// Whether the whole query occurs, weighted by key or content.
    whole: f64,
    words: Vec<f64>,
}

impl MemoryQuery {
    pub(super) fn new(text: &str) -> Self {
        let mut words: Vec<String> = Folded::new(text).words().map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        Self { whole: fold_case(text.trim()), words }
    }

    /// Memories that contain the query or one of its words, best first. Rare words count more than common ones. Ties are
    /// ordered by count, then by position.
    pub(super) fn ranked(&self, memories: Vec<Memory>) -> Vec<Memory> {
        let fits: Vec<Fit> = memories.iter().map(|memory| self.fit(memory)).collect();
        let weights: Vec<f64> = (0..self.words.len())
            .map(|word| rarity(fits.iter().filter(|fit| fit.found(word) > 0.0).count(), fits.len()))
            .collect();
        let mut found: Vec<(u64, Memory)> = fits
            .iter()
            .zip(memories)
            .filter_map(|(fit, memory)| Some((fit.score(&weights)?, memory)))
            .collect();
        found.sort_by_key(|(score, memory)| Reverse((*score, memory.hits)));
        found.into_iter().map(|(_, memory)| memory).collect()
    }

    fn fit(&self, memory: &Memory) -> Fit {
        let (key, content) = (SearchableText::new(&memory.key), SearchableText::new(&memory.content));
        let holds = |side: &SearchableText| f64::from(u8::from(side.plain.contains(&self.whole)));
        let word = |word: &String| (KEY_WEIGHT * key.share(word)).max(content.share(word));
        Fit {
            whole: (KEY_WEIGHT * holds(&key)).max(holds(&content)),
            words: self.words.iter().map(word).collect(),
        }
    }
}

/// A text of a memory, prepared for comparison with many words.
struct SearchableText {
    plain: String,
    folded: Folded,
}

impl SearchableText {
    fn new(text: &str) -> Self {
        Self { plain: fold_case(text), folded: Folded::new(text) }
    }

    /// How much of a word of the text `word` is: all of it, its beginning, or another part.
    fn share(&self, word: &str) -> f64 {
        match self.folded.share_of_word(word) {
            Some(1_000) => 1.0,
            Some(0) | None if self.plain.contains(word) => INSIDE,
            Some(_) => BEGINNING,
            None => 0.0,
        }
    }
}

impl Fit {
    fn found(&self, word: usize) -> f64 {
        self.words.get(word).copied().unwrap_or_default()
    }

    /// A number to sort by; `None` without a match.
    fn score(&self, weights: &[f64]) -> Option<u64> {
        let words: f64 = self.words.iter().zip(weights).map(|(found, weight)| found * weight).sum();
        // A query of punctuation has no words, and counts as one.
        let all: f64 = weights.iter().sum::<f64>().max(1.0);
        let score = words + WHOLE_WEIGHT * self.whole * all;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small, and never negative"
        )]
        (score > 0.0).then_some((score * 1_000_000.0) as u64)
    }
}

/// Weight of a word that `holders` of `all` memories contain.
fn rarity(holders: usize, all: usize) -> f64 {
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    (1.0 + count(all) / count(holders.max(1))).ln()
}

#[cfg(test)]
#[path = "relevance_tests.rs"]
mod tests;
