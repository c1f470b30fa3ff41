//! Searches for many byte strings at once, probing only every fifth offset of the text.
//!
//! Each string has eight bytes or more. One probe always falls on its first five bytes, and the four bytes there are
//! among the five grams that are indexed for it.

use std::ops::Range;

use zeroize::Zeroizing;

use super::encoded_form::{EncodedForm, Trailing, is_base64};

/// Bytes of a gram.
const GRAM: usize = 4;

/// Distance of two probes: a string of eight bytes has five grams.
const STRIDE: usize = 5;

/// Filter bits for each gram, so that false positives do not matter.
const BITS_PER_GRAM: usize = 64;

/// Bytes that may follow a form and belong to it: one base64 character and its padding.
const MAX_TRAILING: usize = 3;

/// Multiplier of Fibonacci hashing.
const SPREAD: u32 = 0x9e37_79b1;

/// A set of byte strings to search for.
pub(super) struct MultiSearch {
    needles: Vec<Needle>,
    /// Sorted by value.
    grams: Vec<Gram>,
    filter: Vec<u64>,
    filter_shift: u32,
    longest: usize,
}

struct Needle {
    bytes: Zeroizing<Vec<u8>>,
    trailing: Trailing,
    owner: usize,
}

/// An occurrence of one of the strings.
pub(super) struct Occurrence {
    pub(super) range: Range<usize>,
    pub(super) owner: usize,
    /// Whether text that follows could belong to it.
    pub(super) may_grow: bool,
}

struct Gram {
    value: u32,
    needle: usize,
    offset: usize,
}

impl MultiSearch {
    /// `forms` with the index of the secret each belongs to. Of equal forms the first owner's is kept.
    pub(super) fn new(forms: impl IntoIterator<Item = (usize, EncodedForm)>) -> Self {
        let needles = forms.into_iter().map(|(owner, form)| Needle {
            bytes: form.bytes,
            trailing: form.trailing,
            owner,
        });
        let mut needles: Vec<Needle> = needles.collect();
        // A stable sort: the first owner stays first.
        needles.sort_by(|left, right| left.bytes.cmp(&right.bytes));
        needles.dedup_by(|later, first| later.bytes == first.bytes);
        let longest = needles.iter().map(|needle| needle.bytes.len()).max().unwrap_or(0);
        let mut grams = Vec::new();
        for (needle, bytes) in needles.iter().map(|needle| &needle.bytes).enumerate() {
            let windows = bytes.array_windows::<GRAM>().take(STRIDE).enumerate();
            grams.extend(windows.map(|(offset, gram)| Gram {
                value: u32::from_le_bytes(*gram),
                needle,
                offset,
            }));
        }
        grams.sort_by_key(|gram| gram.value);
        let bits = (grams.len() * BITS_PER_GRAM).next_power_of_two().max(1 << 10);
        let mut this = Self {
            needles,
            grams: Vec::new(),
            filter: vec![0; bits / 64],
            filter_shift: u32::BITS - bits.ilog2().min(u32::BITS - 1),
            longest,
        };
        for gram in &grams {
            let (word, bit) = this.filter_bit(gram.value);
            if let Some(word) = this.filter.get_mut(word) {
                *word |= bit;
            }
        }
        this.grams = grams;
        this
    }

    fn filter_bit(&self, gram: u32) -> (usize, u64) {
        let hash = gram.wrapping_mul(SPREAD) >> self.filter_shift;
        (hash as usize / 64, 1 << (hash % 64))
    }

    fn may_hold(&self, gram: u32) -> bool {
        let (word, bit) = self.filter_bit(gram);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Calls `found` with every occurrence, also with those that overlap.
    pub(super) fn find(&self, bytes: &[u8], mut found: impl FnMut(Occurrence)) {
        let (probes, rest) = bytes.as_chunks::<STRIDE>();
        for (index, [a, b, c, d, _]) in probes.iter().enumerate() {
            let gram = u32::from_le_bytes([*a, *b, *c, *d]);
            if self.may_hold(gram) {
                self.verify(bytes, index * STRIDE, gram, &mut found);
            }
        }
        if let Some(gram) = rest.first_chunk::<GRAM>() {
            self.verify(bytes, probes.len() * STRIDE, u32::from_le_bytes(*gram), &mut found);
        }
    }

    #[cold]
    fn verify(&self, bytes: &[u8], at: usize, value: u32, found: &mut impl FnMut(Occurrence)) {
        let from = self.grams.partition_point(|gram| gram.value < value);
        let same = self.grams.iter().skip(from).take_while(|gram| gram.value == value);
        for gram in same {
            let Some(needle) = self.needles.get(gram.needle) else { continue };
            let Some(start) = at.checked_sub(gram.offset) else { continue };
            if bytes.get(start..).is_some_and(|text| text.starts_with(&needle.bytes)) {
                let end = start + needle.bytes.len();
                let after = bytes.get(end..).unwrap_or_default();
                found(Occurrence {
                    range: start..end + needle.trailing.length(after),
                    owner: needle.owner,
                    may_grow: needle.trailing == Trailing::Base64 && after.len() < MAX_TRAILING,
                });
            }
        }
    }

    /// Start of the longest suffix of `bytes` that is a proper prefix of one of the strings.
    pub(super) fn partial_match(&self, bytes: &[u8]) -> Option<usize> {
        let from = bytes.len().saturating_sub(self.longest.saturating_sub(1));
        (from..bytes.len()).find(|start| self.begins_with(bytes.get(*start..).unwrap_or_default()))
    }

    fn begins_with(&self, text: &[u8]) -> bool {
        if text.first_chunk().is_some_and(|gram| !self.may_hold(u32::from_le_bytes(*gram))) {
            return false;
        }
        let from = self.needles.partition_point(|needle| needle.bytes.as_slice() <= text);
        self.needles.get(from).is_some_and(|needle| needle.bytes.starts_with(text))
    }
}

impl Trailing {
    /// How many bytes of `after`, which follows a form, belong to the secret.
    fn length(self, after: &[u8]) -> usize {
        match (self, after) {
            (Self::Base64, [b'=', ..]) | (Self::Nothing, _) => 0,
            (Self::Base64, [shared, padding @ ..]) if is_base64(*shared) => {
                1 + padding.iter().take(2).take_while(|byte| **byte == b'=').count()
            }
            (Self::Base64, _) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    fn needles(texts: &[String]) -> MultiSearch {
        let form = |text: &String| EncodedForm {
            bytes: Zeroizing::new(text.clone().into_bytes()),
            trailing: Trailing::Nothing,
        };
        MultiSearch::new(texts.iter().map(form).enumerate())
    }

    proptest! {
        #![proptest_config(cases(512))]

        #[test]
        fn exactly_the_occurrences_are_found(
            texts in proptest::collection::vec("[ab]{8,12}", 0..20),
            text in "[ab]{0,80}",
        ) {
            let mut found = Vec::new();
            needles(&texts).find(text.as_bytes(), |hit| found.push((hit.range.start, hit.range.end)));
            let mut expected = Vec::new();
            let distinct: std::collections::BTreeSet<&String> = texts.iter().collect();
            for needle in distinct {
                let at = (0..text.len()).filter(|at| text.as_bytes()[*at..].starts_with(needle.as_bytes()));
                expected.extend(at.map(|at| (at, at + needle.len())));
            }
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn a_partial_occurrence_at_the_end_is_found(
            texts in proptest::collection::vec("[ab]{8,12}", 0..5),
            text in "[abc]{0,20}",
        ) {
            let begins = |at: &usize| texts.iter().any(|needle| {
                needle.len() > text.len() - at && needle.as_bytes().starts_with(&text.as_bytes()[*at..])
            });
            prop_assert_eq!(needles(&texts).partial_match(text.as_bytes()), (0..text.len()).find(begins));
        }
    }
}
