//! Spans of time and instants as people write them.

use std::time::Duration;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use toolroom::clock::Timestamp;

/// `500ms`, `30` or `30s`, `5m`, `2h`, `7d`.
pub(super) fn parse_span(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(split).unwrap_or((text, ""));
    let seconds_per_unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(format!("`{unit}` is no unit of time; use ms, s, m, h or d")),
    };
    let number: f64 =
        number.parse().map_err(|_| "a span is a number and a unit, such as 30s or 2h".to_owned())?;
    Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|_| "that span is too long".to_owned())
}

/// A span in which something can happen.
pub(super) fn parse_limit(text: &str) -> Result<Duration, String> {
    match parse_span(text)? {
        Duration::ZERO => Err("nothing can be done in no time; give a longer span".to_owned()),
        limit => Ok(limit),
    }
}

/// A span ago, or a date, or a date and time in the user's zone, or with an offset.
pub(super) fn parse_since(text: &str, now: Timestamp, zone: &TimeZone) -> Result<Timestamp, String> {
    if let Ok(span) = parse_span(text) {
        return Ok(now.before(span));
    }
    let instant = text
        .parse::<jiff::Timestamp>()
        .or_else(|_| text.parse::<DateTime>().and_then(|at| Ok(at.to_zoned(zone.clone())?.timestamp())))
        .or_else(|_| text.parse::<Date>().and_then(|day| Ok(day.to_zoned(zone.clone())?.timestamp())));
    instant
        .map(|instant| Timestamp::from_micros(instant.as_microsecond()))
        .map_err(|_| format!("`{text}` is neither a span such as 2h nor a date such as 2026-11-15"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_a_number_and_a_unit() {
        let check = |text: &str, millis: u64| {
            assert_eq!(parse_span(text), Ok(Duration::from_millis(millis)), "{text}");
        };
        check("500ms", 500);
        check("30", 30_000);
        check("1.5s", 1_500);
        check("2m", 120_000);
        check("1h", 3_600_000);
        check("7d", 604_800_000);
        for text in ["", "h", "1 h", "-5s", "1w", "9e9", "99999999999999999999d", "1.2.3"] {
            assert!(parse_span(text).is_err(), "{text}");
        }
    }

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
