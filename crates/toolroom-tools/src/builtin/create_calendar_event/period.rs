//! Start and end of an event.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};
use toolroom::schema::Problem;

/// Other years are rejected: calendars cannot represent all of them.
const YEARS: std::ops::RangeInclusive<i16> = 1900..=2200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Period {
    /// Between two instants.
    Hours { start: Timestamp, end: Timestamp },
    /// Whole days, including the last.
    Days { first: Date, last: Date },
}

/// A parsed start or end.
enum Moment {
    Instant(Zoned),
    Day(Date),
}

impl Period {
    /// Parses start and end. A time without a zone is in `zone`.
    pub(super) fn read(
        zone: &TimeZone,
        start: &str,
        end: Option<&str>,
        all_day: bool,
    ) -> Result<Self, Problem> {
        let problem = |name: &str, why: &str| Problem::new(format!("/{name}"), why);
        let begins = moment(zone, start).map_err(|why| problem("start_time", &why))?;
        let end = end.filter(|end| !end.trim().is_empty());
        let ends = end.map(|end| moment(zone, end).map_err(|why| problem("end_time", &why))).transpose()?;
        let too_early = || problem("end_time", "must be after `start_time`");
        let (start, end) = match (begins, ends) {
            (begins, ends) if all_day => return days(begins.day(), ends.map(|ends| ends.day()), too_early),
            (Moment::Day(first), None) => return days(first, None, too_early),
            (Moment::Day(first), Some(Moment::Day(last))) => return days(first, Some(last), too_early),
            (Moment::Day(_), Some(Moment::Instant(_))) | (Moment::Instant(_), Some(Moment::Day(_))) => {
                return Err(problem(
                    "end_time",
                    "must be a date if `start_time` is a date, and a time otherwise",
                ));
            }
            (Moment::Instant(start), Some(Moment::Instant(end))) => (start.timestamp(), end.timestamp()),
            (Moment::Instant(start), None) => {
                let later = start.timestamp().checked_add(Span::new().hours(1));
                (start.timestamp(), later.map_err(|_| problem("start_time", EXPECTED))?)
            }
        };
        if end <= start { Err(too_early()) } else { Ok(Self::Hours { start, end }) }
    }

    pub(super) const fn is_all_day(&self) -> bool {
        matches!(self, Self::Days { .. })
    }

    /// `20260301`, for a file name.
    pub(super) fn first_day(&self) -> String {
        match self {
            Self::Hours { start, .. } => start.strftime("%Y%m%d").to_string(),
            Self::Days { first, .. } => first.strftime("%Y%m%d").to_string(),
        }
    }

    /// Start and end in the user's time zone.
    pub(super) fn display(&self, zone: &TimeZone) -> (String, String) {
        match self {
            Self::Hours { start, end } => {
                let local =
                    |at: &Timestamp| at.to_zoned(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
                (local(start), local(end))
            }
            Self::Days { first, last } => (first.to_string(), last.to_string()),
        }
    }
}

/// The problem of an invalid time.
const EXPECTED: &str = "must be a date or a time such as 2026-03-01, 2026-03-01T14:00 or 2026-03-01T14:00+01:00, \
                        in the years 1900 to 2200";

fn days(first: Date, last: Option<Date>, too_early: impl Fn() -> Problem) -> Result<Period, Problem> {
    let last = last.unwrap_or(first);
    if last < first { Err(too_early()) } else { Ok(Period::Days { first, last }) }
}

impl Moment {
    /// The day as written, in its own zone.
    fn day(&self) -> Date {
        match self {
            Self::Instant(zoned) => zoned.date(),
            Self::Day(day) => *day,
        }
    }
}

fn moment(zone: &TimeZone, text: &str) -> Result<Moment, String> {
    let text = text.trim();
    let read = || {
        // `parse::<Date>` would silently drop a time, so only the exact length counts as a date.
        if text.len() == 10 {
            return text.parse::<Date>().ok().map(Moment::Day);
        }
        if let Ok(zoned) = text.parse::<Zoned>() {
            return Some(Moment::Instant(zoned));
        }
        if let Ok(instant) = text.parse::<Timestamp>() {
            return Some(Moment::Instant(instant.to_zoned(zone.clone())));
        }
        // An hour that is skipped or repeated by a clock change resolves to the usual one.
        let naive = text.parse::<DateTime>().ok()?;
        naive.to_zoned(zone.clone()).ok().map(Moment::Instant)
    };
    if let Some(wrong) = wrong_zone(text) {
        return Err(wrong);
    }
    read().filter(|moment| YEARS.contains(&moment.day().year())).ok_or_else(|| EXPECTED.to_owned())
}

/// The problem with a bracketed time zone. Without the zone the event would be at a different time.
fn wrong_zone(text: &str) -> Option<String> {
    let (written, name) = text.split_once('[')?;
    if text.parse::<Zoned>().is_ok() {
        return None;
    }
    let name = name.split(']').next().unwrap_or_default().trim_start_matches('!');
    let Ok(named) = TimeZone::get(name) else {
        return Some(format!(
            "has an unknown time zone `{name}`; use one such as [Europe/Berlin], or an offset such as +01:00"
        ));
    };
    let instant = written.parse::<Timestamp>().ok()?;
    let there = instant.to_zoned(named).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
    Some(format!(
        "has an offset that does not match the time zone {name}: the time there is {there}; leave one of them out"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(start: &str, end: Option<&str>, all_day: bool) -> Result<(String, String), String> {
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let period = Period::read(&zone, start, end, all_day);
        period.map(|period| period.display(&zone)).map_err(|problem| problem.to_string())
    }

    #[test]
    fn times_without_a_zone_are_in_the_users_zone() {
        let hour = |start: &str| read(start, None, false).unwrap();
        let expected = ("2026-03-01T14:00:00+01:00".to_owned(), "2026-03-01T15:00:00+01:00".to_owned());
        for start in
            ["2026-03-01T14:00", "2026-03-01 14:00:00", "2026-03-01T13:00:00Z", "2026-03-01T18:00+05:00"]
        {
            assert_eq!(hour(start), expected, "{start}");
        }
        assert_eq!(hour("2026-03-01T08:00[America/New_York]"), expected);
        // A skipped hour, and a repeated one.
        assert_eq!(hour("2026-03-29T02:30").0, "2026-03-29T03:30:00+02:00");
        assert_eq!(hour("2026-10-25T02:30").0, "2026-10-25T02:30:00+02:00");
        let long = read("2026-03-01T14:00", Some("2026-03-02T09:30"), false).unwrap();
        assert_eq!(long.1, "2026-03-02T09:30:00+01:00");
    }

    #[test]
    fn all_day_events_are_days_in_every_zone() {
        let one = ("2026-03-01".to_owned(), "2026-03-01".to_owned());
        assert_eq!(read("2026-03-01", None, false).unwrap(), one);
        assert_eq!(read("2026-03-01T23:30:00Z", None, true).unwrap().1.len(), 10);
        assert_eq!(read("2026-03-01", Some("2026-03-03"), true).unwrap().1, "2026-03-03");
    }

    #[test]
    fn invalid_times_are_reported() {
        for (start, end, all_day) in [
            ("tomorrow", None, false),
            ("", None, false),
            ("2026-02-30", None, true),
            ("0001-01-01T00:00", None, false),
            ("9999-12-31T23:59", None, false),
            ("2026-03-01T14:00", Some("2026-03-01T14:00"), false),
            ("2026-03-01T14:00", Some("2026-02-28"), true),
            ("2026-03-01", Some("2026-03-01T10:00"), false),
            ("2026-03-01T14:00\r\nATTENDEE:x", None, false),
            ("2026-03-01T14:00[]", None, false),
            ("tomorrow[Europe/Berlin]", None, false),
        ] {
            assert!(read(start, end, all_day).is_err(), "{start}");
        }
    }

    #[test]
    fn an_unknown_or_contradicting_zone_is_reported() {
        let wrong = |start: &str| read(start, None, false).unwrap_err();
        for start in ["2026-03-01T14:00[Mars/Olympus]", "2026-03-01T14:00+01:00[Mars/Olympus]"] {
            assert!(wrong(start).contains("has an unknown time zone `Mars/Olympus`"), "{start}");
        }
        let contradiction = wrong("2026-03-01T14:00+05:00[Europe/Berlin]");
        assert!(contradiction.contains("the time there is 2026-03-01T10:00:00+01:00"), "{contradiction}");
        let day = read("2026-03-01T14:00[Mars/Olympus]", None, true);
        assert!(day.unwrap_err().contains("Mars/Olympus"));
        assert!(read("2026-03-01T14:00+01:00[Europe/Berlin]", None, false).is_ok());
    }
}
