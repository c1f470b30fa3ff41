//! Schemas that a tool cannot be registered with, and what its author reads.

use serde_json::{Map, Value, json};

use super::{problems, wrapped};
use crate::schema::{PatternRule, Schema, SchemaError};

fn refusal(schema: Value) -> SchemaError {
    let text = schema.to_string();
    match Schema::new(schema, PatternRule::Relax) {
        Err(error) => error,
        Ok(_) => panic!("{text} must be refused"),
    }
}

#[test]
fn the_root_describes_an_object() {
    let cases = [
        (json!(true), "the boolean true"),
        (json!([]), "the array []"),
        (json!({ "type": "string" }), "the type \"string\""),
        (json!({ "type": ["object", "null"] }), "the type [\"object\",\"null\"]"),
    ];
    for (schema, found) in cases {
        let expected = format!("the schema of a tool's parameters must describe an object, found {found}");
        assert_eq!(refusal(schema).to_string(), expected);
    }
    assert_eq!(problems(&json!({}), &json!({ "a": 1 })), Vec::<String>::new());
    assert_eq!(problems(&json!({ "properties": { "a": true } }), &json!({ "a": 1 })), Vec::<String>::new());
}

#[test]
fn every_keyword_has_a_shape() {
    let wrong = [
        ("type", json!("text")),
        ("type", json!([])),
        ("type", json!(["string", "string"])),
        ("description", json!(1)),
        ("title", json!(null)),
        ("format", json!(true)),
        ("$comment", json!([])),
        ("contentEncoding", json!(1)),
        ("contentMediaType", json!(1)),
        ("contentSchema", json!("x")),
        ("properties", json!([])),
        ("properties", json!({ "a": 1 })),
        ("patternProperties", json!({ "a": null })),
        ("additionalProperties", json!("no")),
        ("propertyNames", json!(1)),
        ("unevaluatedProperties", json!([])),
        ("unevaluatedItems", json!(0)),
        ("required", json!("a")),
        ("required", json!([1])),
        ("required", json!(["a", "a"])),
        ("dependentRequired", json!({ "a": "b" })),
        ("dependentRequired", json!({ "a": ["b", "b"] })),
        ("dependentSchemas", json!({ "a": [] })),
        ("dependencies", json!({ "a": 1 })),
        ("$defs", json!({ "a": "x" })),
        ("definitions", json!([])),
        ("enum", json!("a")),
        ("examples", json!({})),
        ("items", json!([{ "type": "string" }])),
        ("prefixItems", json!([])),
        ("contains", json!(null)),
        ("allOf", json!([])),
        ("anyOf", json!({})),
        ("oneOf", json!([1])),
        ("not", json!([])),
        ("if", json!(1)),
        ("then", json!(1)),
        ("else", json!(1)),
        ("minimum", json!("1")),
        ("maximum", json!(null)),
        ("exclusiveMinimum", json!(true)),
        ("exclusiveMaximum", json!([])),
        ("multipleOf", json!(0)),
        ("multipleOf", json!(-1)),
        ("minLength", json!(-1)),
        ("maxLength", json!(1.5)),
        ("minItems", json!("1")),
        ("maxItems", json!(0.1)),
        ("minProperties", json!(null)),
        ("maxProperties", json!(-2)),
        ("minContains", json!({})),
        ("maxContains", json!(0.5)),
        ("uniqueItems", json!("yes")),
        ("readOnly", json!(1)),
        ("writeOnly", json!(1)),
        ("deprecated", json!("soon")),
        ("pattern", json!(1)),
        ("$ref", json!(1)),
        ("$dynamicRef", json!({})),
        ("$anchor", json!(1)),
        ("$dynamicAnchor", json!([])),
        ("$id", json!(1)),
    ];
    for (keyword, value) in wrong {
        let error = refusal(wrapped(&json!({ keyword: value })));
        let SchemaError::Malformed { pointer, .. } = &error else { panic!("{keyword} {value}: {error}") };
        assert!(pointer.starts_with(&format!("/properties/value/{keyword}")), "{keyword} {value}: {pointer}");
    }
}

#[test]
fn a_refusal_says_where_what_and_what_else() {
    let cases = [
        (
            wrapped(&json!({ "type": "text" })),
            "the schema has the string \"text\" at `/properties/value/type`, expected one of `string`, `number`, `integer`, `boolean`, `object`, `array`, `null`, or an array of different ones",
        ),
        (
            wrapped(&json!({ "anyOf": [{ "minLength": -1 }] })),
            "the schema has the number -1 at `/properties/value/anyOf/0/minLength`, expected a whole number from 0 on",
        ),
        (
            wrapped(&json!({ "required": ["a", "b", "a"] })),
            "the schema has the same text twice at `/properties/value/required`, expected an array of different texts",
        ),
        (
            json!({ "$schema": "https://example.com/mine", "type": "object" }),
            "the schema names the unknown draft `https://example.com/mine` at `/$schema`; leave `$schema` out for draft 2020-12",
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(refusal(schema).to_string(), expected);
    }
}

#[test]
fn no_other_document_is_fetched() {
    for reference in [
        "http://localhost:1/x.json",
        "https://example.com/s#/a",
        "other.json",
        "file:///etc/passwd",
        "//host/x",
    ] {
        for keyword in ["$ref", "$dynamicRef"] {
            let error = refusal(wrapped(&json!({ keyword: reference })));
            let pointer = format!("/properties/value/{keyword}");
            assert_eq!(error, SchemaError::RemoteReference { pointer, reference: reference.into() });
        }
        let unused = json!({ "type": "object", "$defs": { "unused": { "$ref": reference } } });
        assert!(matches!(refusal(unused), SchemaError::RemoteReference { .. }));
    }
}

#[test]
fn references_lead_to_a_schema() {
    let nowhere = [
        "#/$defs/none",
        "#/$defs",
        "#/type",
        "#missing",
        "#/properties/value/enum/0",
        "#/$defs/bad%zz",
        "#/x-list",
    ];
    for reference in nowhere {
        let mut schema = wrapped(&json!({ "enum": [{}] }));
        schema["x-list"] = json!([]);
        schema["$defs"] = json!({ "some": { "$ref": reference } });
        assert!(matches!(refusal(schema), SchemaError::DanglingReference { .. }), "{reference}");
    }
    let mistaken = json!({ "type": "object", "$ref": "#/x-shared", "x-shared": { "minLength": "x" } });
    assert!(
        matches!(refusal(mistaken), SchemaError::Malformed { pointer, .. } if pointer == "/x-shared/minLength")
    );
}

#[test]
fn references_do_not_run_in_a_circle() {
    let circles = [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "not": { "$ref": "#/$defs/b" } }, "b": { "$ref": "#/$defs/a" } } }),
        json!({ "$ref": "#a", "$defs": { "a": { "$anchor": "a", "anyOf": [{ "$ref": "#a" }, true] } } }),
    ];
    for schema in circles {
        assert!(matches!(refusal(schema), SchemaError::EndlessReference { .. }));
    }
}

#[test]
fn size_is_bounded() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..65 {
        deep = json!({ "items": deep });
    }
    let mut deep_data = json!(1);
    for _ in 0..70 {
        deep_data = json!([deep_data]);
    }
    let wide: Map<String, Value> = (0..10_001).map(|n| (n.to_string(), json!(true))).collect();
    let patterns: Map<String, Value> = (0..65).map(|n| (format!("^{n}$"), json!(true))).collect();
    let cases = [
        (wrapped(&deep), "levels of nesting"),
        (wrapped(&json!({ "default": deep_data })), "levels of nesting"),
        (json!({ "properties": wide }), "values"),
        (json!({ "enum": vec![1; 10_001] }), "values"),
        (json!({ "description": "x".repeat(300_000) }), "bytes of text"),
        (json!({ "x-own": ["x".repeat(300_000)] }), "bytes of text"),
        (json!({ "patternProperties": patterns }), "patterns"),
    ];
    for (schema, what) in cases {
        let error = refusal(schema);
        assert!(matches!(error, SchemaError::TooBig { what: found, .. } if found == what), "{what}: {error}");
    }
}
