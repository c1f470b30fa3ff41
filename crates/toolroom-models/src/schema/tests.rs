use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Weakened, object_top, openapi, parameters, strict};
use crate::scale::cases;
use crate::vendor::WireKind;
use crate::wire::Quirks;

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

/// Everything that vendors stumble over, in one.
fn ugly() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": ["node", "choice", "maybe", "when"],
        "properties": {
            "node": {"$ref": "#/$defs/node", "description": "Where it begins."},
            "choice": {"oneOf": [{"type": "string", "minLength": 2}, {"type": "integer"}]},
            "maybe": {"type": ["string", "null"], "default": "x"},
            "when": {"type": "string", "format": "uri"},
        },
        "$defs": {"node": {
            "type": "object",
            "additionalProperties": false,
            "required": ["next"],
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
        }},
    })
}

#[test]
fn what_can_be_kept_to_the_letter_is_and_what_is_lost_is_told() {
    let Weakened { schema, lost } = strict(&ugly()).unwrap();
    assert_eq!(
        lost,
        [
            "/properties/node/description",
            "/properties/choice/oneOf",
            "/properties/choice/oneOf/0/minLength",
            "/properties/when/format",
        ]
    );
    assert_eq!(schema["properties"]["node"], json!({"$ref": "#/$defs/node"}));
    assert_eq!(schema["properties"]["choice"], json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}));
    assert_eq!(schema["$defs"], ugly()["$defs"]);
    assert_eq!((schema.get("$schema"), schema["properties"]["maybe"].get("default")), (None, None));
}

#[test]
fn what_the_strict_form_would_refuse_is_not_written_in_it() {
    let closed = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    for schema in [
        json!({"type": "object", "properties": {}}),
        closed(json!({"a": {"type": "string"}}), json!([])),
        closed(json!({}), json!(["a"])),
        closed(json!({"a": {}}), json!(["a"])),
        closed(json!({"a": {"type": "object"}}), json!(["a"])),
        closed(json!({"a": {"type": "array", "items": {"properties": {}}}}), json!(["a"])),
        json!({"type": "object", "additionalProperties": false, "patternProperties": {"^x": {}}}),
        json!({"oneOf": [{"type": "object"}]}),
        json!(true),
        json!({"type": "string"}),
    ] {
        assert_eq!(strict(&schema), None, "{schema}");
    }
    assert!(strict(&closed(json!({}), json!([]))).is_some());
}

#[test]
fn a_top_that_is_a_choice_becomes_an_object() {
    let weakened = object_top(&json!({"oneOf": [{"type": "object"}], "properties": {"a": {}}}));
    assert_eq!(weakened.schema, json!({"properties": {"a": {}}, "type": "object"}));
    assert_eq!(weakened.lost, ["/oneOf"]);
    assert_eq!(object_top(&ugly()), Weakened { schema: ugly(), lost: Vec::new() });
    assert_eq!(object_top(&json!(true)).schema, json!({"type": "object"}));
}

#[test]
fn who_refuses_a_top_that_is_no_plain_object_does_not_get_one() {
    let schema = json!({
        "type": "object", "properties": {"a": {"enum": [1, 2]}}, "anyOf": [{"required": ["a"]}], "not": {}, "enum": [{}],
    });
    let plain = json!({"type": "object", "properties": {"a": {"enum": [1, 2]}}});
    for strict_schemas in [false, true] {
        let quirks = Quirks { strict_schemas, ..Quirks::default() };
        for wire in [WireKind::OpenaiChat, WireKind::OpenaiResponses, WireKind::Anthropic] {
            let Weakened { schema, lost } = parameters(&schema, wire, &quirks);
            assert_eq!(schema, plain, "{wire:?}");
            assert_eq!(lost, ["/anyOf", "/enum", "/not"], "{wire:?}");
        }
    }
}

#[test]
fn each_wire_says_what_it_loses() {
    let lost = |wire, quirks: &Quirks| parameters(&ugly(), wire, quirks).lost.len();
    let plain = Quirks::default();
    assert_eq!(WireKind::ALL.map(|wire| lost(wire, &plain)), [0, 0, 0, 0]);
    let demanding = Quirks { strict_schemas: true, openapi_parameters: true, ..Quirks::default() };
    assert!(lost(WireKind::OpenaiChat, &demanding) == 4 && lost(WireKind::Gemini, &demanding) > 0);
}

proptest! {
    #![proptest_config(cases(128))]
    #[test]
    fn the_strict_form_has_only_objects_that_are_closed(schema in schema()) {
        let schema = json!({
            "type": "object", "properties": {"a": schema}, "required": ["a"], "additionalProperties": false,
        });
        if let Some(weakened) = strict(&schema) {
            prop_assert!(!weakened.schema.to_string().contains("\"oneOf\":"));
            prop_assert_eq!(strict(&weakened.schema).map(|again| again.schema), Some(weakened.schema));
        }
    }

    #[test]
    fn nothing_the_subset_does_not_know_is_left(schema in schema()) {
        let written = openapi(&schema).schema.to_string();
        for keyword in ["$ref", "oneOf", "allOf", "not", "const", "uniqueItems"] {
            prop_assert!(!written.contains(&format!("\"{keyword}\":")), "{}", written);
        }
    }
}
