//! What a message comes with. What it says beside what it wants (`_meta`) is read apart: most of that concerns nobody here.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// What a message wants something with. What nearly every request names has a place of its own.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Params {
    /// The tool or prompt that it names, and what for.
    pub(crate) name: Option<Value>,
    pub(crate) arguments: Option<Value>,
    /// What else it is wanted with.
    pub(crate) others: Map<String, Value>,
    /// What it says of itself.
    pub(crate) meta: Meta,
}

/// What a request says of itself and of who makes it, as it stands there.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Meta {
    pub(crate) version: Option<Value>,
    pub(crate) capabilities: Option<Value>,
    pub(crate) level: Option<Value>,
    /// What signs of life are to be known by.
    pub(crate) progress_token: Option<Value>,
    /// The trace it is part of.
    pub(crate) traceparent: Option<Value>,
}

/// What a client of the later era says of itself in each request.
pub(in crate::mcp) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(in crate::mcp) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What ought to be an object.
#[derive(Debug, Default)]
pub(in crate::mcp) enum Expected<T> {
    #[default]
    Nothing,
    Object(T),
    SomethingElse,
}

/// An object, read entry by entry.
trait Entries: Default {
    /// Takes the value of an entry.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, entries: &mut A) -> Result<(), A::Error>;
}

/// The name of an entry, taken from the message where it can be.
#[derive(Deserialize)]
struct EntryKey<'a>(#[serde(borrow)] Cow<'a, str>);

/// In a box from the first entry on: it is large, and handed on a long way.
impl Entries for Box<Params> {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, entries: &mut A) -> Result<(), A::Error> {
        match key.as_ref() {
            "name" => self.name = Some(entries.next_value()?),
            "arguments" => self.arguments = Some(entries.next_value()?),
            "_meta" => {
                self.meta = match entries.next_value()? {
                    Expected::Object(meta) => meta,
                    Expected::Nothing | Expected::SomethingElse => Meta::default(),
                };
            }
            _ => drop(self.others.insert(key.into_owned(), entries.next_value()?)),
        }
        Ok(())
    }
}

impl Entries for Meta {
    fn take<'de, A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, entries: &mut A) -> Result<(), A::Error> {
        let place = match key.as_ref() {
            VERSION => &mut self.version,
            CAPABILITIES => &mut self.capabilities,
            LEVEL => &mut self.level,
            "progressToken" => &mut self.progress_token,
            "traceparent" => &mut self.traceparent,
            _ => return entries.next_value::<IgnoredAny>().map(drop),
        };
        *place = Some(entries.next_value()?);
        Ok(())
    }
}

impl<'de, T: Entries> Deserialize<'de> for Expected<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Entries> Visitor<'de> for Reader<T> {
    type Value = Expected<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Expected<T>, A::Error> {
        let mut object = T::default();
        while let Some(EntryKey(key)) = entries.next_key()? {
            object.take(key, &mut entries)?;
        }
        Ok(Expected::Object(object))
    }

    fn visit_unit<E: Error>(self) -> Result<Expected<T>, E> {
        Ok(Expected::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Expected<T>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Expected::SomethingElse)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Expected<T>, E> {
        Ok(Expected::SomethingElse)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Expected<T>, E> {
        Ok(Expected::SomethingElse)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Expected<T>, E> {
        Ok(Expected::SomethingElse)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Expected<T>, E> {
        Ok(Expected::SomethingElse)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Expected<T>, E> {
        Ok(Expected::SomethingElse)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: &Value) -> Expected<Box<Params>> {
        serde_json::from_str(&value.to_string()).unwrap()
    }

    #[test]
    fn what_a_request_says_of_itself_stands_apart() {
        let said = json!({"name": "echo", "cursor": null, "_meta": {
            VERSION: "2026-07-28", CAPABILITIES: {"roots": {}}, "other": [{"deep": null}], "progressToken": 7,
            LEVEL: "info", "traceparent": "00-a-b-01",
        }, "arguments": {"_meta": 1}});
        let Expected::Object(params) = read(&said) else { panic!("an object") };
        let Params { name, arguments, others, meta } = *params;
        assert_eq!((name, arguments), (Some(json!("echo")), Some(json!({"_meta": 1}))));
        assert_eq!(Value::Object(others), json!({"cursor": null}));
        let expected = Meta {
            version: Some(json!("2026-07-28")),
            capabilities: Some(json!({"roots": {}})),
            level: Some(json!("info")),
            progress_token: Some(json!(7)),
            traceparent: Some(json!("00-a-b-01")),
        };
        assert_eq!(meta, expected);
    }

    #[test]
    fn what_is_no_object_is_read_over() {
        for strange in [json!([1, {"a": [2]}]), json!(true), json!(-1), json!(1), json!(1.5), json!("a\"b")] {
            assert!(matches!(read(&strange), Expected::SomethingElse), "{strange}");
            let Expected::Object(params) = read(&json!({"_meta": strange, "a": 1})) else {
                panic!("an object")
            };
            assert_eq!(params.meta, Meta::default(), "{strange}");
            assert_eq!(params.others.len(), 1);
        }
        assert!(matches!(read(&Value::Null), Expected::Nothing));
    }
}
