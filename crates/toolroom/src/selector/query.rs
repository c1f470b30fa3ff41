//! A message held against the index. This is the hot path: what it needs is kept between messages.

use std::cell::RefCell;
use std::cmp::Ordering;

use super::index::Selector;
use super::near;
use super::ranking::{Ranked, Ranking};
use super::vocabulary::Met;
use super::words;

/// Of a longer message the first and the last bytes are read: people say what they want before or behind what they paste.
const HEAD: usize = 2_000;
const TAIL: usize = 2_000;

/// Terms of a message that are looked up; of more, the strongest.
const TERMS: usize = 64;

/// Terms that add less to what the message can reach at most, of 1, are left out where so many tools have them that
/// adding it up would take most of the time.
const NEGLIGIBLE: f32 = 0.02;
const SHORT: usize = 1_000;

/// Words that no card has which are looked for by their letters.
const UNKNOWN: usize = 4;

/// How good the best score has to be, in words that one tool has: below that, a tool has the message's words by chance.
const ENOUGH: f32 = 0.4;

/// Words of one concept that count.
const CONCEPT_WORDS: f32 = 4.0;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// What a query needs while it runs.
#[derive(Default)]
struct Scratch {
    bare: String,
    near: near::Scratch,
    /// Terms of the message and how much each counts.
    terms: Vec<(u32, f32)>,
    /// The same terms as a request would have them.
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
            // Nothing here calls back, so this does not happen; a fresh scratch costs a little time.
            Err(_) => self.rank_with(&mut Scratch::default(), message, limit),
        })
    }

    fn rank_with(&self, scratch: &mut Scratch, message: &str, limit: usize) -> Ranking {
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
            // Nothing fits better than what these very words name or chose before.
            for tool in tools {
                if let Some(score) = scratch.scores.get_mut(*tool as usize) {
                    *score += reach.max(enough);
                }
            }
        }
        self.best(scratch, enough, limit)
    }

    /// Finds the terms of a message; says whether cards have all of its words.
    fn read(&self, scratch: &mut Scratch, message: &str) -> bool {
        let Scratch { bare, near, terms, asked, .. } = scratch;
        terms.clear();
        asked.clear();
        let (mut complete, mut unknown) = (true, 0);
        let mut take = |word: &str| match self.vocabulary.meet(word, bare) {
            Met::Known(number) => {
                terms.push((number, 1.0));
                let concepts = self.vocabulary.term(number).map_or(&[][..], |term| term.concepts);
                terms.extend(concepts.iter().map(|concept| (*concept, 1.0)));
            }
            Met::Meant(concepts) => {
                complete = false;
                terms.extend(concepts.iter().map(|concept| (*concept, 1.0)));
            }
            Met::Unknown => {
                complete = false;
                unknown += 1;
                if unknown <= UNKNOWN
                    && let Some((number, likeness)) = self.near.nearest(bare, near)
                {
                    terms.push((number, likeness * likeness));
                }
            }
            Met::Nothing => complete = false,
        };
        let tail = message.ceil_char_boundary(message.len().saturating_sub(TAIL).max(HEAD));
        let head = message.floor_char_boundary(HEAD.min(tail));
        for part in [message.get(..head), message.get(tail..)].into_iter().flatten() {
            words::each(part, &mut take);
        }
        terms.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        terms.dedup_by(|next, kept| {
            // A word counts once. A concept counts for each of its words: together they say what the message is about.
            let same = next.0 == kept.0;
            if same && self.vocabulary.is_concept(kept.0) {
                kept.1 = (kept.1 + next.1).min(CONCEPT_WORDS);
            }
            same
        });
        asked.extend(terms.iter().map(|(number, _)| *number));
        complete
    }

    /// Keeps the terms that count most, and says the most a tool can reach with them.
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
    fn best(&self, scratch: &mut Scratch, enough: f32, limit: usize) -> Ranking {
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
