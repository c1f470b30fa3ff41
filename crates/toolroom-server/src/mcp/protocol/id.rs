//! Request ids.

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};

/// A request id.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Id {
    Number(Number),
    Text(String),
}

impl Id {
    /// Writes it unchanged.
    pub(in crate::mcp) fn write(&self, text: &mut String) {
        match self {
            Self::Number(number) => text.push_str(&number.to_string()),
            Self::Text(name) => text.push_str(&Value::from(name.as_str()).to_string()),
        }
    }
}

/// The value of the field `id`.
#[derive(Default)]
pub(in crate::mcp) enum RawId {
    #[default]
    Missing,
    Id(Id),
    /// Neither a string nor an integer.
    Invalid,
}

impl<'de> Deserialize<'de> for RawId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawIdReader)
    }
}

struct RawIdReader;

impl<'de> Visitor<'de> for RawIdReader {
    type Value = RawId;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<RawId, E> {
        Ok(RawId::Id(Id::Number(number.into())))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<RawId, E> {
        Ok(RawId::Id(Id::Number(number.into())))
    }

    /// A fraction, or too many digits: it could not be returned unchanged.
    fn visit_f64<E: Error>(self, _: f64) -> Result<RawId, E> {
        Ok(RawId::Invalid)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RawId, E> {
        Ok(RawId::Id(Id::Text(text.to_owned())))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<RawId, E> {
        Ok(RawId::Invalid)
    }

    fn visit_unit<E: Error>(self) -> Result<RawId, E> {
        Ok(RawId::Invalid)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawId, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(RawId::Invalid)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RawId, A::Error> {
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(RawId::Invalid)
    }
}
