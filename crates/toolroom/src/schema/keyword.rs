//! The draft of a schema, and the shape of each keyword's value in it.
//!
//! Drafts 4 and 6 share the column of draft 7; where they differ, compiling decides (see `wellformed`).

use jsonschema::Draft;
use serde_json::Value;

use super::error::SchemaError;
use super::text;

/// The draft that `$schema` of the root names; without it 2020-12.
pub(super) fn draft_of_root(schema: &Value) -> Result<Draft, SchemaError> {
    draft_named(schema, Draft::Draft202012, || "/$schema".to_owned())
}

/// The draft that `schema` names, or the one around it.
pub(super) fn draft_named(
    schema: &Value,
    around: Draft,
    pointer: impl FnOnce() -> String,
) -> Result<Draft, SchemaError> {
    let Some(uri) = schema.get("$schema").and_then(Value::as_str) else { return Ok(around) };
    match Draft::from_schema_uri(uri) {
        draft @ (Draft::Draft4 | Draft::Draft6 | Draft::Draft7 | Draft::Draft201909 | Draft::Draft202012) => {
            Ok(draft)
        }
        _ => Err(SchemaError::UnknownDraft { pointer: pointer(), uri: text::shortened(uri) }),
    }
}

/// The shape of a keyword's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Schema,
    SchemaMap,
    /// At least one schema in a list.
    SchemaList,
    /// `items` before 2020-12.
    SchemaOrList,
    /// `dependencies`: each a schema or a list of names.
    Dependencies,
    TextListMap,
    NonNegativeInteger,
    Number,
    PositiveNumber,
    Boolean,
    Text,
    /// Texts without repetition.
    TextList,
    /// One type name, or a list of different ones.
    Types,
    /// Any list of data.
    DataList,
    /// Any data.
    Data,
    Pattern,
    /// Schemas by pattern.
    PatternMap,
    Reference,
    /// `$dynamicRef`, `$recursiveRef`.
    DynamicReference,
    Identifier,
    Anchor,
    /// `$schema`.
    Dialect,
    /// Valid but rare; checked by the compiler.
    Rare,
    /// Not a keyword of this draft.
    Unknown,
}

impl Shape {
    /// Allowed values, for error messages.
    pub(super) fn allowed(self) -> &'static str {
        match self {
            Self::Schema => "a schema: an object or a boolean",
            Self::SchemaMap | Self::PatternMap => "an object of schemas",
            Self::SchemaList => "an array of at least one schema",
            Self::SchemaOrList => "a schema, or an array of at least one",
            Self::Dependencies => "an object of schemas or arrays of names",
            Self::TextListMap => "an object of arrays of different texts",
            Self::NonNegativeInteger => "a whole number from 0 on",
            Self::Number => "a number",
            Self::PositiveNumber => "a number above 0",
            Self::Boolean => "a boolean",
            Self::TextList => "an array of different texts",
            Self::Types => {
                "one of `string`, `number`, `integer`, `boolean`, `object`, `array`, `null`, or an array of different ones"
            }
            Self::DataList => "an array",
            Self::Text
            | Self::Pattern
            | Self::Reference
            | Self::DynamicReference
            | Self::Identifier
            | Self::Anchor
            | Self::Dialect => "a text",
            Self::Data | Self::Rare | Self::Unknown => "any value",
        }
    }
}

/// The shape of `keyword` in `draft`; the common ones come first, because a match is tried in order.
pub(super) fn shape(keyword: &str, draft: Draft) -> Shape {
    match keyword {
        "type" => Shape::Types,
        "description" | "title" | "format" => Shape::Text,
        "properties" | "definitions" => Shape::SchemaMap,
        "required" => Shape::TextList,
        "enum" | "examples" => Shape::DataList,
        "default" | "const" => Shape::Data,
        "items" if draft == Draft::Draft202012 => Shape::Schema,
        "items" => Shape::SchemaOrList,
        "additionalProperties" | "contains" | "propertyNames" | "not" | "if" | "then" | "else" => {
            Shape::Schema
        }
        "anyOf" | "oneOf" | "allOf" => Shape::SchemaList,
        "minimum" | "maximum" => Shape::Number,
        "exclusiveMinimum" | "exclusiveMaximum" if draft == Draft::Draft4 => Shape::Rare,
        "exclusiveMinimum" | "exclusiveMaximum" => Shape::Number,
        "multipleOf" => Shape::PositiveNumber,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            Shape::NonNegativeInteger
        }
        "uniqueItems" | "readOnly" | "writeOnly" => Shape::Boolean,
        "pattern" => Shape::Pattern,
        "patternProperties" => Shape::PatternMap,
        "dependencies" => Shape::Dependencies,
        "$comment" | "contentEncoding" | "contentMediaType" => Shape::Text,
        "$ref" => Shape::Reference,
        "$schema" => Shape::Dialect,
        "$id" => Shape::Identifier,
        "id" if draft == Draft::Draft4 => Shape::Identifier,
        "additionalItems" if draft != Draft::Draft202012 => Shape::Schema,
        "prefixItems" if draft == Draft::Draft202012 => Shape::SchemaList,
        "$dynamicRef" if draft == Draft::Draft202012 => Shape::DynamicReference,
        "$dynamicAnchor" if draft == Draft::Draft202012 => Shape::Anchor,
        "$recursiveRef" if draft == Draft::Draft201909 => Shape::DynamicReference,
        "$recursiveRef" | "$recursiveAnchor" | "$vocabulary" => Shape::Rare,
        _ if matches!(draft, Draft::Draft201909 | Draft::Draft202012) => since_2019(keyword),
        _ => Shape::Unknown,
    }
}

fn since_2019(keyword: &str) -> Shape {
    match keyword {
        "$defs" | "dependentSchemas" => Shape::SchemaMap,
        "dependentRequired" => Shape::TextListMap,
        "minContains" | "maxContains" => Shape::NonNegativeInteger,
        "unevaluatedItems" | "unevaluatedProperties" | "contentSchema" => Shape::Schema,
        "deprecated" => Shape::Boolean,
        "$anchor" => Shape::Anchor,
        _ => Shape::Unknown,
    }
}
