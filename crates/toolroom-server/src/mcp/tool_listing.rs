//! `tools/list`.

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
use crate::mcp::protocol::Era;
use crate::mcp::tool_names::name_of;

/// Projects whose lists are cached.
const MAX_PROJECTS: usize = 256;

/// Schema keyword for HTTP headers, which the server does not use.
const HEADER_MARK: &str = "x-mcp-header";

/// The tools of a project at one time.
#[derive(Debug)]
pub(super) struct ToolListing {
    /// Revision of the switches, and generation of the catalog.
    version: (i64, u64),
    modern: String,
    legacy: String,
}

impl ToolListing {
    /// Whether both list the same tools.
    pub(super) fn is_same(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self, other) || self.modern == other.modern
    }

    /// The JSON text of the list.
    pub(super) fn text(&self, era: Era) -> &str {
        if era.is_modern() { &self.modern } else { &self.legacy }
    }
}

/// Cached lists.
#[derive(Debug, Default)]
pub(super) struct ToolListings(Mutex<HashMap<ProjectId, Arc<ToolListing>>>);

impl ToolListings {
    /// The enabled tools of a project by id; of each family the one that is offered.
    pub(super) async fn get(
        &self,
        room: &Toolroom,
        project: &ProjectId,
    ) -> Result<Arc<ToolListing>, LedgerError> {
        let standing = room.switchboard().standing(project).await?;
        let catalog = room.catalog();
        let version = (standing.revision, catalog.generation());
        let cached = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = cached().get(project).filter(|listed| listed.version == version) {
            return Ok(Arc::clone(listed));
        }
        let all = ToolChoice::default();
        let offer = catalog.offer(project, &standing.switches, &Map::new(), Audience::Full, &all);
        let list =
            |era| Value::Array(offer.tools.iter().map(|entry| described(entry, era)).collect()).to_string();
        let modern = list(Era::Modern);
        let legacy = list(Era::Legacy(crate::mcp::protocol::Version::agreed("")));
        let listed = Arc::new(ToolListing { version, modern, legacy });
        let mut cached = cached();
        if cached.len() >= MAX_PROJECTS {
            cached.clear();
        }
        cached.insert(project.clone(), Arc::clone(&listed));
        Ok(listed)
    }
}

/// The output schema, if clients of the era support it: earlier ones support objects only.
fn output(spec: &ToolSpec, era: Era) -> Option<&Value> {
    let schema = spec.output.as_ref()?;
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    (era.is_modern() || is_object).then_some(schema)
}

/// What `tools/list` says about the results of a tool.
pub(super) fn output_contract(entry: &Entry, era: Era) -> OutputContract {
    match output(entry.spec(), era) {
        Some(_) => OutputContract::Schema,
        None => OutputContract::None,
    }
}

/// An entry of `tools/list`.
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

/// Removes `null` from the types of optional arguments of built-in tools: not every client supports it.
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

/// Keywords with a schema, a list of schemas, or schemas by name.
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

/// Removes the keyword for headers from a schema and its subschemas, but not from property names, defaults or examples.
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
    fn optional_arguments_are_listed_without_null() {
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
    fn the_keyword_for_headers_is_removed_from_schemas_only() {
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
