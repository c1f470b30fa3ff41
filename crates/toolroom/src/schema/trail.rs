//! The way from the root of a schema to the keyword that refused a value.

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::keyword::{Shape, shape};
use super::reference::percent_decoded;
use super::text;

/// What lies on the way; empty where it leaves the part of the document that can be followed.
#[derive(Default)]
pub(super) struct Trail<'s> {
    /// The schema with the keyword in it.
    pub(super) holder: Option<&'s Map<String, Value>>,
    /// The object schema that the value is a property of.
    pub(super) parent: Option<&'s Map<String, Value>>,
    /// The last `then` or `else` on the way.
    pub(super) branch: Option<&'static str>,
}

/// Follows an evaluation path, through references into the same document.
pub(super) fn follow<'s>(root: &'s Value, draft: Draft, path: &str) -> Trail<'s> {
    let mut trail = Trail::default();
    let mut schema = root;
    let mut steps = text::steps(path);
    while let Value::Object(keywords) = schema {
        let Some(keyword) = steps.next() else { return trail };
        let Some(value) = keywords.get(&keyword) else { return Trail::default() };
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
