//! Finds stored values, however they are encoded.

use std::ops::Range;

use super::find::{Found, What};
use super::form::forms;
use super::needles::Needles;
use super::secret::Secret;
use super::text::End;
use super::view::{Undo, View};

/// How often something is undone: once for JSON in a form, twice for JSON in JSON.
const DEPTH: u8 = 2;

/// The values to look for.
pub(super) struct Exact {
    needles: Needles,
}

impl Exact {
    /// `None` when there is nothing to look for.
    pub(super) fn new(secrets: &[Secret]) -> Option<Self> {
        let owned = |(owner, secret)| forms(secret).into_iter().map(move |form| (owner, form));
        let mut forms = secrets.iter().enumerate().flat_map(owned).peekable();
        forms.peek()?;
        Some(Self { needles: Needles::new(forms) })
    }

    /// Adds everything in `bytes` that has to be hidden.
    pub(super) fn find(&self, bytes: &[u8], end: End, found: &mut Found) {
        self.look(bytes, end, DEPTH, &|range| range, found);
    }

    fn look(
        &self,
        bytes: &[u8],
        end: End,
        depth: u8,
        source: &dyn Fn(Range<usize>) -> Range<usize>,
        found: &mut Found,
    ) {
        self.needles.find(bytes, |place| {
            let range = source(place.range);
            if end == End::Open && place.may_grow {
                found.wait(range.start);
            }
            found.hide(range, What::Secret(place.owner));
        });
        if end == End::Open
            && let Some(start) = self.needles.unfinished(bytes)
        {
            found.wait(source(start..start).start);
        }
        if depth == 0 || !may_be_changed(bytes) {
            return;
        }
        for undo in Undo::ALL {
            let Some(view) = View::new(undo, bytes, end) else { continue };
            let origin = |range| source(view.source(range));
            if view.unfinished {
                let length = view.bytes.len();
                found.wait(origin(length..length).start);
            }
            let depth = if undo == Undo::Wrapping { 0 } else { depth - 1 };
            self.look(&view.bytes, end, depth, &origin, found);
        }
    }
}

/// Whether there is anything that could be undone.
fn may_be_changed(bytes: &[u8]) -> bool {
    memchr::memchr3(b'%', b'\\', b'&', bytes).is_some() || memchr::memchr2(b'\n', b'\r', bytes).is_some()
}
