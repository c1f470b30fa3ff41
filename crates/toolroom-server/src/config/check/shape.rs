//! The shapes of all values: the JSON Schema of the keys, parsed once.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use toml::de::DeValue;

use crate::config::Config;
use crate::config::narrowing::Stricter;
use crate::config::values::SecretRef;
use crate::config::values::{Span, parse_span};

/// The keys of the file as JSON Schema.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    // Without references every key carries its own description and attributes.
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<Config>().to_value();
    remove_null(&mut schema);
    schema
});

/// The schema as a tree of keys.
static KEYS: LazyLock<Key> = LazyLock::new(|| Key::read(&SCHEMA));

impl Config {
    /// The JSON Schema of the file, for editors and `config schema`.
    #[must_use]
    pub fn schema() -> Value {
        SCHEMA.clone()
    }
}

/// Removes `null` from the schema: TOML has none, absent keys are left out.
fn remove_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(remove_null),
        Value::Object(node) => {
            node.values_mut().for_each(remove_null);
            if node.get("default").is_some_and(Value::is_null) {
                node.remove("default");
            }
            if let Some(Value::Array(types)) = node.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    node.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(mut choices)) = node.remove("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
                match (choices.pop(), choices.is_empty()) {
                    (Some(Value::Object(only)), true) => {
                        for (name, value) in only {
                            node.entry(name).or_insert(value);
                        }
                    }
                    (last, _) => {
                        choices.extend(last);
                        node.insert("anyOf".to_owned(), Value::Array(choices));
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A key with its shape.
#[derive(Debug)]
pub(in crate::config) struct Key {
    pub(in crate::config) shape: Shape,
    pub(in crate::config) description: String,
    pub(in crate::config) default: Option<Value>,
    /// Which values are stricter. Without it only a trusted file may set the key.
    pub(in crate::config) stricter: Option<Stricter>,
}

/// The shape of a value.
#[derive(Debug)]
pub(in crate::config) enum Shape {
    /// A table of these keys.
    Table { keys: Vec<(String, Key)>, required: Vec<String> },
    /// A table whose keys are names.
    Names { each: Box<Key>, most: usize },
    /// A list.
    List { each: Box<Key>, most: usize },
    /// One of these strings.
    Choice(Vec<String>),
    /// Any string.
    Text,
    /// A span in a range.
    Span { least: Span, most: Span },
    /// A rate.
    Rate,
    /// A folder.
    Folder,
    /// A destination in a network.
    Destination,
    /// A command that is allowed.
    Command,
    /// A sandbox profile.
    SandboxProfile,
    /// An address and a port to listen on.
    ListenAddress,
    /// A host name of the server.
    ServedName,
    /// An address, or a range of them.
    AddressRange,
    /// URL of a service.
    ServiceUrl,
    /// A model.
    Model,
    /// Reference to a secret.
    SecretRef,
    /// A whole number in a range.
    Whole { least: i64, most: i64 },
    /// A number with a minimum.
    Amount { least: f64 },
    /// True or false.
    Switch,
    /// One of these shapes.
    Either(Vec<Shape>),
    /// Any TOML value.
    Anything,
}

impl Key {
    /// The whole file.
    pub(in crate::config) fn root() -> &'static Self {
        &KEYS
    }

    fn read(schema: &Value) -> Self {
        let text = |name: &str| schema.get(name).and_then(Value::as_str);
        let description = text("description").unwrap_or_default();
        Self {
            shape: Shape::read(schema),
            description: description.split_whitespace().collect::<Vec<_>>().join(" "),
            default: schema.get("default").cloned(),
            stricter: text("x-stricter").and_then(Stricter::from_name),
        }
    }

    /// The keys of a table.
    pub(in crate::config) fn keys(&self) -> &[(String, Self)] {
        match &self.shape {
            Shape::Table { keys, .. } => keys,
            _ => &[],
        }
    }

    /// The key at a path below.
    pub(in crate::config) fn find<'n>(&self, path: impl IntoIterator<Item = &'n str>) -> Option<&Self> {
        path.into_iter().try_fold(self, |key, step| match &key.shape {
            Shape::Table { keys, .. } => keys.iter().find(|(name, _)| name == step).map(|(_, key)| key),
            Shape::Names { each, .. } => Some(&**each),
            _ => None,
        })
    }

    /// All single values with a fixed path, in the order of the file. These can be set by variables.
    pub(in crate::config) fn settings(&self) -> Vec<(Vec<&str>, &Self)> {
        let mut settings = Vec::new();
        self.collect_settings(&mut Vec::new(), &mut settings);
        settings
    }

    fn collect_settings<'k>(&'k self, path: &mut Vec<&'k str>, settings: &mut Vec<(Vec<&'k str>, &'k Self)>) {
        for (name, key) in self.keys() {
            path.push(name);
            match &key.shape {
                Shape::Table { .. } => key.collect_settings(path, settings),
                Shape::Names { .. } | Shape::Anything => {}
                // Lists of tables are merged separately.
                Shape::List { each, .. } if !each.keys().is_empty() => {}
                _ => settings.push((path.clone(), key)),
            }
            path.pop();
        }
    }
}

impl Shape {
    fn read(schema: &Value) -> Self {
        if let Some(shapes) = schema.get("anyOf").and_then(Value::as_array) {
            return Self::Either(shapes.iter().map(Self::read).collect());
        }
        if let Some(choices) = choices(schema) {
            return Self::Choice(choices);
        }
        let most = |name: &str| {
            let most = schema.get(name).and_then(Value::as_u64);
            most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
        };
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => match schema.get("properties").and_then(Value::as_object) {
                Some(properties) => Self::Table { keys: keys(properties), required: required(schema) },
                None => {
                    Self::Names { each: each(schema, "additionalProperties"), most: most("maxProperties") }
                }
            },
            Some("array") => Self::List { each: each(schema, "items"), most: most("maxItems") },
            Some("string") => match schema.get("format").and_then(Value::as_str) {
                Some("span") => Self::Span {
                    least: span(schema, "x-least").unwrap_or(Span::new(std::time::Duration::ZERO)),
                    most: span(schema, "x-most").unwrap_or(Span::new(std::time::Duration::MAX)),
                },
                Some("rate") => Self::Rate,
                Some("folder") => Self::Folder,
                Some("destination") => Self::Destination,
                Some("command") => Self::Command,
                Some("sandbox-profile") => Self::SandboxProfile,
                Some("listen-address") => Self::ListenAddress,
                Some("served-name") => Self::ServedName,
                Some("address-range") => Self::AddressRange,
                Some("service-url") => Self::ServiceUrl,
                Some("model") => Self::Model,
                Some("key-place") => Self::SecretRef,
                _ => Self::Text,
            },
            Some("integer") => Self::Whole {
                least: schema.get("minimum").and_then(Value::as_i64).unwrap_or(i64::MIN),
                most: schema.get("maximum").and_then(Value::as_i64).unwrap_or(i64::MAX),
            },
            Some("number") => Self::Amount {
                least: schema.get("minimum").and_then(Value::as_f64).unwrap_or(f64::NEG_INFINITY),
            },
            Some("boolean") => Self::Switch,
            _ => Self::Anything,
        }
    }

    /// Whether a value has the right type, regardless of its content.
    pub(in crate::config) fn admits(&self, value: &DeValue<'_>) -> bool {
        match self {
            Self::Table { .. } | Self::Names { .. } => value.is_table(),
            Self::List { .. } => value.is_array(),
            Self::Choice(_)
            | Self::Text
            | Self::Span { .. }
            | Self::Rate
            | Self::Folder
            | Self::Destination
            | Self::Command
            | Self::SandboxProfile
            | Self::ListenAddress
            | Self::ServedName
            | Self::AddressRange
            | Self::ServiceUrl
            | Self::Model
            | Self::SecretRef => value.is_str(),
            Self::Whole { .. } => value.is_integer(),
            Self::Amount { .. } => value.is_integer() || value.is_float(),
            Self::Switch => value.is_bool(),
            Self::Either(shapes) => shapes.iter().any(|shape| shape.admits(value)),
            Self::Anything => true,
        }
    }

    /// What is expected: `a whole number from 1 to 10000`.
    pub(in crate::config) fn expected(&self) -> String {
        match self {
            Self::Table { .. } | Self::Names { .. } => "a table".to_owned(),
            Self::List { each, .. } => format!("a list of {}", each.shape.several()),
            Self::Choice(choices) => match choices.as_slice() {
                [only] => format!("\"{only}\""),
                _ => format!("one of {}", quoted(choices)),
            },
            Self::Text => "text".to_owned(),
            Self::Span { least, most } => format!("a span such as \"30s\", from {least} to {most}"),
            Self::Rate => "a rate such as \"3/h\" or \"20/day project\"".to_owned(),
            Self::Folder => "a folder such as \"/srv/data\" or \"~/notes\"".to_owned(),
            Self::Destination => "a destination such as \"printer.lan\" or \"10.1.2.3:8080\"".to_owned(),
            Self::Command => "a command such as \"git log *\"".to_owned(),
            Self::SandboxProfile => "a profile such as \"workspace\" or \"network:example.com\"".to_owned(),
            Self::ListenAddress => "an address and a port such as \"127.0.0.1:7300\"".to_owned(),
            Self::ServedName => "a name such as \"tools.example.com\"".to_owned(),
            Self::AddressRange => "an address or a range such as \"10.0.0.0/8\"".to_owned(),
            Self::ServiceUrl => "a URL such as \"http://127.0.0.1:4318\"".to_owned(),
            Self::Model => "a model such as \"openai/gpt-5.6-terra\"".to_owned(),
            Self::SecretRef => SecretRef::EXPECTED.to_owned(),
            Self::Whole { least: i64::MIN, most: i64::MAX } => "a whole number".to_owned(),
            Self::Whole { least, most } => format!("a whole number from {least} to {most}"),
            Self::Amount { least } => format!("a number, {least} or more"),
            Self::Switch => "true or false".to_owned(),
            Self::Either(shapes) => shapes.iter().map(Self::expected).collect::<Vec<_>>().join(", or "),
            Self::Anything => "any value".to_owned(),
        }
    }

    fn several(&self) -> String {
        match self {
            Self::Table { .. } | Self::Names { .. } => "tables".to_owned(),
            Self::List { .. } => "lists".to_owned(),
            Self::Choice(choices) => quoted(choices),
            Self::Text => "texts".to_owned(),
            Self::Span { .. } => "spans".to_owned(),
            Self::Rate => "rates".to_owned(),
            Self::Folder => "folders".to_owned(),
            Self::Destination => "destinations".to_owned(),
            Self::Command => "commands".to_owned(),
            Self::SandboxProfile => "profiles".to_owned(),
            Self::ListenAddress => "addresses".to_owned(),
            Self::ServedName => "host names".to_owned(),
            Self::AddressRange => "addresses and ranges".to_owned(),
            Self::ServiceUrl => "service URLs".to_owned(),
            Self::Model => "models".to_owned(),
            Self::SecretRef => "secret references".to_owned(),
            Self::Whole { .. } => "whole numbers".to_owned(),
            Self::Amount { .. } => "numbers".to_owned(),
            Self::Switch | Self::Either(_) | Self::Anything => "values".to_owned(),
        }
    }
}

fn quoted(texts: &[String]) -> String {
    texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>().join(", ")
}

fn keys(properties: &Map<String, Value>) -> Vec<(String, Key)> {
    properties.iter().map(|(name, schema)| (name.clone(), Key::read(schema))).collect()
}

fn required(schema: &Value) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn each(schema: &Value, keyword: &str) -> Box<Key> {
    Box::new(Key::read(schema.get(keyword).unwrap_or(&Value::Bool(true))))
}

fn span(schema: &Value, keyword: &str) -> Option<Span> {
    parse_span(schema.get(keyword)?.as_str()?).ok().map(Span::new)
}

/// The strings of an enumeration, given as `enum` or as constants.
fn choices(schema: &Value) -> Option<Vec<String>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(text).collect();
    }
    let constants = schema.get("oneOf").and_then(Value::as_array)?;
    constants.iter().map(|constant| text(constant.get("const")?)).collect()
}
