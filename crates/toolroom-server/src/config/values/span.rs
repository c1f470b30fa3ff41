//! Spans: `30s`, `24h`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

const NANOS_PER_MILLI: u128 = 1_000_000;

/// Milliseconds of each unit, and the minimum for writing a span in it: `24h` rather than `1d`.
const UNITS: [(u128, u128, &str); 5] = [
    (86_400_000, 172_800_000, "d"),
    (3_600_000, 3_600_000, "h"),
    (60_000, 60_000, "m"),
    (1_000, 1_000, "s"),
    (1, 1, "ms"),
];

/// Parses `500ms`, `30` or `30s`, `5m`, `2h`, `7d`.
pub fn parse_span(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(split).unwrap_or((text, ""));
    let seconds_per_unit = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        "d" => 86_400.0,
        _ => return Err(format!("unknown unit `{unit}`; use ms, s, m, h or d")),
    };
    let number: f64 =
        number.parse().map_err(|_| "expected a number and a unit, such as 30s or 2h".to_owned())?;
    Duration::try_from_secs_f64(number * seconds_per_unit).map_err(|_| "the span is too long".to_owned())
}

/// A duration: a number and a unit, such as `30s` or `24h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Span(Duration);

impl Span {
    /// From a duration.
    #[must_use]
    pub const fn new(duration: Duration) -> Self {
        Self(duration)
    }

    /// The duration.
    #[must_use]
    pub const fn duration(self) -> Duration {
        self.0
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        parse_span(&text).map(Self)
    }
}

impl From<Span> for String {
    fn from(span: Span) -> Self {
        span.to_string()
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let (millis, rest) = (nanos / NANOS_PER_MILLI, nanos % NANOS_PER_MILLI);
        if rest != 0 {
            let decimals = format!("{rest:06}");
            return write!(formatter, "{millis}.{}ms", decimals.trim_end_matches('0'));
        }
        let whole =
            UNITS.into_iter().find(|(unit, least, _)| millis >= *least && millis.is_multiple_of(*unit));
        let (unit, _, name) = whole.unwrap_or((1_000, 0, "s"));
        write!(formatter, "{}{name}", millis / unit)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "span", "pattern": "^[0-9.]+(ms|s|m|h|d)?$" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::*;
    use crate::scale::cases;

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
    fn a_span_is_written_in_its_largest_whole_unit() {
        for (text, written) in [
            ("1d", "24h"),
            ("48h", "2d"),
            ("36h", "36h"),
            ("90s", "90s"),
            ("120", "2m"),
            ("1500ms", "1500ms"),
            ("0.0015s", "1.5ms"),
            ("0h", "0s"),
        ] {
            assert_eq!(Span::new(parse_span(text).unwrap()).to_string(), written);
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn written_spans_parse_back(millis in 0..30 * 86_400_000_u64) {
            let span = Span::new(Duration::from_millis(millis));
            prop_assert_eq!(Span::try_from(span.to_string()), Ok(span));
        }
    }
}
