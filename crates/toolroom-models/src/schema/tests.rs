use proptest::prelude::*;
use serde_json::{Value, json};

use super::openapi;
use crate::scale::cases;

#[test]
fn what_the_subset_knows_stays_and_what_it_does_not_is_told() {
    let weakened = openapi(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": ["at"],
        "properties": {
            "at": {"$ref": "#/$defs/place", "description": "Where."},
            "unit": {"const": "c"},
            "days": {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 9, "format": "uint8"},
            "when": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
            "level": {"enum": [1, 2]},
        },
        "$defs": {"place": {"type": "string", "description": "A place.", "minLength": 1}},
    }));
    let expected = json!({
        "type": "object",
        "required": ["at"],
        "properties": {
            "at": {"type": "string", "description": "Where.", "minLength": 1},
            "unit": {"type": "string", "enum": ["c"]},
            "days": {"type": "integer", "nullable": true, "minimum": 1},
            "when": {"nullable": true, "anyOf": [{"type": "string", "format": "date-time"}]},
            "level": {},
        },
    });
    assert_eq!(weakened.schema, expected);
    let lost = [
        "/additionalProperties",
        "/properties/days/exclusiveMaximum",
        "/properties/days/format",
        "/properties/level/enum",
    ];
    assert_eq!(weakened.lost, lost);
}

#[test]
fn only_what_is_described_is_required() {
    let weakened = openapi(&json!({"required": ["a", "b"], "properties": {"a": true}}));
    assert_eq!(weakened.schema, json!({"required": ["a"], "properties": {"a": {}}}));
    assert_eq!(weakened.lost, ["/required"]);
    assert_eq!(openapi(&json!({"required": ["a"]})).schema, json!({}));
    assert_eq!(openapi(&json!({"anyOf": [{"type": "null"}]})).schema, json!({"nullable": true}));
}

#[test]
fn references_in_circles_end() {
    let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    let weakened = openapi(&tree);
    assert!(weakened.schema.to_string().len() < 1_000_000);
    assert!(weakened.lost.iter().any(|place| place.ends_with("/…")));
    let itself = openapi(&json!({"$defs": {"a": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}));
    assert_eq!(itself.schema, json!({}));
}

/// Schemas, and what is none.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"$ref": "#"})),
        Just(json!({"const": 3})),
        Just(json!(true)),
        Just(json!(null)),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|choices| json!({ "oneOf": choices })),
            prop::collection::vec(inner.clone(), 0..4).prop_map(|all| json!({ "allOf": all })),
            (inner.clone(), inner.clone())
                .prop_map(|(a, b)| json!({ "type": "object", "properties": { "a": a, "b": b }, "not": {} })),
            inner.prop_map(|items| json!({ "type": "array", "items": items, "uniqueItems": true })),
        ]
    })
}

proptest! {
    #![proptest_config(cases(128))]
    #[test]
    fn nothing_the_subset_does_not_know_is_left(schema in schema()) {
        let written = openapi(&schema).schema.to_string();
        for keyword in ["$ref", "oneOf", "allOf", "not", "const", "uniqueItems"] {
            prop_assert!(!written.contains(&format!("\"{keyword}\":")), "{}", written);
        }
    }
}
