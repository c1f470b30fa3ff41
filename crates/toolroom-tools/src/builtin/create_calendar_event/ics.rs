//! An event in iCalendar format (RFC 5545).

use jiff::{Span, Timestamp};

use super::period::Period;

/// Maximum bytes of a line, without its line break.
const LINE_BYTES: usize = 75;

pub(super) struct Event<'a> {
    /// The unique id.
    pub(super) id: &'a str,
    pub(super) made_at: Timestamp,
    pub(super) period: Period,
    pub(super) title: &'a str,
    pub(super) description: Option<&'a str>,
    pub(super) location: Option<&'a str>,
    pub(super) reminder_minutes: u32,
}

impl Event<'_> {
    /// The calendar file with this event.
    pub(super) fn text(&self) -> String {
        let instant = |at: &Timestamp| at.strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut lines = vec![
            "BEGIN:VCALENDAR".to_owned(),
            "VERSION:2.0".to_owned(),
            "PRODID:-//Toolroom//Toolroom//EN".to_owned(),
            "BEGIN:VEVENT".to_owned(),
            format!("UID:{}@toolroom", escaped(self.id)),
            format!("DTSTAMP:{}", instant(&self.made_at)),
        ];
        match &self.period {
            Period::Hours { start, end } => {
                lines.push(format!("DTSTART:{}", instant(start)));
                lines.push(format!("DTEND:{}", instant(end)));
            }
            Period::Days { first, last } => {
                // DTEND is exclusive.
                let after = last.checked_add(Span::new().days(1)).unwrap_or(*last);
                lines.push(format!("DTSTART;VALUE=DATE:{}", first.strftime("%Y%m%d")));
                lines.push(format!("DTEND;VALUE=DATE:{}", after.strftime("%Y%m%d")));
            }
        }
        lines.push(format!("SUMMARY:{}", escaped(self.title)));
        let more = [("DESCRIPTION", self.description), ("LOCATION", self.location)];
        for (name, text) in more {
            lines
                .extend(text.filter(|text| !text.is_empty()).map(|text| format!("{name}:{}", escaped(text))));
        }
        lines.extend([
            "BEGIN:VALARM".to_owned(),
            "ACTION:DISPLAY".to_owned(),
            format!("DESCRIPTION:{}", escaped(self.title)),
            format!("TRIGGER:-PT{}M", self.reminder_minutes),
            "END:VALARM".to_owned(),
            "END:VEVENT".to_owned(),
            "END:VCALENDAR".to_owned(),
        ]);
        lines.iter().map(|line| folded(line)).collect()
    }
}

/// Escapes a text so that it stays one value on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.replace("\r\n", "\n").chars() {
        match char {
            '\\' => escaped.push_str("\\\\"),
            ';' => escaped.push_str("\\;"),
            ',' => escaped.push_str("\\,"),
            '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => escaped.push_str("\\n"),
            '\t' => escaped.push(' '),
            char if char.is_control() => {}
            char => escaped.push(char),
        }
    }
    escaped
}

/// Folds a long line after 75 bytes, between characters, and appends the line break.
fn folded(line: &str) -> String {
    let mut folded = String::with_capacity(line.len() + 2);
    let mut room = LINE_BYTES;
    for char in line.chars() {
        if char.len_utf8() > room {
            folded.push_str("\r\n ");
            room = LINE_BYTES - 1;
        }
        room -= char.len_utf8();
        folded.push(char);
    }
    folded.push_str("\r\n");
    folded
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;

    fn written(title: &str, description: &str, location: &str) -> String {
        Event {
            id: "call_1",
            made_at: "2026-02-01T08:00:00Z".parse().unwrap(),
            period: Period::read(&TimeZone::UTC, "2026-03-01T14:00", None, false).unwrap(),
            title,
            description: Some(description),
            location: Some(location),
            reminder_minutes: 15,
        }
        .text()
    }

    #[test]
    fn an_event_has_the_ics_format() {
        let expected = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Toolroom//Toolroom//EN\r\nBEGIN:VEVENT\r\n\
            UID:call_1@toolroom\r\nDTSTAMP:20260201T080000Z\r\nDTSTART:20260301T140000Z\r\nDTEND:20260301T150000Z\r\n\
            SUMMARY:Lunch\\, with Ann\r\nDESCRIPTION:one\\ntwo\r\nLOCATION:a\\;b\\\\c\r\nBEGIN:VALARM\r\nACTION:DISPLAY\r\n\
            DESCRIPTION:Lunch\\, with Ann\r\nTRIGGER:-PT15M\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        assert_eq!(written("Lunch, with Ann", "one\r\ntwo", "a;b\\c"), expected);
    }

    #[test]
    fn whole_days_end_before_the_next_one() {
        let period = Period::read(&TimeZone::UTC, "2026-02-28", Some("2026-02-28"), true).unwrap();
        let made_at = Timestamp::UNIX_EPOCH;
        let (title, id) = ("x", "call_1");
        let event =
            Event { id, made_at, period, title, description: None, location: None, reminder_minutes: 0 };
        let text = event.text();
        assert!(text.contains("DTSTART;VALUE=DATE:20260228\r\nDTEND;VALUE=DATE:20260301\r\n"), "{text}");
    }

    proptest! {
        #[test]
        fn any_text_stays_in_its_line(title in any::<String>(), description in any::<String>(), place in any::<String>()) {
            let text = written(&title, &description, &place);
            let unfolded = text.replace("\r\n ", "");
            let names: Vec<&str> = unfolded.trim_end().split("\r\n").map(|line| line.split([':', ';']).next().unwrap()).collect();
            let mut expected = vec!["BEGIN", "VERSION", "PRODID", "BEGIN", "UID", "DTSTAMP", "DTSTART", "DTEND", "SUMMARY"];
            expected.extend((!description.is_empty()).then_some("DESCRIPTION"));
            expected.extend((!place.is_empty()).then_some("LOCATION"));
            expected.extend(["BEGIN", "ACTION", "DESCRIPTION", "TRIGGER", "END", "END", "END"]);
            prop_assert_eq!(names, expected);
            prop_assert!(text.split("\r\n").all(|line| line.len() <= LINE_BYTES && !line.contains(['\r', '\n'])));
        }
    }
}
