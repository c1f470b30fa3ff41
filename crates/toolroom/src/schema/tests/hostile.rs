//! Schemas and arguments made to cost time or stack.

use serde_json::{Map, Value, json};

use super::{own, problems, wrapped};
use crate::schema::{MAX_DEPTH, PatternRule, Problem, Schema, SchemaError};

/// Definitions that each refer twice to the next, `levels` of them.
fn doubling(levels: usize) -> Map<String, Value> {
    let mut definitions: Map<String, Value> = (1..levels)
        .map(|level| {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            (format!("d{level}"), json!({ "allOf": [next, next] }))
        })
        .collect();
    definitions.insert(format!("d{levels}"), json!({ "required": ["x"] }));
    definitions
}

fn nested(levels: usize, core: Value) -> Value {
    (0..levels).fold(core, |inner, _| json!({ "a": inner }))
}

#[test]
fn references_that_multiply_are_refused() {
    for unevaluated in [true, false] {
        let schema =
            json!({ "$ref": "#/$defs/d1", "$defs": doubling(40), "unevaluatedProperties": unevaluated });
        assert!(matches!(Schema::new(schema, PatternRule::Relax), Err(SchemaError::TooBig { .. })));
    }
    let elsewhere: Map<String, Value> = (1..40)
        .map(|n| {
            let next = json!({ "$ref": format!("#/x/d{}", (n + 1).min(39)) });
            (format!("d{n}"), if n == 39 { json!(true) } else { json!({ "anyOf": [next, next] }) })
        })
        .collect();
    let schema = json!({ "$ref": "#/x/d1", "x": elsewhere });
    assert!(matches!(Schema::new(schema, PatternRule::Relax), Err(SchemaError::TooBig { .. })));
}

#[test]
fn references_that_multiply_a_little_are_fine() {
    let schema = own(json!({ "$ref": "#/$defs/d1", "$defs": doubling(4), "unevaluatedProperties": false }));
    assert_eq!(schema.check(&json!({})).unwrap().len(), 8);
}

#[test]
fn a_recursive_schema_cannot_multiply_with_depth() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let twice = json!([{ "$ref": "#" }, { "$ref": "#" }]);
        let schema = own(json!({ "type": "object", "properties": { "a": { keyword: twice } } }));
        let problems = schema.check(&nested(MAX_DEPTH - 2, json!(5)));
        match problems {
            Ok(problems) => assert!(!problems.is_empty(), "{keyword}"),
            Err(error) => assert_eq!(error, SchemaError::TooMuchWork, "{keyword}"),
        }
        assert!(!schema.check(&nested(3, json!(5))).unwrap().is_empty());
    }
}

#[test]
fn the_longest_chains_fit_the_stack_of_a_thread() {
    let chains: [fn(Value) -> Value; 3] = [
        |next| json!({ "anyOf": [next, false] }),
        |next| json!({ "allOf": [next] }),
        |next| json!({ "not": { "not": next } }),
    ];
    for chain in chains {
        let mut definitions = Map::new();
        for level in 0..4 {
            definitions
                .insert(format!("d{level}"), chain(json!({ "$ref": format!("#/$defs/d{}", level + 1) })));
        }
        definitions.insert(
            "d4".to_owned(),
            json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/d0" } }, "unevaluatedProperties": false }),
        );
        let schema = own(json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": definitions }));
        assert_eq!(schema.check(&nested(MAX_DEPTH, json!({})).clone()).unwrap().len(), 1);
        assert_eq!(schema.check(&nested(MAX_DEPTH - 1, json!({}))), Ok(vec![]));
        assert_ne!(schema.check(&nested(MAX_DEPTH - 1, json!(5))), Ok(vec![]));
    }
}

#[test]
fn deep_arguments_are_a_problem_of_their_own() {
    let schema = own(json!({ "type": "object" }));
    assert_eq!(schema.check(&nested(MAX_DEPTH, json!(1))), Ok(vec![]));
    let expected = Problem::new("", "must not nest deeper than 64 levels");
    assert_eq!(schema.check(&nested(MAX_DEPTH + 1, json!(1))), Ok(vec![expected]));
}

#[test]
fn many_values_are_no_reason_to_give_up() {
    let schema = own(json!({
        "properties": { "rows": { "items": { "$ref": "#/$defs/row" } } },
        "$defs": { "row": { "anyOf": [{ "$ref": "#/$defs/text" }, { "type": "integer" }] }, "text": { "type": "string" } }
    }));
    assert_eq!(schema.check(&json!({ "rows": vec![1; 200_000] })), Ok(vec![]));
}

/// Arguments of which every value is wrong, in the shapes that would take the most room to list.
#[test]
fn of_many_problems_the_first_is_listed() {
    let (most, many) = (json!(vec![1; 500_000]), json!(vec![1; 110_000]));
    let names: Map<String, Value> = (0..110_000).map(|n| (format!("n{n}"), json!(1))).collect();
    let empty = json!(vec![json!({}); 20_000]);
    let letters: Vec<String> = (0..500).map(|n| format!("p{n}")).collect();
    let text = json!({ "type": "string" });
    let cases = [
        (json!({ "items": text }), &most, "`value[0]` must be a string, got the number 1"),
        (
            json!({ "items": { "$ref": "#/properties/text" } }),
            &many,
            "`value[0]` must be a string, got the number 1",
        ),
        (json!({ "items": false }), &many, "`value[0]` must be left out"),
        (json!({ "items": { "anyOf": [text, false] } }), &many, "`value[0]` must match"),
        (json!({ "patternProperties": { "^n": false } }), &json!(names), "`value.n0` must be left out"),
        (json!({ "items": { "required": letters } }), &empty, "missing field `value[0].p0`"),
    ];
    for (schema, value, expected) in cases {
        let mut schema = wrapped(&schema);
        schema["properties"]["text"] = text.clone();
        let told = problems(&schema, &json!({ "value": value }));
        let [first, rest] = told.as_slice() else { panic!("{schema}: {told:?}") };
        assert!(first.starts_with(expected), "{schema}: {first}");
        assert_eq!(rest, "possibly more problems, listed once this one is fixed");
    }
}

#[test]
fn alternatives_for_a_large_value_are_not_all_explained() {
    let alternatives: Vec<Value> = (0..2_000).map(|n| json!({ "type": "array", "maxItems": n })).collect();
    for keyword in ["anyOf", "oneOf"] {
        let told =
            problems(&wrapped(&json!({ keyword: alternatives })), &json!({ "value": vec![1; 60_000] }));
        let expected = "the arguments do not match the schema and are too large to say where; pass fewer or flatter values";
        assert_eq!(told, [expected]);
    }
}

#[test]
fn odd_identifiers_are_errors_at_worst() {
    for id in
        ["http://[::1", "", "#", "#a", "urn:", "//", "a b", "https://json-schema.org/draft/2020-12/schema"]
    {
        let schema = wrapped(
            &json!({ "$id": id, "$ref": "#/$defs/a", "$defs": { "a": { "$id": id, "type": "null" } } }),
        );
        if let Ok(schema) = Schema::new(schema, PatternRule::Relax) {
            schema.check(&json!({ "value": 1 })).unwrap();
        }
    }
}

#[test]
fn looking_again_at_each_level_is_bounded_without_references_too() {
    let mut schema = json!({"type": "object"});
    for level in 0..40 {
        let other = json!({"properties": {format!("p{level}"): {}}});
        schema = json!({"unevaluatedProperties": false, "anyOf": [schema, other]});
    }
    let parameters = json!({"type": "object", "properties": {"x": schema}});
    let arguments = json!({"x": {"z": 1, "p3": 2}});
    // Refused at registration, or stopped when its steps are spent: both are fine, an hour is not.
    if let Ok(schema) = Schema::new(parameters, PatternRule::Refuse) {
        assert!(schema.check(&arguments).is_err());
    }
}
