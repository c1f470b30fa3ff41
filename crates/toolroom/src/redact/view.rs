//! A decoded text, and where each of its bytes came from.

use std::ops::Range;

use super::encoded_form::is_base64;
use super::escape::{Escape, Unescaped};
use super::text::TextEnd;

/// Minimum line length of wrapped base64.
const MIN_WRAPPED: usize = 16;

/// What is decoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoding {
    /// Escapes of one kind.
    Escapes(Escape),
    /// Line breaks inside base64.
    Wrapping,
}

impl Decoding {
    pub(super) const ALL: [Self; 4] = {
        let [percent, backslash, reference] = Escape::ALL;
        [Self::Escapes(percent), Self::Escapes(backslash), Self::Escapes(reference), Self::Wrapping]
    };
}

/// The decoded text.
#[derive(Default)]
pub(super) struct View {
    pub(super) bytes: Vec<u8>,
    /// Whether the source ends within a possible escape; the view ends before it.
    pub(super) unfinished: bool,
    changes: Vec<Change>,
}

/// `taken` bytes of the source at `source` became `given` bytes of the view at `view`.
struct Change {
    view: usize,
    source: usize,
    given: usize,
    taken: usize,
}

impl View {
    /// `None` if there is nothing to decode.
    pub(super) fn new(decoding: Decoding, source: &[u8], end: TextEnd) -> Option<Self> {
        let mut view = Self::default();
        match decoding {
            Decoding::Escapes(escape) => view.unescape(escape, source, end),
            Decoding::Wrapping => view.unwrap_lines(source, end),
        }
        (view.unfinished || !view.changes.is_empty()).then_some(view)
    }

    fn unescape(&mut self, escape: Escape, source: &[u8], end: TextEnd) {
        let (mut copied, mut next) = (0, 0);
        while let Some(found) = memchr::memchr(escape.mark(), source.get(next..).unwrap_or_default()) {
            let at = next + found;
            match escape.read(source.get(at..).unwrap_or_default()) {
                Unescaped::Means { bytes, length } => {
                    self.change(source, copied..at, bytes.as_bytes(), length);
                    copied = at + length;
                    next = copied;
                }
                Unescaped::Unfinished if end == TextEnd::Open => return self.stop(source, copied..at),
                Unescaped::Plain | Unescaped::Unfinished => next = at + 1,
            }
        }
        self.finish(source, copied);
    }

    fn unwrap_lines(&mut self, source: &[u8], end: TextEnd) {
        let mut copied = 0;
        for at in memchr::memchr_iter(b'\n', source) {
            let before = source.get(copied..at).unwrap_or_default();
            let line = before.strip_suffix(b"\r").unwrap_or(before);
            if !is_wrapped(line) {
                continue;
            }
            let start = copied + line.len();
            let after = source.get(at + 1..).unwrap_or_default();
            let indent = after.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            match after.get(indent) {
                Some(byte) if is_base64(*byte) => {
                    let taken = at + 1 + indent - start;
                    self.change(source, copied..start, &[], taken);
                    copied = start + taken;
                }
                None if end == TextEnd::Open => return self.stop(source, copied..start),
                _ => {}
            }
        }
        if end == TextEnd::Open
            && let Some(line) = source.get(copied..).and_then(|rest| rest.strip_suffix(b"\r"))
            && is_wrapped(line)
        {
            return self.stop(source, copied..copied + line.len());
        }
        self.finish(source, copied);
    }

    fn change(&mut self, source: &[u8], plain: Range<usize>, given: &[u8], taken: usize) {
        let at = plain.end;
        self.bytes.extend_from_slice(source.get(plain).unwrap_or_default());
        self.changes.push(Change { view: self.bytes.len(), source: at, given: given.len(), taken });
        self.bytes.extend_from_slice(given);
    }

    fn stop(&mut self, source: &[u8], plain: Range<usize>) {
        self.bytes.extend_from_slice(source.get(plain).unwrap_or_default());
        self.unfinished = true;
    }

    /// Copies the rest, unless nothing was decoded and the view is dropped.
    fn finish(&mut self, source: &[u8], copied: usize) {
        if !self.changes.is_empty() {
            self.bytes.extend_from_slice(source.get(copied..).unwrap_or_default());
        }
    }

    /// The range of the source that the bytes of the view at `range` came from.
    pub(super) fn source(&self, range: Range<usize>) -> Range<usize> {
        let start = self.origin(range.start).start;
        let end = if range.is_empty() { start } else { self.origin(range.end - 1).end };
        start..end
    }

    fn origin(&self, at: usize) -> Range<usize> {
        let later = self.changes.partition_point(|change| change.view <= at);
        let Some(change) = later.checked_sub(1).and_then(|index| self.changes.get(index)) else {
            return at..at + 1;
        };
        match (at - change.view).checked_sub(change.given) {
            Some(beyond) => {
                let source = change.source + change.taken + beyond;
                source..source + 1
            }
            None => change.source..change.source + change.taken,
        }
    }
}

/// Whether a line break after `line` may be one inside base64.
fn is_wrapped(line: &[u8]) -> bool {
    line.len() >= MIN_WRAPPED && line.iter().rev().take(MIN_WRAPPED).all(|byte| is_base64(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(decoding: Decoding, source: &str, expected: &str) {
        let view = View::new(decoding, source.as_bytes(), TextEnd::Final).unwrap();
        assert_eq!(String::from_utf8_lossy(&view.bytes), expected, "{source}");
        for at in 0..view.bytes.len() {
            let origin = view.source(at..at + 1);
            assert!(!origin.is_empty() && origin.end <= source.len(), "{source} at {at}: {origin:?}");
            if origin.len() == 1 {
                assert_eq!(view.bytes[at], source.as_bytes()[origin.start], "{source} at {at}");
            }
        }
        assert_eq!(view.source(0..view.bytes.len()), 0..source.len(), "{source}");
    }

    #[test]
    fn every_byte_of_a_view_maps_to_the_source() {
        check(Decoding::Escapes(Escape::Percent), "%41%42c%C3%A9% d", "ABcé% d");
        check(Decoding::Escapes(Escape::Backslash), r#"a\"b\u00e9\\n\d"#, r#"a"bé\n\d"#);
        check(Decoding::Escapes(Escape::Reference), "a&lt;b&&#x41;", "a<b&A");
        let wrapped = "short\nQUJDREVGR0hJSktM\r\n  TU5PUFFSU1RVVldY\nYWJj x";
        check(Decoding::Wrapping, wrapped, "short\nQUJDREVGR0hJSktMTU5PUFFSU1RVVldYYWJj x");
    }

    #[test]
    fn without_anything_to_decode_there_is_no_view() {
        for decoding in Decoding::ALL {
            assert!(View::new(decoding, b"100 % plain & simple \\d text\n", TextEnd::Final).is_none());
        }
        let open = View::new(Decoding::Escapes(Escape::Backslash), b"so far \\u00", TextEnd::Open).unwrap();
        assert!(open.unfinished && open.bytes == b"so far ");
    }
}
