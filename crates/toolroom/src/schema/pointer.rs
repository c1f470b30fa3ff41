//! JSON pointers, and the keywords, schemas and references on their way through a schema.

use std::borrow::Cow;

use jsonschema::Draft;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::keyword::{Shape, shape};

/// Appends one step to a JSON pointer.
pub(super) fn push_step(pointer: &mut String, step: &str) {
    pointer.push('/');
    for character in step.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The steps of a JSON pointer, unescaped.
pub(super) fn steps(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
}

/// Decodes `%41` and the like; `None` if the result is no UTF-8.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(Cow::into_owned)
}

/// What a JSON pointer into a schema leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointerTarget {
    /// A schema.
    Schema,
    /// A value below a keyword that this draft does not know; a reference may make it a schema.
    Unknown,
    /// A value that cannot be a schema: in a `const`, or a map of schemas.
    NoSchema,
}

/// A keyword on the way of a JSON pointer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PassedKeyword {
    /// Pointer of the schema that holds the keyword.
    pub(super) holder: String,
    pub(super) keyword: String,
}

/// Follows a JSON pointer through schemas.
pub(super) fn read_pointer(pointer: &str, draft: Draft) -> (Vec<PassedKeyword>, PointerTarget) {
    enum At {
        Schema,
        /// `items` before 2020-12: an index may follow, or a keyword.
        SchemaOrList,
        Container,
        Unknown,
        NoSchema,
    }
    let mut passed = Vec::new();
    let mut at = At::Schema;
    let mut walked = String::new();
    for step in steps(pointer) {
        at = match at {
            At::SchemaOrList if step.parse::<usize>().is_ok() => At::Schema,
            At::Container => At::Schema,
            At::Unknown => At::Unknown,
            At::NoSchema => At::NoSchema,
            At::Schema | At::SchemaOrList => {
                let next = match shape(&step, draft) {
                    Shape::Schema => At::Schema,
                    Shape::SchemaOrList => At::SchemaOrList,
                    Shape::SchemaMap | Shape::SchemaList | Shape::PatternMap | Shape::Dependencies => {
                        At::Container
                    }
                    Shape::Unknown | Shape::Rare => At::Unknown,
                    _ => At::NoSchema,
                };
                passed.push(PassedKeyword { holder: walked.clone(), keyword: step.clone() });
                next
            }
        };
        push_step(&mut walked, &step);
    }
    let position = match at {
        At::Schema | At::SchemaOrList => PointerTarget::Schema,
        At::Unknown => PointerTarget::Unknown,
        At::Container | At::NoSchema => PointerTarget::NoSchema,
    };
    (passed, position)
}

/// The schemas on the way to the keyword that rejected a value; empty if the path cannot be followed.
#[derive(Default)]
pub(super) struct SchemaTrail<'s> {
    /// The schema with the keyword in it.
    pub(super) holder: Option<&'s Map<String, Value>>,
    /// The object schema that the value is a property of.
    pub(super) parent: Option<&'s Map<String, Value>>,
    /// The last `then` or `else` on the way.
    pub(super) branch: Option<&'static str>,
}

/// Follows an evaluation path, through references into the same document.
pub(super) fn follow<'s>(root: &'s Value, draft: Draft, path: &str) -> SchemaTrail<'s> {
    let mut trail = SchemaTrail::default();
    let mut schema = root;
    let mut steps = steps(path);
    while let Value::Object(keywords) = schema {
        let Some(keyword) = steps.next() else { return trail };
        let Some(value) = keywords.get(&keyword) else { return SchemaTrail::default() };
        let next = match shape(&keyword, draft) {
            Shape::Schema => Some(value),
            Shape::SchemaMap | Shape::PatternMap | Shape::Dependencies | Shape::SchemaList => {
                steps.next().and_then(|step| entry(value, &step))
            }
            Shape::SchemaOrList if value.is_object() => Some(value),
            Shape::SchemaOrList => steps.next().and_then(|step| entry(value, &step)),
            Shape::Reference => value.as_str().and_then(|reference| local(root, reference)),
            _ => None,
        };
        trail.holder = Some(keywords);
        match keyword.as_str() {
            "properties" => trail.parent = Some(keywords),
            "then" => trail.branch = Some("then"),
            "else" => trail.branch = Some("else"),
            "items" | "prefixItems" | "additionalProperties" | "patternProperties" | "contains" => {
                trail.parent = None;
            }
            _ => {}
        }
        let Some(next) = next else { return trail };
        schema = next;
    }
    trail
}

fn entry<'s>(value: &'s Value, step: &str) -> Option<&'s Value> {
    match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    }
}

fn local<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    root.pointer(&percent_decoded(reference.strip_prefix('#')?)?)
}
