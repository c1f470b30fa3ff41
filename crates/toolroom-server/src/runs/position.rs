//! Positions in the event stream of a run.

use std::fmt;
use std::str::FromStr;

use toolroom::clock::Timestamp;
use toolroom::conversation::{NumberedEvent, RunEvent};

/// An uninterrupted part of a run, worked on by one process.
///
/// Events that were sent but not stored are lost when their process dies. The process that resumes the run assigns their
/// numbers again, so two segments may even start with the same number: the time tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The number of the event that started or resumed the run.
    pub(crate) first: u64,
    pub(crate) at: Timestamp,
}

impl Segment {
    /// The segment that an event starts, if it starts one.
    pub(crate) const fn started_by(event: &NumberedEvent) -> Option<Self> {
        match event.event {
            RunEvent::Started { .. } => Some(Self { first: event.seq, at: event.at }),
            _ => None,
        }
    }
}

/// The last event that a subscriber has read, and its segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) segment: Segment,
    /// The number of the event.
    pub(crate) seq: u64,
}

impl Position {
    /// Regular expression of the text form.
    pub(crate) const PATTERN: &str = "^([0-9]{1,19}-[0-9]{1,19}-[0-9]{1,19})?$";

    /// The first unread number. `segments` are the stored ones and the live one, oldest first.
    pub(super) fn next(self, segments: &[Segment]) -> u64 {
        let next = self.seq.saturating_add(1);
        match segments.iter().position(|stored| *stored == self.segment) {
            // Unstored events of this segment end where the next one starts.
            Some(index) => segments.get(index + 1).map_or(next, |later| next.min(later.first)),
            // No event of this segment was stored.
            None => next.min(self.segment.first),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment: Segment { first, at }, seq } = self;
        write!(formatter, "{first}-{}-{seq}", at.as_micros())
    }
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an event id; send the id of the last event that was read, or none")]
pub(crate) struct PositionError(String);

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let read = || {
            // `parse` would accept a sign.
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let [first, at, seq] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
            if ![first, at, seq].into_iter().all(digits) {
                return None;
            }
            let segment =
                Segment { first: first.parse().ok()?, at: Timestamp::from_micros(at.parse().ok()?) };
            Some(Self { segment, seq: seq.parse().ok()? })
        };
        read().ok_or_else(|| PositionError(text.chars().take(50).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn segment(first: u64, at: i64) -> Segment {
        Segment { first, at: Timestamp::from_micros(at) }
    }

    #[test]
    fn unstored_events_are_sent_again() {
        let (started, resumed) = (segment(0, 100), segment(41, 200));
        let seen = Position { segment: started, seq: 57 };
        assert_eq!(seen.next(&[started]), 58, "nothing happened in between");
        assert_eq!(seen.next(&[started, resumed]), 41, "numbers from 41 on were assigned again");
        let seen = Position { segment: started, seq: 12 };
        assert_eq!(seen.next(&[started, resumed]), 13, "it was disconnected while the run was resumed");
        let seen = Position { segment: resumed, seq: 57 };
        assert_eq!(seen.next(&[started, resumed]), 58);
    }

    #[test]
    fn an_unstored_segment_is_recognized_by_its_time() {
        let (lost, started) = (segment(0, 100), segment(0, 200));
        let seen = Position { segment: lost, seq: 57 };
        assert_eq!(seen.next(&[started]), 0);
        assert_eq!(seen.next(&[]), 0);
        let lost = segment(7, 300);
        assert_eq!(Position { segment: lost, seq: 57 }.next(&[started, segment(7, 400)]), 7);
    }

    #[test]
    fn a_subscriber_misses_no_segment_in_between() {
        let all = [segment(0, 100), segment(5, 200), segment(9, 300)];
        assert_eq!(Position { segment: all[0], seq: 57 }.next(&all), 5);
        assert_eq!(Position { segment: all[1], seq: 57 }.next(&all), 9);
        assert_eq!(Position { segment: all[0], seq: 2 }.next(&all), 3);
    }

    #[test]
    fn positions_round_trip() {
        let seen = Position { segment: segment(7, 1_700_000_000_000_000), seq: 9 };
        assert_eq!(seen.to_string().parse(), Ok(seen));
        for text in
            ["", "7", "7-", "-9", "7-9", "a-b-c", "7-9-1-1", "+7-9-1", "7-+9-1", "99999999999999999999-1-1"]
        {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }
}
