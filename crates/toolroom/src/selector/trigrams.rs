//! Finds unknown words by their trigrams: typos, endings of other languages, parts of compounds.

use std::collections::HashMap;

/// Three letters in a row, as one number.
type Trigram = u64;

/// Minimum similarity, of 1.
const ALIKE: f32 = 0.5;

/// Minimum length of a word.
const SHORTEST: usize = 4;

/// Trigrams of more words than this are skipped.
const COMMON: usize = 1_500;

/// The words of an index by their trigrams.
#[derive(Default)]
pub(super) struct TrigramIndex {
    /// Each word's number, and how many trigrams it has.
    words: Vec<(u32, u32)>,
    /// The words that have a trigram.
    having: HashMap<Trigram, Vec<u32>>,
}

impl TrigramIndex {
    /// `stems` must be in a stable order.
    pub(super) fn new(stems: &[(&str, u32)]) -> Self {
        let mut index = Self::default();
        let mut grams = Vec::new();
        for (stem, number) in stems {
            trigrams(stem, &mut grams);
            if grams.is_empty() {
                continue;
            }
            let place = u32::try_from(index.words.len()).unwrap_or(u32::MAX);
            index.words.push((*number, u32::try_from(grams.len()).unwrap_or(u32::MAX)));
            for gram in &grams {
                index.having.entry(*gram).or_default().push(place);
            }
        }
        index
    }

    /// The most similar word and its similarity.
    pub(super) fn nearest(&self, stem: &str, scratch: &mut TrigramScratch) -> Option<(u32, f32)> {
        let TrigramScratch { grams, shared, met } = scratch;
        trigrams(stem, grams);
        met.clear();
        shared.clear();
        shared.resize(self.words.len(), 0);
        for places in grams.iter().filter_map(|gram| self.having.get(gram)) {
            if places.len() > COMMON {
                continue;
            }
            for place in places {
                if let Some(count) = shared.get_mut(*place as usize) {
                    if *count == 0 {
                        met.push(*place);
                    }
                    *count = count.saturating_add(1);
                }
            }
        }
        let alike = |place: &u32| {
            let shared = f32::from(*shared.get(*place as usize)?);
            let (number, own) = self.words.get(*place as usize)?;
            let likeness = 2.0 * shared / (*own as f32 + grams.len() as f32);
            (likeness >= ALIKE).then_some((*place, *number, likeness))
        };
        // Ties go to the alphabetically first word.
        let best = met.iter().filter_map(alike).max_by(|a, b| a.2.total_cmp(&b.2).then(b.0.cmp(&a.0)));
        best.map(|(_, number, likeness)| (number, likeness))
    }
}

/// The buffers of a lookup.
#[derive(Default)]
pub(super) struct TrigramScratch {
    grams: Vec<Trigram>,
    /// How many trigrams each word of the index shares with the given one.
    shared: Vec<u8>,
    met: Vec<u32>,
}

/// The distinct trigrams of a word, with a boundary on either side.
fn trigrams(word: &str, grams: &mut Vec<Trigram>) {
    grams.clear();
    if word.chars().take(SHORTEST).count() < SHORTEST || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return;
    }
    let edge = std::iter::once('\0');
    let mut last = 0u64;
    for c in edge.clone().chain(word.chars()).chain(edge) {
        // A character takes 21 bits.
        last = (last << 21 | u64::from(u32::from(c))) & ((1 << 63) - 1);
        grams.push(last);
    }
    // The first two are incomplete.
    grams.drain(..grams.len().min(2));
    grams.sort_unstable();
    grams.dedup();
}
