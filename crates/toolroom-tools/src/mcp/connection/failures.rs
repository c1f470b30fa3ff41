//! Recent failures of a server, and the back-off that follows from them.

use std::time::Duration;

use toolroom::clock::Timestamp;
use toolroom::foreign::Failure;

/// After this many failures within the window, a program is not started again.
pub(super) const MAX_FAILURES: usize = 3;
pub(super) const FAILURE_WINDOW: Duration = Duration::from_secs(60);

/// Failures that are stored: enough for the longest back-off.
const MAX_STORED: usize = 8;

/// The first and the longest back-off.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LONGEST_BACKOFF: Duration = Duration::from_secs(30);

/// The failures that count, oldest first. Time spent waiting for failed starts is deducted from their age: otherwise a program
/// that hangs for a minute would never fail often enough.
pub(super) fn recent(failures: &[Failure], now: Timestamp) -> Vec<Failure> {
    let mut spent = Duration::ZERO;
    let mut counted: Vec<Failure> = Vec::new();
    for failure in failures.iter().rev().take(MAX_STORED) {
        if now.since(failure.at).saturating_sub(spent) > FAILURE_WINDOW {
            break;
        }
        spent += Duration::from_micros(failure.waited);
        counted.push(*failure);
    }
    counted.reverse();
    counted
}

/// Whether the server is given up.
pub(super) fn is_too_often(recent: &[Failure]) -> bool {
    recent.len() >= MAX_FAILURES
}

/// How long to wait before the next attempt.
pub(super) fn backoff(recent: &[Failure], now: Timestamp) -> Duration {
    let Some(last) = recent.last() else { return Duration::ZERO };
    let doubled = u32::try_from(recent.len()).unwrap_or(u32::MAX).saturating_sub(1).min(6);
    let wait = (FIRST_BACKOFF * 2_u32.pow(doubled)).min(LONGEST_BACKOFF);
    wait.saturating_sub(now.since(last.at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_micros(second * 1_000_000)
    }

    fn failed(second: i64, waited: u64) -> Failure {
        Failure { at: at(second), waited: waited * 1_000_000 }
    }

    #[test]
    fn three_failures_in_a_minute_are_too_many() {
        let quick = [failed(0, 0), failed(10, 0), failed(59, 0)];
        assert!(is_too_often(&recent(&quick, at(59))));
        assert!(!is_too_often(&recent(&quick, at(61))), "the first one is too long ago");
        let slow = [failed(0, 0), failed(40, 0), failed(80, 0)];
        assert!(!is_too_often(&recent(&slow, at(80))));
    }

    #[test]
    fn a_start_that_hangs_for_a_minute_fails_as_often_as_one_that_crashes() {
        let hanging = [failed(60, 60), failed(121, 60), failed(183, 60)];
        assert!(is_too_often(&recent(&hanging, at(183))));
        let seldom = [failed(60, 60), failed(3_600, 60), failed(7_200, 60)];
        assert_eq!(recent(&seldom, at(7_200)), [failed(7_200, 60)]);
    }

    #[test]
    fn each_failure_doubles_the_backoff() {
        assert_eq!(backoff(&[], at(0)), Duration::ZERO);
        let failures: Vec<Failure> = (0..8).map(|_| failed(0, 0)).collect();
        let waits: Vec<Duration> = (1..=8).map(|count| backoff(&failures[..count], at(0))).collect();
        assert!(waits.is_sorted() && waits.last() == Some(&LONGEST_BACKOFF), "{waits:?}");
        assert_eq!(backoff(&failures, at(31)), Duration::ZERO);
        assert_eq!(backoff(&failures[..1], at(-100)), FIRST_BACKOFF, "clocks may be set back");
    }
}
