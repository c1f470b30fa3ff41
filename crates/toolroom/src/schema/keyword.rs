//! The table of keywords: what the value of each has to look like.
//!
//! Drafts 4 and 6 share the column of draft 7; where they differ, compiling decides (see `wellformed`).

use jsonschema::Draft;

use super::text;

/// What the value of a keyword is.
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
    /// Any list; what is in it is data.
    DataList,
    /// Any value; what is in it is data.
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
    /// Legal, rare, and left to the compiler.
    Rare,
    /// Not a keyword of this draft.
    Unknown,
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

/// Where a JSON pointer into a schema ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At a schema.
    Schema,
    /// Below a keyword that this draft does not know; a reference may make a schema of it.
    Elsewhere,
    /// At something that can be no schema: in a `const`, or at a map of schemas.
    NoSchema,
}

/// A keyword that a JSON pointer passes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Passed {
    /// Pointer of the schema that holds the keyword.
    pub(super) holder: String,
    pub(super) keyword: String,
}

/// Reads a JSON pointer step by step as a way through schemas.
pub(super) fn read_pointer(pointer: &str, draft: Draft) -> (Vec<Passed>, Position) {
    enum At {
        Schema,
        /// `items` before 2020-12: an index may follow, or a keyword.
        SchemaOrList,
        Container,
        Elsewhere,
        NoSchema,
    }
    let mut passed = Vec::new();
    let mut at = At::Schema;
    let mut walked = String::new();
    for step in text::steps(pointer) {
        at = match at {
            At::SchemaOrList if step.parse::<usize>().is_ok() => At::Schema,
            At::Container => At::Schema,
            At::Elsewhere => At::Elsewhere,
            At::NoSchema => At::NoSchema,
            At::Schema | At::SchemaOrList => {
                let next = match shape(&step, draft) {
                    Shape::Schema => At::Schema,
                    Shape::SchemaOrList => At::SchemaOrList,
                    Shape::SchemaMap | Shape::SchemaList | Shape::PatternMap | Shape::Dependencies => {
                        At::Container
                    }
                    Shape::Unknown | Shape::Rare => At::Elsewhere,
                    _ => At::NoSchema,
                };
                passed.push(Passed { holder: walked.clone(), keyword: step.clone() });
                next
            }
        };
        text::push_step(&mut walked, &step);
    }
    let position = match at {
        At::Schema | At::SchemaOrList => Position::Schema,
        At::Elsewhere => Position::Elsewhere,
        At::Container | At::NoSchema => Position::NoSchema,
    };
    (passed, position)
}
