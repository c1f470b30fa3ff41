//! Parameters of messages. `_meta` is parsed separately: most of it is ignored.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Parameters. The most common fields are separate.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Params {
    /// The tool or prompt, and its arguments.
    pub(crate) name: Option<Value>,
    pub(crate) arguments: Option<Value>,
    /// All other fields.
    pub(crate) others: Map<String, Value>,
    /// The used fields of `_meta`.
    pub(crate) meta: Meta,
}

/// The used fields of `_meta`, unchecked.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Meta {
    pub(crate) version: Option<Value>,
    pub(crate) capabilities: Option<Value>,
    pub(crate) level: Option<Value>,
    /// The progress token.
    pub(crate) progress_token: Option<Value>,
    /// W3C trace context.
    pub(crate) traceparent: Option<Value>,
}

/// Keys of `_meta` in each modern request.
pub(in crate::mcp) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(in crate::mcp) const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// A field that should be an object.
#[derive(Debug, Default)]
pub(in crate::mcp) enum Expected<T> {
    #[default]
    Missing,
    Object(T),
    Invalid,
}

/// An object that is parsed entry by entry.
trait ParseEntries: Default {
    /// Parses the value of an entry.
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, entries: &mut A) -> Result<(), A::Error>;
}

/// The key of an entry, borrowed from the message if possible.
#[derive(Deserialize)]
struct EntryKey<'a>(#[serde(borrow)] Cow<'a, str>);

/// Boxed from the start: it is large and moved often.
impl ParseEntries for Box<Params> {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, entries: &mut A) -> Result<(), A::Error> {
        match key.as_ref() {
            "name" => self.name = Some(entries.next_value()?),
            "arguments" => self.arguments = Some(entries.next_value()?),
            "_meta" => {
                self.meta = match entries.next_value()? {
                    Expected::Object(meta) => meta,
                    Expected::Missing | Expected::Invalid => Meta::default(),
                };
            }
            _ => drop(self.others.insert(key.into_owned(), entries.next_value()?)),
        }
        Ok(())
    }
}

impl ParseEntries for Meta {
    fn entry<'de, A: MapAccess<'de>>(&mut self, key: Cow<'de, str>, entries: &mut A) -> Result<(), A::Error> {
        let field = match key.as_ref() {
            VERSION => &mut self.version,
            CAPABILITIES => &mut self.capabilities,
            LEVEL => &mut self.level,
            "progressToken" => &mut self.progress_token,
            "traceparent" => &mut self.traceparent,
            _ => return entries.next_value::<IgnoredAny>().map(drop),
        };
        *field = Some(entries.next_value()?);
        Ok(())
    }
}

impl<'de, T: ParseEntries> Deserialize<'de> for Expected<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExpectedVisitor(PhantomData))
    }
}

struct ExpectedVisitor<T>(PhantomData<T>);

impl<'de, T: ParseEntries> Visitor<'de> for ExpectedVisitor<T> {
    type Value = Expected<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Expected<T>, A::Error> {
        let mut object = T::default();
        while let Some(EntryKey(key)) = entries.next_key()? {
            object.entry(key, &mut entries)?;
        }
        Ok(Expected::Object(object))
    }

    fn visit_unit<E: Error>(self) -> Result<Expected<T>, E> {
        Ok(Expected::Missing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Expected<T>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Expected::Invalid)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Expected<T>, E> {
        Ok(Expected::Invalid)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Expected<T>, E> {
        Ok(Expected::Invalid)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Expected<T>, E> {
        Ok(Expected::Invalid)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Expected<T>, E> {
        Ok(Expected::Invalid)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Expected<T>, E> {
        Ok(Expected::Invalid)
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
    fn meta_is_parsed_separately() {
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
    fn a_field_that_is_no_object_is_skipped() {
        for strange in [json!([1, {"a": [2]}]), json!(true), json!(-1), json!(1), json!(1.5), json!("a\"b")] {
            assert!(matches!(read(&strange), Expected::Invalid), "{strange}");
            let Expected::Object(params) = read(&json!({"_meta": strange, "a": 1})) else {
                panic!("an object")
            };
            assert_eq!(params.meta, Meta::default(), "{strange}");
            assert_eq!(params.others.len(), 1);
        }
        assert!(matches!(read(&Value::Null), Expected::Missing));
    }
}
