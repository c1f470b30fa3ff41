//! Variables of expressions and their values.

use std::fmt;

use serde_json::{Map, Number as JsonNumber, Value as Json};

/// The result of an expression.
///
/// `==` here compares kind and content; the `==` of the language also holds `1` and `1.0` equal.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, also what a missing key reads as.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number of 64 bits.
    Int(i64),
    /// A finite number; the evaluator never yields NaN or an infinity.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A JSON object; expressions pass objects on but never build one, so it stays JSON.
    Map(Map<String, Json>),
}

impl Value {
    /// The kind of this value, as `type(x)` names it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Int(_) => Kind::Int,
            Self::Float(_) => Kind::Float,
            Self::Text(_) => Kind::Text,
            Self::List(_) => Kind::List,
            Self::Map(_) => Kind::Map,
        }
    }
}

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "described at the variants of `Value`")]
pub enum Kind {
    Null,
    Bool,
    Int,
    Float,
    Text,
    List,
    Map,
}

impl Kind {
    /// The name the language uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Float => "float",
            Self::Text => "text",
            Self::List => "list",
            Self::Map => "map",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Texts as they are, everything else as JSON writes it: `3`, `3.0`, `true`, `[1,"a"]`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::Int(int) => write!(f, "{int}"),
            // The debug form keeps `3.0` apart from `3` and writes `1e300` instead of 301 digits.
            Self::Float(float) => write!(f, "{float:?}"),
            Self::Text(text) => f.write_str(text),
            Self::List(_) | Self::Map(_) => write!(f, "{}", Json::from(self.clone())),
        }
    }
}

/// A JSON integer beyond 64 signed bits becomes the nearest float.
impl From<&Json> for Value {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(truth) => Self::Bool(*truth),
            Json::Number(number) => match number.as_i64() {
                Some(int) => Self::Int(int),
                None => number.as_f64().map_or(Self::Null, Self::Float),
            },
            Json::String(text) => Self::Text(text.clone()),
            Json::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Json::Object(map) => Self::Map(map.clone()),
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(truth) => Self::Bool(truth),
            Value::Int(int) => Self::from(int),
            Value::Float(float) => JsonNumber::from_f64(float).map_or(Self::Null, Self::Number),
            Value::Text(text) => Self::String(text),
            Value::List(items) => Self::Array(items.into_iter().map(Self::from).collect()),
            Value::Map(map) => Self::Object(map),
        }
    }
}

/// A simple value, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A text.
    Text(&'a str),
}

impl<'a> From<Option<&'a str>> for Scalar<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Null, Self::Text)
    }
}

impl From<Scalar<'_>> for Json {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(truth) => Self::Bool(truth),
            Scalar::Text(text) => Self::String(text.to_owned()),
        }
    }
}

/// The root names an expression may use; the evaluator walks the rest of a path such as `args.user.name`.
pub trait Variables {
    /// The value of a root name; `None` when there is no such name.
    fn get(&self, name: &str) -> Option<&Json>;

    /// The object of a root name that [`Variables::get`] does not have: for implementations that hold a map and would have
    /// to copy it into JSON.
    fn object(&self, name: &str) -> Option<&Map<String, Json>> {
        let _ = name;
        None
    }

    /// The value under a key of a root name, for implementations that know it without building the whole object. Must agree
    /// with the whole; `None` to read the whole instead.
    fn member(&self, name: &str, key: &str) -> Option<Scalar<'_>> {
        let _ = (name, key);
        None
    }

    /// All root names, for the suggestion in the message about an unknown one.
    fn names(&self) -> Vec<&str>;
}

/// No names at all, as for a plain calculation.
impl Variables for () {
    fn get(&self, _name: &str) -> Option<&Json> {
        None
    }

    fn names(&self) -> Vec<&str> {
        Vec::new()
    }
}

impl Variables for Map<String, Json> {
    fn get(&self, name: &str) -> Option<&Json> {
        self.get(name)
    }

    fn names(&self) -> Vec<&str> {
        self.keys().map(String::as_str).collect()
    }
}

/// The keys of an object; any other JSON has no names.
impl Variables for Json {
    fn get(&self, name: &str) -> Option<&Json> {
        self.as_object()?.get(name)
    }

    fn names(&self) -> Vec<&str> {
        self.as_object().map(Variables::names).unwrap_or_default()
    }
}
