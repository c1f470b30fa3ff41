//! Rates: `3/h`, `20/day project`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom::ledger::{RateKey, RateLimit};

use super::OneOrMany;

/// Counting cost grows with the limit.
const MAX_COUNT: u32 = 1_000_000;

/// Each rate is counted for each call.
const MAX_RATES: usize = 8;

const FORMS: &str = "use `3/s`, `3/min`, `3/h` or `3/day`, optionally followed by ` user` or ` project`";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RateUnit {
    Second,
    Minute,
    Hour,
    Day,
}

impl RateUnit {
    const ALL: [Self; 4] = [Self::Second, Self::Minute, Self::Hour, Self::Day];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Second => "s",
            Self::Minute => "min",
            Self::Hour => "h",
            Self::Day => "day",
        }
    }

    const fn span(self) -> Duration {
        match self {
            Self::Second => Duration::from_secs(1),
            Self::Minute => Duration::from_secs(60),
            Self::Hour => Duration::from_secs(3_600),
            Self::Day => Duration::from_secs(86_400),
        }
    }
}

/// Maximum number of calls per second, minute, hour or day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::config) struct Rate {
    count: u32,
    unit: RateUnit,
    key: RateKey,
}

impl Rate {
    pub(in crate::config) fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let (count, unit_name) = words.next().and_then(|rate| rate.split_once('/')).ok_or(FORMS)?;
        let unit = RateUnit::ALL.into_iter().find(|unit| unit.as_str() == unit_name).ok_or(FORMS)?;
        let key = match words.next() {
            None | Some("user") => RateKey::User,
            Some("project") => RateKey::Project,
            Some(_) => return Err(FORMS.to_owned()),
        };
        let digits = !count.is_empty() && count.chars().all(|c| c.is_ascii_digit());
        if !digits || words.next().is_some() {
            return Err(FORMS.to_owned());
        }
        let allowed = 1..=MAX_COUNT;
        let count = count.parse().ok().filter(|count| allowed.contains(count));
        let count = count.ok_or_else(|| format!("the number of calls must be from 1 to {MAX_COUNT}"))?;
        Ok(Self { count, unit, key })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.count, self.unit.as_str())?;
        match self.key {
            RateKey::User => Ok(()),
            RateKey::Project => formatter.write_str(" project"),
        }
    }
}

/// One or more rates that all apply. Counted per user unless a rate says `project`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "OneOrMany", into = "OneOrMany")]
pub struct Rates(Vec<Rate>);

impl Rates {
    /// The limits for the kernel.
    #[must_use]
    pub fn limits(&self) -> Vec<RateLimit> {
        let limit = |rate: &Rate| RateLimit { max: rate.count, per: rate.unit.span(), key: rate.key };
        self.0.iter().map(limit).collect()
    }
}

impl TryFrom<OneOrMany> for Rates {
    type Error = String;

    fn try_from(written: OneOrMany) -> Result<Self, String> {
        let texts = match written {
            OneOrMany::One(text) => vec![text],
            OneOrMany::Many(texts) => texts,
        };
        texts.iter().map(|text| Rate::parse(text)).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Rates> for OneOrMany {
    fn from(rates: Rates) -> Self {
        match rates.0.as_slice() {
            [one] => Self::One(one.to_string()),
            several => Self::Many(several.iter().map(ToString::to_string).collect()),
        }
    }
}

impl JsonSchema for Rates {
    fn schema_name() -> Cow<'static, str> {
        "Rates".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let rate = json!({
            "type": "string",
            "format": "rate",
            "pattern": "^\\s*[0-9]+/(s|min|h|day)(\\s+(user|project))?\\s*$"
        });
        json_schema!({ "anyOf": [rate, { "type": "array", "items": rate, "maxItems": MAX_RATES }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_count_a_unit_and_a_subject() {
        for (text, max, seconds, key, written) in [
            ("3/s", 3, 1, RateKey::User, "3/s"),
            ("10/min user", 10, 60, RateKey::User, "10/min"),
            ("3/h", 3, 3_600, RateKey::User, "3/h"),
            ("1000000/day   project", 1_000_000, 86_400, RateKey::Project, "1000000/day project"),
        ] {
            let rates = Rates::try_from(OneOrMany::One(text.to_owned())).unwrap();
            assert_eq!(rates.limits(), [RateLimit { max, per: Duration::from_secs(seconds), key }], "{text}");
            assert_eq!(rates.0.first().unwrap().to_string(), written);
        }
    }

    #[test]
    fn other_text_is_not_a_rate() {
        for text in [
            "",
            "3",
            "/h",
            "3/",
            "3/m",
            "3/hour",
            "3 / h",
            "+3/h",
            "-3/h",
            "3.5/h",
            "0/h",
            "1000001/h",
            "99999999999/h",
            "3/h all",
            "3/h user project",
            "३/h",
        ] {
            assert!(Rate::parse(text).is_err(), "{text}");
        }
        assert_eq!(Rate::parse("0/h"), Err("the number of calls must be from 1 to 1000000".to_owned()));
    }
}
