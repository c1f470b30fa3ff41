//! How often a server has failed lately, and what follows from that.

use std::time::Duration;

use toolroom::clock::Timestamp;
use toolroom::foreign::Failure;

/// So many failures within this time, and a program is not started again.
pub(super) const MAX_FAILURES: usize = 3;
pub(super) const WITHIN: Duration = Duration::from_secs(60);

/// Failures that are remembered: enough for the longest wait.
const KEPT: usize = 8;

/// How long to wait after a failure, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Those that count now, oldest first. Time that was spent waiting for a start that failed does not make earlier ones
/// older: a program that hangs fails seldom because it takes so long.
pub(super) fn lately(failures: &[Failure], now: Timestamp) -> Vec<Failure> {
    let mut spent = Duration::ZERO;
    let mut counted: Vec<Failure> = Vec::new();
    for failure in failures.iter().rev().take(KEPT) {
        if now.since(failure.at).saturating_sub(spent) > WITHIN {
            break;
        }
        spent += Duration::from_micros(failure.waited);
        counted.push(*failure);
    }
    counted.reverse();
    counted
}

/// Whether that is so often that nobody tries again by himself.
pub(super) fn is_too_often(lately: &[Failure]) -> bool {
    lately.len() >= MAX_FAILURES
}

/// How long to wait before the next try.
pub(super) fn wait(lately: &[Failure], now: Timestamp) -> Duration {
    let Some(last) = lately.last() else { return Duration::ZERO };
    let doubled = u32::try_from(lately.len()).unwrap_or(u32::MAX).saturating_sub(1).min(6);
    let wait = (FIRST_WAIT * 2_u32.pow(doubled)).min(LONGEST_WAIT);
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
        assert!(is_too_often(&lately(&quick, at(59))));
        assert!(!is_too_often(&lately(&quick, at(61))), "the first one is too long ago");
        let slow = [failed(0, 0), failed(40, 0), failed(80, 0)];
        assert!(!is_too_often(&lately(&slow, at(80))));
    }

    #[test]
    fn a_start_that_hangs_for_a_minute_fails_as_often_as_one_that_crashes() {
        let hanging = [failed(60, 60), failed(121, 60), failed(183, 60)];
        assert!(is_too_often(&lately(&hanging, at(183))));
        let seldom = [failed(60, 60), failed(3_600, 60), failed(7_200, 60)];
        assert_eq!(lately(&seldom, at(7_200)), [failed(7_200, 60)]);
    }

    #[test]
    fn each_failure_is_waited_for_longer() {
        assert_eq!(wait(&[], at(0)), Duration::ZERO);
        let failures: Vec<Failure> = (0..8).map(|_| failed(0, 0)).collect();
        let waits: Vec<Duration> = (1..=8).map(|count| wait(&failures[..count], at(0))).collect();
        assert!(waits.is_sorted() && waits.last() == Some(&LONGEST_WAIT), "{waits:?}");
        assert_eq!(wait(&failures, at(31)), Duration::ZERO);
        assert_eq!(wait(&failures[..1], at(-100)), FIRST_WAIT, "clocks may be set back");
    }
}
