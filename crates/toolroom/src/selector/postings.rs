//! Postings: the tools of each term with precomputed weights.

use super::lexicon::Weight;
use super::vocabulary::{IndexTerm, TermKind};

/// BM25 term saturation.
const SATURATION: f32 = 1.2;

/// BM25 length normalization, for definitions longer than `LONG` mean lengths.
const LENGTH: f32 = 0.3;
const LONG: f32 = 2.0;

/// Added to the number of tools, so that words of a small catalog keep some weight.
const WORLD: f32 = 10.0;

/// The weight of a concept relative to a word.
const CONCEPT: f32 = 0.6;

/// The weight of a weak word for tools without past requests.
const WEAK: f32 = 0.3;

/// The same for stop words, which count only in names.
const STOP: f32 = 0.02;

/// The weight of the direction of past requests relative to their single words.
const DIRECTION: f32 = 4.0;

/// The exponent of the rarity of a word in requests.
const RARELY_ASKED: f32 = 0.8;

/// Requests that are enough to learn from.
const ENOUGH_REQUESTS: usize = 10;

/// A card as term numbers.
#[derive(Default)]
pub(super) struct Draft {
    /// Terms of the definition and how often they are there, each occurrence weighted by its field.
    pub(super) definition: Vec<(u32, f32)>,
    /// The definition's length in weighted words.
    length: f32,
    /// The different terms of each request, sorted.
    pub(super) requests: Vec<Vec<u32>>,
}

impl Draft {
    /// Merges repeated terms and adds their concepts.
    pub(super) fn close_definition(&mut self, terms: &[IndexTerm]) {
        self.length = self.definition.iter().map(|(_, weight)| weight).sum();
        let concepts: Vec<(u32, f32)> = (self.definition.iter())
            .filter_map(|(number, _)| terms.get(*number as usize))
            .flat_map(|term| term.concepts.iter().map(|concept| (*concept, 0.0)))
            .collect();
        self.definition.extend(concepts);
        join(&mut self.definition);
        for (_, count) in self.definition.iter_mut().take_while(|(_, count)| *count == 0.0) {
            *count = 1.0;
        }
    }
}

/// Sums the counts of equal numbers.
fn join(counts: &mut Vec<(u32, f32)>) {
    counts.sort_by_key(|(number, _)| *number);
    counts.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

/// A tool that has a term, and the term's contribution to its score.
#[derive(Clone, Copy, Default)]
pub(super) struct Posting {
    pub(super) tool: u32,
    pub(super) weight: f32,
}

/// The postings of all terms in one list.
pub(super) struct Postings {
    all: Vec<Posting>,
    /// Where each term's list starts; one more than there are terms.
    starts: Vec<usize>,
    /// The largest weight of each list.
    peaks: Vec<f32>,
    /// The contribution of a word that one tool has once.
    pub(super) one_word: f32,
}

impl Postings {
    pub(super) fn new(terms: &[IndexTerm], drafts: &[Draft]) -> Self {
        let scales = Scales::new(terms, drafts);
        let mean = drafts.iter().map(|draft| draft.length).sum::<f32>() / (drafts.len().max(1) as f32);
        let mut of_tools: Vec<Vec<(u32, f32)>> = Vec::with_capacity(drafts.len());
        let mut starts = vec![0usize; terms.len() + 1];
        for draft in drafts {
            let of_tool = scales.weigh(draft, mean);
            for (number, _) in &of_tool {
                if let Some(count) = starts.get_mut(*number as usize + 1) {
                    *count += 1;
                }
            }
            of_tools.push(of_tool);
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut all = vec![Posting::default(); sum];
        let mut peaks = vec![0.0f32; terms.len()];
        for (tool, of_tool) in (0u32..).zip(&of_tools) {
            for (number, weight) in of_tool {
                let number = *number as usize;
                if let (Some(next), Some(peak)) = (next.get_mut(number), peaks.get_mut(number)) {
                    if let Some(posting) = all.get_mut(*next) {
                        *posting = Posting { tool, weight: *weight };
                    }
                    *next += 1;
                    *peak = peak.max(*weight);
                }
            }
        }
        Self { all, starts, peaks, one_word: rarity(drafts.len() as f32, 1.0) }
    }

    /// The tools that have a term.
    pub(super) fn of(&self, number: u32) -> &[Posting] {
        let number = number as usize;
        let range = self.starts.get(number).zip(self.starts.get(number + 1));
        range.and_then(|(from, to)| self.all.get(*from..*to)).unwrap_or_default()
    }

    /// The maximum contribution of a term.
    pub(super) fn peak(&self, number: u32) -> f32 {
        self.peaks.get(number as usize).copied().unwrap_or_default()
    }
}

/// The weights of terms.
struct Scales {
    /// By how few tools have it.
    rare: Vec<f32>,
    /// By how few requests have it.
    asked: Vec<f32>,
}

impl Scales {
    fn new(terms: &[IndexTerm], drafts: &[Draft]) -> Self {
        let (tools, requests) =
            (drafts.len() as f32, drafts.iter().map(|draft| draft.requests.len()).sum::<usize>());
        let mut with = vec![0u32; terms.len()];
        let mut within = vec![0u32; terms.len()];
        let mut seen = vec![usize::MAX; terms.len()];
        let mut known = 0.0;
        for (tool, draft) in drafts.iter().enumerate() {
            let share = draft.requests.len().min(ENOUGH_REQUESTS) as f32 / ENOUGH_REQUESTS as f32;
            known += share / tools;
            let of_requests = draft.requests.iter().flatten();
            for number in of_requests.clone() {
                if let Some(count) = within.get_mut(*number as usize) {
                    *count += 1;
                }
            }
            for number in draft.definition.iter().map(|(number, _)| number).chain(of_requests) {
                let number = *number as usize;
                if let (Some(seen), Some(count)) = (seen.get_mut(number), with.get_mut(number))
                    && *seen != tool
                {
                    *seen = tool;
                    *count += 1;
                }
            }
        }
        let scale = |term: &IndexTerm| match term.kind {
            TermKind::Concept => CONCEPT,
            TermKind::Word(Weight::Stop) => STOP + (1.0 - STOP) * known,
            TermKind::Word(Weight::Weak) => WEAK + (1.0 - WEAK) * known,
            TermKind::Word(Weight::Full) => 1.0,
        };
        let rare = |(term, with): (&IndexTerm, &u32)| scale(term) * rarity(tools, *with as f32);
        let asked = |(term, within): (&IndexTerm, &u32)| {
            scale(term) * ((requests as f32 + 1.0) / (*within as f32 + 0.5)).ln().max(0.0).powf(RARELY_ASKED)
        };
        Self {
            rare: terms.iter().zip(&with).map(rare).collect(),
            asked: terms.iter().zip(&within).map(asked).collect(),
        }
    }

    fn rare(&self, number: u32) -> f32 {
        self.rare.get(number as usize).copied().unwrap_or_default()
    }

    fn asked(&self, number: u32) -> f32 {
        self.asked.get(number as usize).copied().unwrap_or_default()
    }

    /// The contribution of each of a tool's terms.
    fn weigh(&self, draft: &Draft, mean_length: f32) -> Vec<(u32, f32)> {
        let excess = (draft.length / mean_length.max(1.0) - LONG).max(0.0);
        let slowness = SATURATION * (1.0 + LENGTH * excess);
        let mut counts = draft.definition.clone();
        counts.extend(draft.requests.iter().flatten().map(|number| (*number, 1.0)));
        if !draft.requests.is_empty() {
            join(&mut counts);
        }
        for (number, count) in &mut counts {
            *count = self.rare(*number) * (SATURATION + 1.0) * *count / (*count + slowness);
        }
        if !draft.requests.is_empty() {
            counts.extend(self.direction(&draft.requests));
            join(&mut counts);
        }
        counts
    }

    /// The normalized mean of a tool's requests.
    fn direction(&self, requests: &[Vec<u32>]) -> Vec<(u32, f32)> {
        let mut sum: Vec<(u32, f32)> = Vec::new();
        for request in requests {
            let length = norm(request.iter().map(|number| self.asked(*number)));
            sum.extend(request.iter().map(|number| (*number, self.asked(*number) / length)));
        }
        join(&mut sum);
        let length = norm(sum.iter().map(|(_, part)| *part));
        for (number, part) in &mut sum {
            *part *= DIRECTION * self.asked(*number) / length;
        }
        sum
    }
}

/// The inverse document frequency of a word.
fn rarity(tools: f32, with: f32) -> f32 {
    (1.0 + (tools + WORLD - with + 0.5) / (with + 0.5)).ln()
}

/// The length of a vector; never 0.
fn norm(parts: impl Iterator<Item = f32>) -> f32 {
    parts.map(|part| part * part).sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
}
