//! Hides secrets in text that arrives in pieces.

use std::fmt;
use std::sync::Arc;

use super::find::{Found, What};
use super::pattern::{Extent, Kind, LOOK_BACK};
use super::redactor::{Redactor, between};
use super::text::{End, Text};

/// Pieces in which a long text is read.
const PIECE: usize = 64 << 10;

/// Chunks in, safe text out. A secret that is split over any number of chunks is never let out; a chunk whose end
/// cannot be the beginning of one comes out whole and at once. What is held back is never more than the longest
/// stored value may take, escaped, or a few kilobytes.
pub struct Stream {
    redactor: Arc<Redactor>,
    first: Held,
    /// What is hidden may have kept something beside it from being recognised: all is looked at twice.
    second: Held,
}

impl Stream {
    /// A stream that hides what `redactor` hides.
    #[must_use]
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, first: Held::default(), second: Held::default() }
    }

    /// Takes a chunk, and gives what can be shown by now.
    #[must_use]
    pub fn push(&mut self, chunk: &str) -> String {
        self.pass(chunk, End::Open)
    }

    /// Gives what was held back: nothing follows.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.pass("", End::Final)
    }

    fn pass(&mut self, chunk: &str, end: End) -> String {
        let (mut once, mut twice) = (String::with_capacity(chunk.len()), String::with_capacity(chunk.len()));
        self.first.push(&self.redactor, chunk, end, &mut once);
        self.second.push(&self.redactor, &once, end, &mut twice);
        twice
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stream").field("redactor", &self.redactor).finish_non_exhaustive()
    }
}

/// Hides what is found in a long text; `None` when nothing is.
pub(super) fn in_pieces(redactor: &Redactor, text: &str) -> Option<String> {
    let mut held = Held::default();
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = text.ceil_char_boundary((at + PIECE).min(text.len()));
        let end = if next == text.len() { End::Final } else { End::Open };
        held.push(redactor, between(text, at, next), end, &mut shown);
        at = next;
    }
    held.has_hidden.then_some(shown)
}

/// The text of which not all could be shown yet.
#[derive(Default)]
struct Held {
    text: String,
    /// What stands before is shown or hidden.
    done: usize,
    /// What begins before is known.
    floor: usize,
    /// Secrets that were hidden and go on, and how far they are known.
    open: Vec<(Extent, usize)>,
    /// Private keys that begin before are inside of one that is hidden.
    known_key: usize,
    has_hidden: bool,
}

impl Held {
    fn push(&mut self, redactor: &Redactor, chunk: &str, end: End, shown: &mut String) {
        self.text.push_str(chunk);
        let text = Text::new(self.text.as_bytes(), end);
        let mut found = Found::new(self.floor);
        let mut done = self.done;
        let mut open = Vec::new();
        for (extent, at) in self.open.drain(..) {
            let reach = extent.reach(&text, at);
            done = done.max(reach.end);
            if matches!(extent, Extent::PrivateKey(_)) {
                self.known_key = self.known_key.max(reach.end);
            }
            if let Some(extent) = reach.goes_on {
                found.wait(reach.end);
                open.push((extent, reach.end));
            }
        }
        redactor.find(&text, self.known_key, &mut found);
        let undecided = found.undecided.min(self.text.len());
        for (range, what) in found.merged() {
            if range.start >= undecided && range.start >= done {
                break;
            }
            if range.end <= done {
                continue;
            }
            // What overlaps something hidden is hidden with it.
            if range.start >= done {
                shown.push_str(between(&self.text, done, range.start));
                shown.push_str(redactor.marker(what));
                self.has_hidden = true;
            }
            done = range.end;
        }
        if done < undecided {
            shown.push_str(between(&self.text, done, undecided));
            done = undecided;
        }
        for find in found.finds.iter().filter(|find| find.range.start < done) {
            if find.what == What::Kind(Kind::PrivateKey) {
                self.known_key = self.known_key.max(find.range.end);
            }
            if let Some(extent) = find.extent
                && !open.contains(&(extent, find.range.end))
            {
                open.push((extent, find.range.end));
            }
        }
        self.open = open;
        self.done = done;
        self.floor = done.min(undecided);
        self.forget();
    }

    /// Drops what no later look will need.
    fn forget(&mut self) {
        let cut = self.text.floor_char_boundary(self.floor.saturating_sub(LOOK_BACK));
        // Two backslashes are one, and where things are escaped twice four are: what is cut off must not be a part.
        let before = self.text.as_bytes().get(..cut).unwrap_or_default();
        let cut = cut - before.iter().rev().take_while(|byte| **byte == b'\\').count() % 4;
        self.text.drain(..cut);
        self.done -= cut;
        self.floor -= cut;
        self.known_key = self.known_key.saturating_sub(cut);
        for (_, at) in &mut self.open {
            *at -= cut;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::{Patterns, Secret};

    #[test]
    fn whatever_arrives_little_is_held_back() {
        let secrets =
            [Secret::new("A", "geheim/wort geheim/wort"), Secret::new("B", "aaaaaaaaaaaaaaaaaaaaab")];
        let redactor = Redactor::new(secrets, Patterns::All);
        for piece in [
            "a",
            "geheim/wort ",
            "geheim%2Fwort+",
            "\\u0061",
            "\\",
            "\\\\",
            "%2561",
            "&amp;",
            "&#x61",
            "QUJD\n",
            "eyJ",
            "eyJhbGciOiJI.",
            "xoxb-1",
            "sk-",
            "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN ",
            "-",
            "password=",
            "password=\"",
            "token=a1",
            "Authorization: ",
            "a://b",
            "a://b:c@",
            "4",
            "4 ",
            "4111 ",
            "123456789:",
            "hooks.slack.com/",
            "QUJDREVGR0hJSktM\n",
        ] {
            let mut held = Held::default();
            let mut shown = String::new();
            let chunk = piece.repeat(1_000 / piece.len() + 1);
            for _ in 0..30 {
                held.push(&redactor, &chunk, End::Open, &mut shown);
                assert!(held.text.len() < 10_000, "{piece}: {} bytes", held.text.len());
                assert!(held.open.len() < 10, "{piece}: {} are open", held.open.len());
            }
        }
    }
}
