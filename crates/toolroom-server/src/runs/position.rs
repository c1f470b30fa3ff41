//! Where a watcher is in a run.

use std::fmt;
use std::str::FromStr;

use toolroom::clock::Timestamp;
use toolroom::conversation::{NumberedEvent, RunEvent};

/// What was told of a run without a break.
///
/// Events that were told and not stored are gone when their process dies, and whoever goes on gives their numbers to
/// others. Two stretches may even begin with the same number: the time tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// The number of the event with which the run began, or was taken up again.
    pub(crate) first: u64,
    /// When that was.
    pub(crate) at: Timestamp,
}

impl Stretch {
    /// The stretch that an event begins, if it begins one.
    pub(crate) const fn begun_by(event: &NumberedEvent) -> Option<Self> {
        match event.event {
            RunEvent::Started { .. } => Some(Self { first: event.seq, at: event.at }),
            _ => None,
        }
    }
}

/// The event that was seen last, and the stretch in which it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) stretch: Stretch,
    /// The number of the event.
    pub(crate) seq: u64,
}

impl Position {
    /// What one looks like when it is written.
    pub(crate) const PATTERN: &str = "^([0-9]{1,19}-[0-9]{1,19}-[0-9]{1,19})?$";

    /// The first number that was not seen, given the stretches that were kept and the one that goes on, the oldest
    /// first.
    pub(super) fn next(self, stretches: &[Stretch]) -> u64 {
        let next = self.seq.saturating_add(1);
        match stretches.iter().position(|kept| *kept == self.stretch) {
            // What was told and not kept ended where the next one begins.
            Some(place) => stretches.get(place + 1).map_or(next, |later| next.min(later.first)),
            // Nothing of it was kept.
            None => next.min(self.stretch.first),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stretch: Stretch { first, at }, seq } = self;
        write!(formatter, "{first}-{}-{seq}", at.as_micros())
    }
}

/// Not a position.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no place in a run; send the id of the last event that was read, or none")]
pub(crate) struct PositionError(String);

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let read = || {
            // Rust would read a sign as well.
            let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            let [first, at, seq] = text.split('-').collect::<Vec<_>>().try_into().ok()?;
            if ![first, at, seq].into_iter().all(digits) {
                return None;
            }
            let stretch =
                Stretch { first: first.parse().ok()?, at: Timestamp::from_micros(at.parse().ok()?) };
            Some(Self { stretch, seq: seq.parse().ok()? })
        };
        read().ok_or_else(|| PositionError(text.chars().take(50).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn stretch(first: u64, at: i64) -> Stretch {
        Stretch { first, at: Timestamp::from_micros(at) }
    }

    #[test]
    fn what_was_told_and_not_kept_is_told_again() {
        let (begun, taken_up) = (stretch(0, 100), stretch(41, 200));
        let seen = Position { stretch: begun, seq: 57 };
        assert_eq!(seen.next(&[begun]), 58, "nothing happened meanwhile");
        assert_eq!(seen.next(&[begun, taken_up]), 41, "numbers from 41 on were given away anew");
        let seen = Position { stretch: begun, seq: 12 };
        assert_eq!(seen.next(&[begun, taken_up]), 13, "it was away while the run was taken up");
        let seen = Position { stretch: taken_up, seq: 57 };
        assert_eq!(seen.next(&[begun, taken_up]), 58);
    }

    #[test]
    fn a_stretch_of_which_nothing_was_kept_is_known_by_its_time() {
        let (lost, begun) = (stretch(0, 100), stretch(0, 200));
        let seen = Position { stretch: lost, seq: 57 };
        assert_eq!(seen.next(&[begun]), 0);
        assert_eq!(seen.next(&[]), 0);
        let lost = stretch(7, 300);
        assert_eq!(Position { stretch: lost, seq: 57 }.next(&[begun, stretch(7, 400)]), 7);
    }

    #[test]
    fn who_was_away_for_long_misses_nothing_of_what_was_in_between() {
        let all = [stretch(0, 100), stretch(5, 200), stretch(9, 300)];
        assert_eq!(Position { stretch: all[0], seq: 57 }.next(&all), 5);
        assert_eq!(Position { stretch: all[1], seq: 57 }.next(&all), 9);
        assert_eq!(Position { stretch: all[0], seq: 2 }.next(&all), 3);
    }

    #[test]
    fn a_position_is_read_as_it_is_written() {
        let seen = Position { stretch: stretch(7, 1_700_000_000_000_000), seq: 9 };
        assert_eq!(seen.to_string().parse(), Ok(seen));
        for text in
            ["", "7", "7-", "-9", "7-9", "a-b-c", "7-9-1-1", "+7-9-1", "7-+9-1", "99999999999999999999-1-1"]
        {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }
}
