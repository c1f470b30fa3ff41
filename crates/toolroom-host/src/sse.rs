//! Parser for server-sent events, from chunks that may be cut anywhere.

use std::time::Duration;

use memchr::memchr2;

/// Maximum size of an event.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Maximum length of a stored event id.
const MAX_ID_BYTES: usize = 1024;

/// An event: an optional name, and its joined data lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The `event:` field.
    pub name: Option<String>,
    /// The joined `data:` fields.
    pub data: String,
}

/// Where to resume a stream, and the delay before it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StreamPosition {
    /// The last `id:` field.
    pub id: Option<String>,
    /// The last `retry:` field.
    pub wait: Option<Duration>,
}

/// An event exceeds the maximum size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLong;

/// The parser.
#[derive(Debug, Default)]
pub struct Reader {
    /// An incomplete line.
    partial: Vec<u8>,
    /// The last byte was a carriage return: a line feed after it belongs to the same line break.
    after_return: bool,
    /// Whether anything was read: a byte order mark is only valid at the start.
    begun: bool,
    event: Event,
    has_data: bool,
    place: StreamPosition,
}

impl Reader {
    /// Adds bytes and passes on every completed event.
    ///
    /// # Errors
    /// If an event is too long.
    pub fn push(&mut self, bytes: &[u8], mut take: impl FnMut(Event)) -> Result<(), EventTooLong> {
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = memchr2(b'\n', b'\r', rest) {
            let (line, end) = rest.split_at_checked(at).unwrap_or((rest, b""));
            let is_return = end.first() == Some(&b'\r');
            rest = end.get(1..).unwrap_or_default();
            if is_return {
                match rest.strip_prefix(b"\n") {
                    Some(after) => rest = after,
                    None => self.after_return = rest.is_empty(),
                }
            }
            if self.partial.is_empty() {
                self.line(line, &mut take);
            } else {
                self.partial.extend_from_slice(line);
                let whole = std::mem::take(&mut self.partial);
                self.line(&whole, &mut take);
                self.partial = whole;
                self.partial.clear();
            }
            self.bounded()?;
        }
        self.partial.extend_from_slice(rest);
        self.bounded()
    }

    /// Where to resume the stream.
    #[must_use]
    pub fn position(&self) -> &StreamPosition {
        &self.place
    }

    /// Passes on an unterminated last event. Some servers omit its last empty line.
    pub fn finish(mut self, mut take: impl FnMut(Event)) {
        let last = std::mem::take(&mut self.partial);
        if !last.is_empty() {
            self.line(&last, &mut take);
        }
        self.line(b"", &mut take);
    }

    fn bounded(&self) -> Result<(), EventTooLong> {
        match self.partial.len() + self.event.data.len() > MAX_EVENT_BYTES {
            true => Err(EventTooLong),
            false => Ok(()),
        }
    }

    fn line(&mut self, line: &[u8], take: &mut impl FnMut(Event)) {
        let line = match self.begun {
            true => line,
            false => line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line),
        };
        self.begun = true;
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            if std::mem::take(&mut self.has_data) {
                take(event);
            }
            return;
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(at) => {
                let (field, value) = line.split_at_checked(at).unwrap_or((line, b""));
                let value = value.get(1..).unwrap_or_default();
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(&String::from_utf8_lossy(value));
            }
            b"event" => self.event.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"id" if value.len() <= MAX_ID_BYTES && !value.contains(&0) => {
                let id = String::from_utf8_lossy(value).into_owned();
                self.place.id = (!id.is_empty()).then_some(id);
            }
            b"retry" => {
                let wait = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                self.place.wait = wait.map(Duration::from_millis).or(self.place.wait);
            }
            // Comments are ignored.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    fn read(pieces: &[&[u8]]) -> Vec<Event> {
        let mut reader = Reader::default();
        let mut events = Vec::new();
        for piece in pieces {
            reader.push(piece, |event| events.push(event)).unwrap();
        }
        reader.finish(|event| events.push(event));
        events
    }

    fn event(name: Option<&str>, data: &str) -> Event {
        Event { name: name.map(str::to_owned), data: data.to_owned() }
    }

    #[test]
    fn events_are_parsed_in_every_form() {
        let text = "\u{feff}: hello\n\nevent: delta\ndata: {\"a\":1}\n\ndata:one\ndata: two\r\n\r\nid: 7\rdata:  x\r\rdata\n\n\
                    event: empty\n\ndata: [DONE]";
        let expected = [
            event(Some("delta"), "{\"a\":1}"),
            event(None, "one\ntwo"),
            event(None, " x"),
            event(None, ""),
            event(None, "[DONE]"),
        ];
        assert_eq!(read(&[text.as_bytes()]), expected);
    }

    #[test]
    fn the_position_is_the_last_one_sent() {
        let mut reader = Reader::default();
        reader.push(b"id: one\nretry: 500\ndata:\n\nid: two\ndata: x\n\nretry: soon\n", |_| ()).unwrap();
        let place = StreamPosition { id: Some("two".to_owned()), wait: Some(Duration::from_millis(500)) };
        assert_eq!(*reader.position(), place);
    }

    #[test]
    fn an_endless_event_is_an_error() {
        let mut reader = Reader::default();
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        let result =
            (0..20).try_for_each(|_| reader.push(line.as_bytes(), |_| panic!("nothing is complete")));
        assert_eq!(result, Err(EventTooLong));
    }

    proptest! {
        #![proptest_config(cases(256))]
        #[test]
        fn chunk_boundaries_do_not_matter(
            parts in prop::collection::vec(prop_oneof![
                Just("data: ü{\"x\": 1}\n"), Just("data:y\r\n"), Just("\n"), Just("\r"), Just("\r\n"),
                Just("event: e\n"), Just(": c\n"), Just("data"), Just("d"), Just("ata: z"),
            ], 0..40),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let text = parts.concat().into_bytes();
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
            places.extend([0, text.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
            prop_assert_eq!(read(&pieces), read(&[&text]));
        }
    }
}
