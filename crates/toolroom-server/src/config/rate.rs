//! Rates as people write them: `3/h`, `20/day project`.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolroom::ledger::{RateKey, RateLimit};

/// Beyond it a limit limits nothing, and counting it costs as much.
const MAX_COUNT: u32 = 1_000_000;

/// Each rate is counted for every call.
const MAX_RATES: usize = 8;

const FORMS: &str = "write `3/s`, `3/min`, `3/h` or `3/day`, with ` user` or ` project` behind it if need be";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Every {
    Second,
    Minute,
    Hour,
    Day,
}

impl Every {
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

/// At most so many calls in a second, minute, hour or day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    count: u32,
    every: Every,
    key: RateKey,
}

impl Rate {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let (count, unit) = words.next().and_then(|rate| rate.split_once('/')).ok_or(FORMS)?;
        let every = Every::ALL.into_iter().find(|every| every.as_str() == unit).ok_or(FORMS)?;
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
        Ok(Self { count, every, key })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.count, self.every.as_str())?;
        match self.key {
            RateKey::User => Ok(()),
            RateKey::Project => formatter.write_str(" project"),
        }
    }
}

/// How often a tool may be called: one rate or several, all of which hold. Each user is counted apart unless a rate
/// says `project`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Rates(Vec<Rate>);

/// One text or a list of them.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    One(String),
    Several(Vec<String>),
}

impl Rates {
    /// The limits as the kernel counts them.
    #[must_use]
    pub fn limits(&self) -> Vec<RateLimit> {
        let limit = |rate: &Rate| RateLimit { max: rate.count, per: rate.every.span(), key: rate.key };
        self.0.iter().map(limit).collect()
    }
}

impl TryFrom<Written> for Rates {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let texts = match written {
            Written::One(text) => vec![text],
            Written::Several(texts) => texts,
        };
        texts.iter().map(|text| Rate::parse(text)).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Rates> for Written {
    fn from(rates: Rates) -> Self {
        match rates.0.as_slice() {
            [one] => Self::One(one.to_string()),
            several => Self::Several(several.iter().map(ToString::to_string).collect()),
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
    fn rates_are_a_count_a_unit_and_whose_calls() {
        for (text, max, seconds, key, written) in [
            ("3/s", 3, 1, RateKey::User, "3/s"),
            ("10/min user", 10, 60, RateKey::User, "10/min"),
            ("3/h", 3, 3_600, RateKey::User, "3/h"),
            ("1000000/day   project", 1_000_000, 86_400, RateKey::Project, "1000000/day project"),
        ] {
            let rates = Rates::try_from(Written::One(text.to_owned())).unwrap();
            assert_eq!(rates.limits(), [RateLimit { max, per: Duration::from_secs(seconds), key }], "{text}");
            assert_eq!(rates.0.first().unwrap().to_string(), written);
        }
    }

    #[test]
    fn anything_else_is_no_rate() {
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
