//! Which memories a query is about.

use std::cmp::Reverse;

use toolroom::memory::Memory;

use super::super::search::{Folded, fold_case};

/// What a word found in the key counts for one found in the content.
const KEY_WEIGHT: f64 = 2.0;

/// What the query as a whole counts for each of its words.
const WHOLE_WEIGHT: f64 = 2.0;

/// A word that is only a part of another one counts for little; one that begins it counts for more.
const INSIDE: f64 = 0.25;
const BEGINNING: f64 = 0.5;

/// What is searched for.
pub(super) struct Query {
    /// As it was written, but for case.
    whole: String,
    words: Vec<String>,
}

/// How well one memory fits, word by word.
struct Fit {
    /// Where the query stands as it is: in the key, in the content.
    whole: f64,
    words: Vec<f64>,
}

impl Query {
    pub(super) fn new(text: &str) -> Self {
        let mut words: Vec<String> = Folded::of(text).words().map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        Self { whole: fold_case(text.trim()), words }
    }

    /// Those that hold the query as it is, or one of its words, best first: a word that few memories hold counts more
    /// than one that many do. Equals are in the order of their counts, then in the one they came in.
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
        let (key, content) = (Side::of(&memory.key), Side::of(&memory.content));
        let holds = |side: &Side| f64::from(u8::from(side.plain.contains(&self.whole)));
        let word = |word: &String| (KEY_WEIGHT * key.share(word)).max(content.share(word));
        Fit {
            whole: (KEY_WEIGHT * holds(&key)).max(holds(&content)),
            words: self.words.iter().map(word).collect(),
        }
    }
}

/// One text of a memory, to be compared with many words.
struct Side {
    plain: String,
    folded: Folded,
}

impl Side {
    fn of(text: &str) -> Self {
        Self { plain: fold_case(text), folded: Folded::of(text) }
    }

    /// How much of a word of the text it is: the whole of one, its beginning, or any other part.
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

    /// A number to order by; `None` if nothing was found.
    fn score(&self, weights: &[f64]) -> Option<u64> {
        let words: f64 = self.words.iter().zip(weights).map(|(found, weight)| found * weight).sum();
        // A query of signs alone has no words, and counts as one.
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

/// What a word counts that `holders` of `all` memories hold.
fn rarity(holders: usize, all: usize) -> f64 {
    let count = |number: usize| f64::from(u32::try_from(number).unwrap_or(u32::MAX));
    (1.0 + count(all) / count(holders.max(1))).ln()
}

#[cfg(test)]
#[path = "relevance_tests.rs"]
mod tests;
