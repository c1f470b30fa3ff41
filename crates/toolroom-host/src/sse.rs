//! Server-sent events, read from bytes that may be cut anywhere.

use std::time::Duration;

use memchr::memchr2;

/// More in one event is no event of anybody we talk to.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// The longest name of a place in a stream that is kept.
const MAX_ID_BYTES: usize = 1024;

/// One event: a name, if it has one, and its data lines joined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// What `event:` said.
    pub name: Option<String>,
    /// What the `data:` lines said.
    pub data: String,
}

/// Where a stream can be taken up again, and how long to wait before that.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StreamPosition {
    /// What `id:` said last.
    pub id: Option<String>,
    /// What `retry:` said last.
    pub wait: Option<Duration>,
}

/// An event without end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventTooLong;

/// Reads events from pieces of a stream.
#[derive(Debug, Default)]
pub struct Reader {
    /// The beginning of a line whose end has not arrived.
    partial: Vec<u8>,
    /// The last byte was a carriage return: a line feed right behind it belongs to the same line end.
    after_return: bool,
    /// Anything has been read: a byte order mark stands at the very beginning only.
    begun: bool,
    event: Event,
    has_data: bool,
    place: StreamPosition,
}

impl Reader {
    /// Takes the next bytes in and hands on every event that is complete with them.
    ///
    /// # Errors
    /// When an event does not end.
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

    /// Where the stream can be taken up again, as far as it has told.
    #[must_use]
    pub fn position(&self) -> &StreamPosition {
        &self.place
    }

    /// Hands on what an unfinished last event says. Some servers leave out its last empty line.
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
            // Comments are nobody's business here.
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
    fn events_are_read_in_every_spelling() {
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
    fn the_place_in_a_stream_is_what_was_said_last() {
        let mut reader = Reader::default();
        reader.push(b"id: one\nretry: 500\ndata:\n\nid: two\ndata: x\n\nretry: soon\n", |_| ()).unwrap();
        let place = StreamPosition { id: Some("two".to_owned()), wait: Some(Duration::from_millis(500)) };
        assert_eq!(*reader.position(), place);
    }

    #[test]
    fn an_event_without_end_is_no_event() {
        let mut reader = Reader::default();
        let line = format!("data: {}\n", "x".repeat(1 << 20));
        let result =
            (0..20).try_for_each(|_| reader.push(line.as_bytes(), |_| panic!("nothing is complete")));
        assert_eq!(result, Err(EventTooLong));
    }

    proptest! {
        #![proptest_config(cases(256))]
        #[test]
        fn it_does_not_matter_where_bytes_are_cut(
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
