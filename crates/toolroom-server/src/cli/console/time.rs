//! Parses and formats durations and times.

use std::time::Duration;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use toolroom::clock::Timestamp;

pub(crate) use crate::config::parse_span;

/// A duration in its largest useful unit: `3 d`, `23 h`, `59 min`, `12 s`.
pub(crate) fn remaining(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

/// A measured duration: `12 µs`, `34 ms` or `5.6 s`.
pub(crate) fn elapsed(micros: u64) -> String {
    match micros {
        micros @ 0..1_000 => format!("{micros} µs"),
        micros @ 1_000..1_000_000 => format!("{} ms", micros / 1_000),
        micros => format!("{}.{} s", micros / 1_000_000, micros / 100_000 % 10),
    }
}

/// Formats a time in the given zone and `strftime` format.
pub(crate) fn local_time(at: Timestamp, zone: &TimeZone, format: &str) -> String {
    jiff::Timestamp::from_microsecond(at.as_micros()).map_or_else(
        |_| at.as_micros().to_string(),
        |at| at.to_zoned(zone.clone()).strftime(format).to_string(),
    )
}

/// Parses a non-zero duration.
pub(crate) fn parse_limit(text: &str) -> Result<Duration, String> {
    match parse_span(text)? {
        Duration::ZERO => Err("must be longer than zero".to_owned()),
        limit => Ok(limit),
    }
}

/// Parses a span before `now`, a date, or a date and time in the user's zone or with an offset.
pub(crate) fn parse_since(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    if let Ok(span) = parse_span(text) {
        return Ok(now.before(span));
    }
    let instant = text
        .parse::<jiff::Timestamp>()
        .or_else(|_| text.parse::<DateTime>().and_then(|at| Ok(at.to_zoned(zone.clone())?.timestamp())))
        .or_else(|_| text.parse::<Date>().and_then(|day| Ok(day.to_zoned(zone.clone())?.timestamp())));
    instant
        .map(|instant| Timestamp::from_micros(instant.as_microsecond()))
        .map_err(|_| format!("`{text}` is not a span such as 2h or a date such as 2026-11-15"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_takes_spans_dates_and_instants() {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let check = |text: &str, micros: i64| {
            assert_eq!(parse_since(text, now, &zone), Ok(Timestamp::from_micros(micros)), "{text}");
        };
        check("1h", 1_799_996_400_000_000);
        check("2026-11-15", 1_794_697_200_000_000);
        check("2026-11-15T12:00:00", 1_794_740_400_000_000);
        check("2026-11-15T12:00:00Z", 1_794_744_000_000_000);
        assert!(parse_since("yesterday", now, &zone).is_err());
    }
}
