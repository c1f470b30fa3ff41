//! The tools that a client is offered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use toolroom::Toolroom;
use toolroom::catalog::{Audience, Entry};
use toolroom::ledger::LedgerError;
use toolroom::policy::ToolChoice;
use toolroom::scope::ProjectId;
use toolroom::tool::{Capability, Effect, ToolSpec};

use crate::mcp::calls::content::OutputContract;
use crate::mcp::protocol::version::Era;
use crate::mcp::tool_names::name_of;

/// Projects whose lists are kept.
const MOST: usize = 256;

/// A schema may say how parameters are copied into headers. Ours are read from the body alone.
const HEADER_MARK: &str = "x-mcp-header";

/// The tools of a project as they were at one time.
#[derive(Debug)]
pub(super) struct ToolListing {
    /// What people had set, and which tools there were.
    seen: (i64, u64),
    modern: String,
    legacy: String,
}

impl ToolListing {
    /// Whether both say the same.
    pub(super) fn is_same(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other) || self.modern == other.modern
    }

    /// The text of a list of tools.
    pub(super) fn text(&self, era: Era) -> &str {
        if era.is_modern() { &self.modern } else { &self.legacy }
    }
}

/// Lists that were made, until something changes.
#[derive(Debug, Default)]
pub(super) struct ToolListings(Mutex<HashMap<ProjectId, Arc<ToolListing>>>);

impl ToolListings {
    /// The tools of a project: all that are on, of each family the one that is offered, by id.
    pub(super) async fn of(
        &self,
        room: &Toolroom,
        project: &ProjectId,
    ) -> Result<Arc<ToolListing>, LedgerError> {
        let standing = room.switchboard().standing(project).await?;
        let catalog = room.catalog();
        let seen = (standing.revision, catalog.generation());
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = kept().get(project).filter(|listed| listed.seen == seen) {
            return Ok(Arc::clone(listed));
        }
        let all = ToolChoice::default();
        let offer = catalog.offer(project, &standing.switches, &Map::new(), Audience::Full, &all);
        let list =
            |era| Value::Array(offer.tools.iter().map(|entry| described(entry, era)).collect()).to_string();
        let modern = list(Era::Modern);
        let legacy = list(Era::Legacy(crate::mcp::protocol::version::Version::agreed("")));
        let listed = Arc::new(ToolListing { seen, modern, legacy });
        let mut kept = kept();
        if kept.len() >= MOST {
            kept.clear();
        }
        kept.insert(project.clone(), Arc::clone(&listed));
        Ok(listed)
    }
}

/// The schema of a tool's results, as far as clients of the era can use it: earlier ones know objects alone.
fn output(spec: &ToolSpec, era: Era) -> Option<&Value> {
    let schema = spec.output.as_ref()?;
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    (era.is_modern() || is_object).then_some(schema)
}

/// What clients were told about the results of a tool.
pub(super) fn promise(entry: &Entry, era: Era) -> OutputContract {
    match output(entry.spec(), era) {
        Some(_) => OutputContract::Schema,
        None => OutputContract::None,
    }
}

/// A tool as clients are told about it.
fn described(entry: &Entry, era: Era) -> Value {
    let spec = entry.spec();
    let mut input = spec.parameters.as_ref().clone();
    without_headers(&mut input);
    if !spec.is_foreign() {
        portable(&mut input);
    }
    let effect = spec.effective_effect();
    let able = spec.effective_capabilities();
    let mut tool = json!({
        "name": name_of(&spec.id),
        "title": spec.title,
        "description": spec.description,
        "inputSchema": input,
        "annotations": {
            "title": spec.title,
            "readOnlyHint": !effect.writes(),
            "destructiveHint": effect == Effect::Destructive,
            "idempotentHint": effect.may_repeat(),
            "openWorldHint": able.has(Capability::Egress) || able.has(Capability::ReadsUntrusted),
        },
        "_meta": {"toolroom/id": spec.id, "toolroom/risk": spec.risk},
    });
    if let (Some(output), Some(fields)) = (output(spec, era), tool.as_object_mut()) {
        fields.insert("outputSchema".to_owned(), output.clone());
    }
    tool
}

/// An argument of ours that may be left out may also be nothing. Not every client can write that down, and nobody has to
/// know.
fn portable(schema: &mut Value) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|names| names.iter().any(|known| known == name));
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (name, property) in properties.into_iter().flatten() {
        let Some(kind) = property.get_mut("type").filter(|_| !is_required(name)) else { continue };
        if let Some([only]) = kind
            .as_array()
            .map(|kinds| kinds.iter().filter(|kind| *kind != "null").cloned().collect::<Vec<_>>())
            .as_deref()
        {
            *kind = only.clone();
        }
    }
}

/// Where a schema holds others: one, several, or several by name.
const ONE: [&str; 11] = [
    "items",
    "contains",
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];
const SEVERAL: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const NAMED: [&str; 5] = ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];

/// Takes out the marks of a schema and of those within it. What is no schema may have a name or a value like that.
fn without_headers(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    fields.shift_remove(HEADER_MARK);
    for (name, value) in fields {
        let name = name.as_str();
        if ONE.contains(&name) && value.is_object() {
            without_headers(value);
        } else if SEVERAL.contains(&name) {
            value.as_array_mut().into_iter().flatten().for_each(without_headers);
        } else if NAMED.contains(&name) {
            value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(without_headers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_left_out_is_told_without_its_nothing() {
        let mut schema = json!({"properties": {
            "a": {"type": ["string", "null"], "minLength": 1},
            "b": {"type": ["string", "null"]},
            "c": {"type": ["string", "integer", "null"]},
            "d": {"type": "string"},
            "e": {},
        }, "required": ["b"]});
        portable(&mut schema);
        let kinds = json!(["string", ["string", "null"], ["string", "integer", "null"], "string", null]);
        let told: Vec<&Value> = schema["properties"]
            .as_object()
            .unwrap()
            .values()
            .map(|field| field.get("type").unwrap_or(&Value::Null))
            .collect();
        assert_eq!(json!(told), kinds);
    }

    #[test]
    fn headers_are_not_promised() {
        let mut schema =
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"}}, "x-mcp-header": 1});
        without_headers(&mut schema);
        assert_eq!(schema, json!({"properties": {"a": {"type": "string"}}}));
        let mut deep =
            json!({"anyOf": [{"items": {"x-mcp-header": "A"}}], "$defs": {"a": {"x-mcp-header": "A"}}});
        without_headers(&mut deep);
        assert_eq!(deep, json!({"anyOf": [{"items": {}}], "$defs": {"a": {}}}));
        let mut named = json!({
            "properties": {"x-mcp-header": {"type": "string", "default": {"x-mcp-header": 1}}},
            "required": ["x-mcp-header"], "const": {"x-mcp-header": 1}, "examples": [{"x-mcp-header": 1}],
        });
        let before = named.clone();
        without_headers(&mut named);
        assert_eq!(named, before);
    }
}
