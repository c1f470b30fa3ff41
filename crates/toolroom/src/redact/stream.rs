//! Hides secrets in text that arrives in chunks.

use std::fmt;
use std::sync::Arc;

use super::matches::{MatchKind, Matches};
use super::pattern::{Extent, LOOK_BACK, SecretFormat};
use super::redactor::{Redactor, between};
use super::text::{Text, TextEnd};

/// Bytes of a long text that are processed at once.
const CHUNK: usize = 64 << 10;

/// Redacts a stream of chunks, also secrets that are split over several. A chunk whose end cannot be the beginning of a
/// secret passes at once. Buffers at most the escaped length of the longest stored value or a few kilobytes.
pub struct Stream {
    redactor: Arc<Redactor>,
    first: StreamBuffer,
    /// A second pass: a secret next to a hidden one may be recognised only then.
    second: StreamBuffer,
}

impl Stream {
    /// A stream that hides what `redactor` hides.
    #[must_use]
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, first: StreamBuffer::default(), second: StreamBuffer::default() }
    }

    /// Takes a chunk and returns the text that is safe by now.
    #[must_use]
    pub fn push(&mut self, chunk: &str) -> String {
        self.pass(chunk, TextEnd::Open)
    }

    /// Ends the stream and returns the rest.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.pass("", TextEnd::Final)
    }

    fn pass(&mut self, chunk: &str, end: TextEnd) -> String {
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

/// Redacts a long text in chunks; `None` if it holds no secret.
pub(super) fn redact_in_chunks(redactor: &Redactor, text: &str) -> Option<String> {
    let mut buffer = StreamBuffer::default();
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = text.ceil_char_boundary((at + CHUNK).min(text.len()));
        let end = if next == text.len() { TextEnd::Final } else { TextEnd::Open };
        buffer.push(redactor, between(text, at, next), end, &mut shown);
        at = next;
    }
    buffer.has_hidden.then_some(shown)
}

/// Text that is not completely released yet.
#[derive(Default)]
struct StreamBuffer {
    text: String,
    /// Everything before is released or hidden.
    done: usize,
    /// Matches that begin before are already handled.
    floor: usize,
    /// Hidden secrets that may continue, and their end so far.
    open: Vec<(Extent, usize)>,
    /// Private keys that begin before are inside a hidden one.
    known_key: usize,
    has_hidden: bool,
}

impl StreamBuffer {
    fn push(&mut self, redactor: &Redactor, chunk: &str, end: TextEnd, shown: &mut String) {
        self.text.push_str(chunk);
        let text = Text::new(self.text.as_bytes(), end);
        let mut found = Matches::new(self.floor);
        let mut done = self.done;
        let mut open = Vec::new();
        for (extent, at) in self.open.drain(..) {
            let secret = extent.measure(&text, at);
            done = done.max(secret.end);
            if matches!(extent, Extent::PrivateKey(_)) {
                self.known_key = self.known_key.max(secret.end);
            }
            if let Some(extent) = secret.continues {
                found.wait(secret.end);
                open.push((extent, secret.end));
            }
        }
        redactor.find(&text, self.known_key, &mut found);
        let undecided = found.undecided.min(self.text.len());
        for (range, kind) in found.merged() {
            if range.start >= undecided && range.start >= done {
                break;
            }
            if range.end <= done {
                continue;
            }
            if range.start >= done {
                shown.push_str(between(&self.text, done, range.start));
                shown.push_str(redactor.marker(kind));
                self.has_hidden = true;
            }
            done = range.end;
        }
        if done < undecided {
            shown.push_str(between(&self.text, done, undecided));
            done = undecided;
        }
        for secret in found.all.iter().filter(|secret| secret.range.start < done) {
            if secret.kind == MatchKind::Format(SecretFormat::PrivateKey) {
                self.known_key = self.known_key.max(secret.range.end);
            }
            if let Some(extent) = secret.extent
                && !open.contains(&(extent, secret.range.end))
            {
                open.push((extent, secret.range.end));
            }
        }
        self.open = open;
        self.done = done;
        self.floor = done.min(undecided);
        self.trim();
    }

    /// Drops text that is no longer needed.
    fn trim(&mut self) {
        let cut = self.text.floor_char_boundary(self.floor.saturating_sub(LOOK_BACK));
        // Keeps groups of four backslashes together, which are one backslash escaped twice.
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
    fn little_is_buffered_for_any_input() {
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
            let mut buffer = StreamBuffer::default();
            let mut shown = String::new();
            let chunk = piece.repeat(1_000 / piece.len() + 1);
            for _ in 0..30 {
                buffer.push(&redactor, &chunk, TextEnd::Open, &mut shown);
                assert!(buffer.text.len() < 10_000, "{piece}: {} bytes", buffer.text.len());
                assert!(buffer.open.len() < 10, "{piece}: {} are open", buffer.open.len());
            }
        }
    }
}
