//! Parses `retry-after` headers.

use std::time::Duration;

use jiff::fmt::rfc2822::DateTimeParser;
use toolroom::clock::Timestamp;
use toolroom_host::net::Response;

/// The delay in milliseconds, seconds, or until a date.
pub(super) fn retry_after(response: &Response, now: Timestamp) -> Option<Duration> {
    let millis = response.header("retry-after-ms").and_then(|text| seconds(text, 1_000.0));
    let after = || span(response.header("retry-after")?, response.header("date"), now);
    millis.or_else(after)
}

/// Seconds from now, or until a date by the vendor's clock if it sends one.
fn span(text: &str, date: Option<&str>, now: Timestamp) -> Option<Duration> {
    if let Some(span) = seconds(text, 1.0) {
        return Some(span);
    }
    let until = instant(text)?;
    Some(until.since(date.and_then(instant).unwrap_or(now)))
}

fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(text.trim().parse::<f64>().ok()? / per_second).ok()
}

fn instant(text: &str) -> Option<Timestamp> {
    let instant = DateTimeParser::new().parse_timestamp(text.trim()).ok()?;
    Some(Timestamp::from_micros(instant.as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_written_in_seconds_or_as_a_date() {
        let now = instant("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        let check = |text: &str, date: Option<&str>, expected: Option<u64>| {
            assert_eq!(span(text, date, now), expected.map(Duration::from_millis), "{text}");
        };
        check("7", None, Some(7_000));
        check(" 0.5 ", None, Some(500));
        check("Wed, 21 Oct 2026 07:28:30 GMT", None, Some(30_000));
        check("Wed, 21 Oct 2026 07:28:30 GMT", Some("Wed, 21 Oct 2026 07:28:20 GMT"), Some(10_000));
        check("Wed, 21 Oct 2026 07:00:00 GMT", None, Some(0));
        check("-1", None, None);
        check("NaN", None, None);
        check("1e300", None, None);
        check("soon", None, None);
        check("", None, None);
    }
}
