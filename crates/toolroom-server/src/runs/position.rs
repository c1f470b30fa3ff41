//! Where a watcher is in a run.

use std::fmt;
use std::str::FromStr;

/// The number of an event, and that of the event with which somebody took the run up. Events that were told and not
/// stored are gone when their process dies, and whoever goes on gives their numbers to others: the first number tells
/// the two apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Position {
    /// The number with which the run began, or was taken up again.
    pub(crate) stretch: u64,
    /// The number of the event that was seen last.
    pub(crate) seq: u64,
}

impl Position {
    /// What one looks like when it is written.
    pub(crate) const PATTERN: &str = "^([0-9]{1,19}-[0-9]{1,19})?$";

    /// The first number that was not seen, for a run that was last taken up at `stretch`.
    pub(super) fn next(self, stretch: u64) -> u64 {
        let next = self.seq.saturating_add(1);
        if self.stretch == stretch { next } else { next.min(stretch) }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.stretch, self.seq)
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
            let (stretch, seq) = text.split_once('-')?;
            let number = |text: &str| text.parse().ok().filter(|_| !text.starts_with('+'));
            Some(Self { stretch: number(stretch)?, seq: number(seq)? })
        };
        read().ok_or_else(|| PositionError(text.chars().take(50).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_and_not_stored_is_told_again() {
        let seen = Position { stretch: 0, seq: 57 };
        assert_eq!(seen.next(0), 58, "nothing happened meanwhile");
        assert_eq!(seen.next(41), 41, "numbers from 41 on were given away anew");
        let seen = Position { stretch: 0, seq: 12 };
        assert_eq!(seen.next(41), 13, "it was away while the run was taken up");
    }

    #[test]
    fn a_position_is_read_as_it_is_written() {
        let seen = Position { stretch: 7, seq: 9 };
        assert_eq!(seen.to_string().parse(), Ok(seen));
        for text in ["", "7", "7-", "-9", "a-b", "7-9-1", "+7-9", "99999999999999999999-1"] {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }
}
