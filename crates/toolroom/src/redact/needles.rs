//! Finds many byte strings at once, by looking at every fifth place of the text only.
//!
//! Each string has eight bytes or more. Wherever it stands, one of the places that are looked at falls on its first
//! five bytes, and the four bytes there are among the five pieces that were noted for it.

use std::ops::Range;

use zeroize::Zeroizing;

use super::form::{Form, Rest, is_base64};

/// The length of a piece.
const PIECE: usize = 4;

/// From one place to the next: strings of eight bytes have five pieces.
const STRIDE: usize = 5;

/// Bits of the filter for each piece: so few places pass it that what happens then does not count.
const BITS_PER_PIECE: usize = 64;

/// A form may be followed by so many bytes that belong to it: one character and its padding.
const MAX_REST: usize = 3;

/// Spreads pieces over the filter (Fibonacci hashing).
const SPREAD: u32 = 0x9e37_79b1;

/// A sorted set of byte strings.
pub(super) struct Needles {
    needles: Vec<Needle>,
    /// By value.
    pieces: Vec<Piece>,
    filter: Vec<u64>,
    filter_shift: u32,
    longest: usize,
}

struct Needle {
    bytes: Zeroizing<Vec<u8>>,
    rest: Rest,
    owner: usize,
}

/// Where one of the strings stands.
pub(super) struct Occurrence {
    pub(super) range: Range<usize>,
    pub(super) owner: usize,
    /// Whether more text could belong to it.
    pub(super) may_grow: bool,
}

struct Piece {
    value: u32,
    needle: usize,
    offset: usize,
}

impl Needles {
    /// `forms` with the index of the secret each belongs to. Of equal forms the first owner's is kept.
    pub(super) fn new(forms: impl IntoIterator<Item = (usize, Form)>) -> Self {
        let needles =
            forms.into_iter().map(|(owner, form)| Needle { bytes: form.bytes, rest: form.rest, owner });
        let mut needles: Vec<Needle> = needles.collect();
        // A stable sort: the first owner stays first.
        needles.sort_by(|left, right| left.bytes.cmp(&right.bytes));
        needles.dedup_by(|later, first| later.bytes == first.bytes);
        let longest = needles.iter().map(|needle| needle.bytes.len()).max().unwrap_or(0);
        let mut pieces = Vec::new();
        for (needle, bytes) in needles.iter().map(|needle| &needle.bytes).enumerate() {
            let windows = bytes.array_windows::<PIECE>().take(STRIDE).enumerate();
            pieces.extend(windows.map(|(offset, piece)| Piece {
                value: u32::from_le_bytes(*piece),
                needle,
                offset,
            }));
        }
        pieces.sort_by_key(|piece| piece.value);
        let bits = (pieces.len() * BITS_PER_PIECE).next_power_of_two().max(1 << 10);
        let mut this = Self {
            needles,
            pieces: Vec::new(),
            filter: vec![0; bits / 64],
            filter_shift: u32::BITS - bits.ilog2().min(u32::BITS - 1),
            longest,
        };
        for piece in &pieces {
            let (word, bit) = this.place(piece.value);
            if let Some(word) = this.filter.get_mut(word) {
                *word |= bit;
            }
        }
        this.pieces = pieces;
        this
    }

    fn place(&self, piece: u32) -> (usize, u64) {
        let hash = piece.wrapping_mul(SPREAD) >> self.filter_shift;
        (hash as usize / 64, 1 << (hash % 64))
    }

    fn may_hold(&self, piece: u32) -> bool {
        let (word, bit) = self.place(piece);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Calls `found` with every occurrence, also with those that overlap.
    pub(super) fn find(&self, bytes: &[u8], mut found: impl FnMut(Occurrence)) {
        let (places, rest) = bytes.as_chunks::<STRIDE>();
        for (index, [a, b, c, d, _]) in places.iter().enumerate() {
            let piece = u32::from_le_bytes([*a, *b, *c, *d]);
            if self.may_hold(piece) {
                self.verify(bytes, index * STRIDE, piece, &mut found);
            }
        }
        if let Some(piece) = rest.first_chunk::<PIECE>() {
            self.verify(bytes, places.len() * STRIDE, u32::from_le_bytes(*piece), &mut found);
        }
    }

    #[cold]
    fn verify(&self, bytes: &[u8], at: usize, value: u32, found: &mut impl FnMut(Occurrence)) {
        let from = self.pieces.partition_point(|piece| piece.value < value);
        let same = self.pieces.iter().skip(from).take_while(|piece| piece.value == value);
        for piece in same {
            let Some(needle) = self.needles.get(piece.needle) else { continue };
            let Some(start) = at.checked_sub(piece.offset) else { continue };
            if bytes.get(start..).is_some_and(|text| text.starts_with(&needle.bytes)) {
                let end = start + needle.bytes.len();
                let after = bytes.get(end..).unwrap_or_default();
                found(Occurrence {
                    range: start..end + needle.rest.length(after),
                    owner: needle.owner,
                    may_grow: needle.rest == Rest::Base64 && after.len() < MAX_REST,
                });
            }
        }
    }

    /// Where the longest end of `bytes` starts that more text could make into one of the strings.
    pub(super) fn unfinished(&self, bytes: &[u8]) -> Option<usize> {
        let from = bytes.len().saturating_sub(self.longest.saturating_sub(1));
        (from..bytes.len()).find(|start| self.begins_with(bytes.get(*start..).unwrap_or_default()))
    }

    fn begins_with(&self, text: &[u8]) -> bool {
        if text.first_chunk().is_some_and(|piece| !self.may_hold(u32::from_le_bytes(*piece))) {
            return false;
        }
        let from = self.needles.partition_point(|needle| needle.bytes.as_slice() <= text);
        self.needles.get(from).is_some_and(|needle| needle.bytes.starts_with(text))
    }
}

impl Rest {
    /// How much of `after`, which follows a form, belongs to the secret as well.
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

    fn needles(texts: &[String]) -> Needles {
        let form =
            |text: &String| Form { bytes: Zeroizing::new(text.clone().into_bytes()), rest: Rest::Nothing };
        Needles::new(texts.iter().map(form).enumerate())
    }

    proptest! {
        #![proptest_config(cases(512))]

        #[test]
        fn every_occurrence_is_found_and_nothing_else(
            texts in proptest::collection::vec("[ab]{8,12}", 0..20),
            text in "[ab]{0,80}",
        ) {
            let mut found = Vec::new();
            needles(&texts).find(text.as_bytes(), |place| found.push((place.range.start, place.range.end)));
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
        fn an_end_that_may_become_one_is_seen(
            texts in proptest::collection::vec("[ab]{8,12}", 0..5),
            text in "[abc]{0,20}",
        ) {
            let begins = |at: &usize| texts.iter().any(|needle| {
                needle.len() > text.len() - at && needle.as_bytes().starts_with(&text.as_bytes()[*at..])
            });
            prop_assert_eq!(needles(&texts).unfinished(text.as_bytes()), (0..text.len()).find(begins));
        }
    }
}
