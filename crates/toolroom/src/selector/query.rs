//! Ranks tools for a message. The hot path: buffers are reused between messages.

use std::cell::RefCell;
use std::cmp::Ordering;

use serde::Serialize;

use super::index::Selector;
use super::lexicon::Weight;
use super::trigrams::TrigramScratch;
use super::vocabulary::{TermKind, WordLookup};
use super::words;

/// Only the first and last bytes of a longer message are read: users write their request before or after pasted text.
const HEAD: usize = 2_000;
const TAIL: usize = 2_000;

/// Terms of a message that are looked up; the strongest ones of a longer message.
const TERMS: usize = 64;

/// Terms that contribute less than this share of the maximum score are skipped if more than `SHORT` tools have them.
const NEGLIGIBLE: f32 = 0.02;
const SHORT: usize = 1_000;

/// Unknown words that are looked up by their letters.
const UNKNOWN: usize = 4;

/// Minimum best score, in words that one tool has. Lower scores are chance.
const ENOUGH: f32 = 0.4;

/// Most words of one concept that count.
const CONCEPT_WORDS: f32 = 4.0;

/// A tool and how well it fits.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// The id of its card.
    pub id: String,
    /// Larger fits better. Only scores of one ranking can be compared.
    pub score: f32,
}

/// The tools that fit a message, best first; equal scores are in the order of their ids.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ranking {
    /// Best first; empty when nothing fits.
    pub tools: Vec<Ranked>,
    /// Whether no tool fits well enough to be named.
    pub abstained: bool,
}

/// How many words of a message a tool has. Ignores stop words and words that match any request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WordCoverage {
    /// Words that the tool has, or that share a concept with it; each spelling counts once.
    pub matched: usize,
    /// The other words, in lower case and in their order.
    pub unmatched: Vec<String>,
}

thread_local! {
    static SCRATCH: RefCell<QueryScratch> = RefCell::default();
}

/// The buffers of a query.
#[derive(Default)]
struct QueryScratch {
    bare: String,
    trigrams: TrigramScratch,
    /// Terms of the message and how much each counts.
    terms: Vec<(u32, f32)>,
    /// The same terms in the form of a request.
    asked: Vec<u32>,
    /// A score for every tool.
    scores: Vec<f32>,
    best: Vec<(f32, u32)>,
}

impl Selector {
    /// The tools that fit a message, at most `limit` of them.
    #[must_use]
    pub fn rank(&self, message: &str, limit: usize) -> Ranking {
        SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
            Ok(mut scratch) => self.rank_with(&mut scratch, message, limit),
            // Unreachable, because nothing here calls back.
            Err(_) => self.rank_with(&mut QueryScratch::default(), message, limit),
        })
    }

    fn rank_with(&self, scratch: &mut QueryScratch, message: &str, limit: usize) -> Ranking {
        let complete = self.read(scratch, message);
        let reach = self.strongest(&mut scratch.terms);
        let enough = ENOUGH * self.postings.one_word;
        scratch.scores.clear();
        scratch.scores.resize(self.ids.len(), 0.0);
        for (number, factor) in &scratch.terms {
            for posting in self.postings.of(*number) {
                if let Some(score) = scratch.scores.get_mut(posting.tool as usize) {
                    *score += factor * posting.weight;
                }
            }
        }
        if complete && let Some(tools) = self.asked.get(scratch.asked.as_slice()) {
            // Tools that exactly these words name or chose before rank first.
            for tool in tools {
                if let Some(score) = scratch.scores.get_mut(*tool as usize) {
                    *score += reach.max(enough);
                }
            }
        }
        self.best(scratch, enough, limit)
    }

    /// Which words of a message the tool of this id has; none for an unknown tool.
    #[must_use]
    pub fn coverage(&self, id: &str, message: &str) -> WordCoverage {
        let tool = self.ids.binary_search_by(|known| known.as_str().cmp(id));
        let tool = tool.ok().and_then(|tool| u32::try_from(tool).ok());
        let has = |number: u32| {
            tool.is_some_and(|tool| self.postings.of(number).iter().any(|posting| posting.tool == tool))
        };
        let mut matched: Vec<String> = Vec::new();
        let mut unmatched: Vec<String> = Vec::new();
        let mut bare = String::new();
        words::each(message, |word| {
            // For example the letter after an apostrophe.
            let is_letter = word.len() == 1;
            let (is_significant, is_matched) = match self.vocabulary.look_up(word, &mut bare) {
                WordLookup::StopWord => (false, false),
                WordLookup::Unknown => (!self.vocabulary.is_weak(&bare), false),
                WordLookup::Concepts(concepts) => {
                    (!self.vocabulary.is_weak(&bare), concepts.iter().any(|concept| has(*concept)))
                }
                WordLookup::Known(number) => {
                    let term = self.vocabulary.term(number);
                    let is_full = term.is_some_and(|term| term.kind == TermKind::Word(Weight::Full));
                    let concepts = term.map_or(&[][..], |term| term.concepts);
                    (is_full, has(number) || concepts.iter().any(|concept| has(*concept)))
                }
            };
            let list = if is_matched { &mut matched } else { &mut unmatched };
            if is_significant && !is_letter && !list.iter().any(|known| known == word) {
                list.push(word.to_owned());
            }
        });
        WordCoverage { matched: matched.len(), unmatched }
    }

    /// Finds the terms of a message. Returns whether the index has all of its words.
    fn read(&self, scratch: &mut QueryScratch, message: &str) -> bool {
        let QueryScratch { bare, trigrams, terms, asked, .. } = scratch;
        terms.clear();
        asked.clear();
        let (mut complete, mut unknown) = (true, 0);
        let mut take = |word: &str| match self.vocabulary.look_up(word, bare) {
            WordLookup::Known(number) => {
                terms.push((number, 1.0));
                let concepts = self.vocabulary.term(number).map_or(&[][..], |term| term.concepts);
                terms.extend(concepts.iter().map(|concept| (*concept, 1.0)));
            }
            WordLookup::Concepts(concepts) => {
                complete = false;
                terms.extend(concepts.iter().map(|concept| (*concept, 1.0)));
            }
            WordLookup::Unknown => {
                complete = false;
                unknown += 1;
                if unknown <= UNKNOWN
                    && let Some((number, likeness)) = self.trigrams.nearest(bare, trigrams)
                {
                    terms.push((number, likeness * likeness));
                }
            }
            WordLookup::StopWord => complete = false,
        };
        let tail = message.ceil_char_boundary(message.len().saturating_sub(TAIL).max(HEAD));
        let head = message.floor_char_boundary(HEAD.min(tail));
        for part in [message.get(..head), message.get(tail..)].into_iter().flatten() {
            words::each(part, &mut take);
        }
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        terms.dedup_by(|next, first| {
            // A word counts once, a concept once for each of its words.
            let same = next.0 == first.0;
            if same && self.vocabulary.is_concept(first.0) {
                first.1 = (first.1 + next.1).min(CONCEPT_WORDS);
            }
            same
        });
        asked.extend(terms.iter().map(|(number, _)| *number));
        complete
    }

    /// Keeps the strongest terms and returns the maximum score of a tool.
    fn strongest(&self, terms: &mut Vec<(u32, f32)>) -> f32 {
        let bound = |(number, factor): &(u32, f32)| factor * self.postings.peak(*number);
        terms.sort_unstable_by(|a, b| bound(b).total_cmp(&bound(a)).then(a.0.cmp(&b.0)));
        terms.truncate(TERMS);
        let reach: f32 = terms.iter().map(bound).sum();
        let least = reach * NEGLIGIBLE;
        terms.retain(|term| bound(term) >= least || self.postings.of(term.0).len() <= SHORT);
        reach
    }

    /// The tools with the best scores.
    fn best(&self, scratch: &mut QueryScratch, enough: f32, limit: usize) -> Ranking {
        let best = &mut scratch.best;
        best.clear();
        let room = limit.saturating_mul(2).saturating_add(32);
        let mut least = 0.0;
        for (tool, score) in (0u32..).zip(&scratch.scores) {
            if *score > least {
                best.push((*score, tool));
                if best.len() >= room {
                    best.select_nth_unstable_by(limit, by_rank);
                    best.truncate(limit);
                    least = best.iter().map(|(score, _)| *score).fold(f32::INFINITY, f32::min);
                }
            }
        }
        best.sort_unstable_by(by_rank);
        if best.first().is_none_or(|(score, _)| *score < enough) {
            return Ranking { tools: Vec::new(), abstained: true };
        }
        best.truncate(limit);
        let ranked = |(score, tool): &(f32, u32)| {
            Some(Ranked { id: self.ids.get(*tool as usize)?.clone(), score: *score })
        };
        let tools: Vec<Ranked> = best.iter().filter_map(ranked).collect();
        Ranking { tools, abstained: false }
    }
}

/// Better scores first; of equal ones, the first id.
fn by_rank(a: &(f32, u32), b: &(f32, u32)) -> Ordering {
    b.0.total_cmp(&a.0).then(a.1.cmp(&b.1))
}
