//! Finds stored values in all encodings.

use std::ops::Range;

use super::encoded_form::forms;
use super::matches::{MatchKind, Matches};
use super::multi_search::MultiSearch;
use super::secret::Secret;
use super::text::TextEnd;
use super::view::{Decoding, View};

/// How many encodings are decoded on top of each other: JSON in a URL form, JSON in JSON.
const DEPTH: u8 = 2;

/// The values to search for.
pub(super) struct StoredValues {
    search: MultiSearch,
}

impl StoredValues {
    /// `None` if there is nothing to search for.
    pub(super) fn new(secrets: &[Secret]) -> Option<Self> {
        let owned = |(owner, secret)| forms(secret).into_iter().map(move |form| (owner, form));
        let mut forms = secrets.iter().enumerate().flat_map(owned).peekable();
        forms.peek()?;
        Some(Self { search: MultiSearch::new(forms) })
    }

    /// Adds all matches in `bytes`.
    pub(super) fn find(&self, bytes: &[u8], end: TextEnd, found: &mut Matches) {
        self.find_decoded(bytes, end, DEPTH, &|range| range, found);
    }

    fn find_decoded(
        &self,
        bytes: &[u8],
        end: TextEnd,
        depth: u8,
        source: &dyn Fn(Range<usize>) -> Range<usize>,
        found: &mut Matches,
    ) {
        self.search.find(bytes, |occurrence| {
            let range = source(occurrence.range);
            if end == TextEnd::Open && occurrence.may_grow {
                found.wait(range.start);
            }
            found.hide(range, MatchKind::Stored(occurrence.owner));
        });
        if end == TextEnd::Open
            && let Some(start) = self.search.partial_match(bytes)
        {
            found.wait(source(start..start).start);
        }
        if depth == 0 || !may_be_encoded(bytes) {
            return;
        }
        for decoding in Decoding::ALL {
            let Some(view) = View::new(decoding, bytes, end) else { continue };
            let origin = |range| source(view.source(range));
            if view.unfinished {
                let length = view.bytes.len();
                found.wait(origin(length..length).start);
            }
            let depth = if decoding == Decoding::Wrapping { 0 } else { depth - 1 };
            self.find_decoded(&view.bytes, end, depth, &origin, found);
        }
    }
}

/// Whether anything could be decoded.
fn may_be_encoded(bytes: &[u8]) -> bool {
    memchr::memchr3(b'%', b'\\', b'&', bytes).is_some() || memchr::memchr2(b'\n', b'\r', bytes).is_some()
}
