//! What a model reads about its mistakes, word for word.

use serde_json::{Value, json};

use super::{own, problems, wrapped};
use crate::schema::MAX_PROBLEMS;

/// One parameter `value` of this schema, one mistake.
fn check(schema: &Value, value: &Value, expected: &str) {
    assert_eq!(problems(&wrapped(schema), &json!({ "value": value })), [expected], "{schema} with {value}");
}

fn weather() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": { "type": "string" },
            "units": { "enum": ["metric", "imperial"] },
            "days": { "type": "integer" }
        },
        "required": ["city", "units"],
        "additionalProperties": false
    })
}

#[test]
fn of_the_whole_call() {
    let cases = [
        (json!({}), "missing arguments `city`, `units`"),
        (json!({ "units": "metric" }), "missing argument `city` (required: `city`, `units`)"),
        (
            json!({ "city": "Rome", "units": "metric", "day": 1 }),
            "unknown argument `day` (did you mean `days`?)",
        ),
        (
            json!({ "city": "Rome", "units": "metric", "lang": "it" }),
            "unknown argument `lang`, known: `city`, `units`, `days`",
        ),
        (json!("Rome"), "the arguments must be an object, got the string \"Rome\""),
    ];
    for (arguments, expected) in cases {
        assert_eq!(problems(&weather(), &arguments), [expected]);
    }
    let nothing = json!({ "type": "object", "additionalProperties": false });
    assert_eq!(
        problems(&nothing, &json!({ "a": 1, "b": 2 })),
        ["unknown arguments `a`, `b` (none are allowed)"]
    );
}

#[test]
fn all_mistakes_at_once() {
    assert_eq!(
        problems(&weather(), &json!({ "units": "metrics", "days": "3", "Ci-ty": "Rome" })),
        [
            "missing argument `city` (required: `city`, `units`)",
            "`units` must be one of \"metric\", \"imperial\", got \"metrics\" (did you mean \"metric\"?)",
            "`days` must be an integer, got the string \"3\"",
            "unknown argument `Ci-ty` (did you mean `city`?)",
        ]
    );
}

#[test]
fn of_one_value() {
    let user =
        json!({ "type": "object", "properties": { "age": { "type": "integer" } }, "required": ["age"] });
    check(&user, &json!({ "age": "x" }), "`value.age` must be an integer, got the string \"x\"");
    check(&user, &json!({}), "missing field `value.age`");
    check(
        &json!({ "type": ["string", "number"] }),
        &json!(true),
        "`value` must be a number or a string, got the boolean true",
    );
    check(&json!({ "const": "v1" }), &json!("v2"), "`value` must be \"v1\", got \"v2\"");
    check(&json!({ "enum": ["on"] }), &json!("off"), "`value` must be \"on\", got \"off\"");
    check(&json!({ "minimum": 1 }), &json!(0), "`value` must be at least 1, got 0");
    check(&json!({ "maximum": 9.5 }), &json!(10), "`value` must be at most 9.5, got 10");
    check(&json!({ "exclusiveMinimum": 0 }), &json!(0), "`value` must be greater than 0, got 0");
    check(&json!({ "exclusiveMaximum": 1 }), &json!(1), "`value` must be less than 1, got 1");
    check(&json!({ "multipleOf": 5 }), &json!(7), "`value` must be a multiple of 5, got 7");
    check(&json!({ "minLength": 3 }), &json!("ab"), "`value` must have at least 3 characters, has 2");
    check(&json!({ "maxLength": 1 }), &json!("äö"), "`value` must have at most 1 character, has 2");
    check(
        &json!({ "pattern": "^[a-z]+$" }),
        &json!("A1"),
        "`value` must match the pattern `^[a-z]+$`, got \"A1\"",
    );
    check(&json!(false), &json!(1), "`value` must be left out");
    check(&json!({ "not": { "type": "null" } }), &json!(null), "`value` must not match {\"type\":\"null\"}");
    check(&json!({ "not": {} }), &json!(1), "`value` must not match {}");
}

#[test]
fn of_arrays_and_objects() {
    check(&json!({ "minItems": 2 }), &json!([1]), "`value` must have at least 2 items, has 1");
    check(&json!({ "maxItems": 1 }), &json!([1, 2]), "`value` must have at most 1 item, has 2");
    check(
        &json!({ "uniqueItems": true }),
        &json!([1, 2, 1]),
        "`value` must not repeat an item, items 0 and 2 are the same",
    );
    check(
        &json!({ "contains": { "type": "string" } }),
        &json!([1]),
        "`value` must have at least 1 item that matches {\"type\":\"string\"}",
    );
    check(
        &json!({ "contains": { "type": "string" }, "minContains": 2 }),
        &json!(["a"]),
        "`value` must have at least 2 items that match {\"type\":\"string\"}",
    );
    check(
        &json!({ "contains": { "type": "string" }, "maxContains": 1 }),
        &json!(["a", "b"]),
        "`value` must have at most 1 items that match {\"type\":\"string\"}",
    );
    check(&json!({ "prefixItems": [true], "items": false }), &json!([1, 2]), "`value[1]` must be left out");
    check(
        &json!({ "prefixItems": [true], "unevaluatedItems": false }),
        &json!([1, 2]),
        "`value` has unexpected items: 2",
    );
    check(&json!({ "minProperties": 2 }), &json!({ "a": 1 }), "`value` must have at least 2 entries, has 1");
    check(&json!({ "maxProperties": 0 }), &json!({ "a": 1 }), "`value` must have at most 0 entries, has 1");
    check(
        &json!({ "propertyNames": { "maxLength": 2 } }),
        &json!({ "long": 1 }),
        "`value` has the invalid field name `long`, which must have at most 2 characters, has 4",
    );
    check(
        &json!({ "dependentRequired": { "from": ["to"] } }),
        &json!({ "from": 1 }),
        "missing field `value.to` (required with `from`)",
    );
    check(
        &json!({ "properties": { "kind": true }, "unevaluatedProperties": false }),
        &json!({ "kinds": 1 }),
        "unknown field `value.kinds` (did you mean `kind`?)",
    );
}

#[test]
fn of_alternatives() {
    let optional_text = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
    check(&optional_text, &json!(5), "`value` must be a string or null, got the number 5");
    let shapes = json!({ "oneOf": [
        { "type": "object", "properties": { "kind": { "const": "circle" }, "r": { "type": "number" } }, "required": ["kind", "r"] },
        { "type": "object", "properties": { "kind": { "const": "square" }, "a": { "type": "number" } }, "required": ["kind", "a"] }
    ] });
    check(
        &shapes,
        &json!({ "kind": "square", "r": 1 }),
        "`value` must match one of 2 alternatives; closest is number 2: missing field `value.a` (required: `kind`, `a`)",
    );
    check(
        &json!({ "anyOf": [{ "type": "integer", "minimum": 3 }, { "type": "string" }] }),
        &json!(1),
        "`value` must match at least one of 2 alternatives; closest is number 1: `value` must be at least 3, got 1",
    );
    check(
        &json!({ "oneOf": [{ "minimum": 1 }, { "minimum": 9 }, { "maximum": 5 }] }),
        &json!(4),
        "`value` must match only one of 3 alternatives, matches numbers 1, 3",
    );
    check(
        &json!({ "if": { "properties": { "a": { "const": 1 } } }, "then": { "required": ["b"] } }),
        &json!({ "a": 1 }),
        "missing field `value.b` (because the condition `if` holds)",
    );
    check(
        &json!({ "if": { "type": "string" }, "else": { "maximum": 1 } }),
        &json!(2),
        "`value` must be at most 1, got 2 (because the condition `if` does not hold)",
    );
}

#[test]
fn null_is_not_the_same_as_absent() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "$ref": "#/$defs/b" }, "c": { "type": ["string", "null"] } },
        "required": ["a"],
        "$defs": { "b": { "enum": ["x", "y"] } }
    });
    assert_eq!(
        problems(&schema, &json!({ "a": null, "b": null, "c": null })),
        [
            "`a` must be a string, got null",
            "`b` must be one of \"x\", \"y\", got null (leave it out instead)",
        ]
    );
    let items = json!({ "items": { "type": "string" } });
    check(&items, &json!([null]), "`value[0]` must be a string, got null");
}

#[test]
fn values_and_names_are_cut_and_escaped() {
    let long = "x".repeat(5_000);
    let expected = format!("`value` must be an integer, got the string \"{}…", "x".repeat(59));
    check(&json!({ "type": "integer" }), &json!(long), &expected);
    check(
        &json!({ "type": "integer" }),
        &json!("a\u{1b}[2J\u{202e}\n"),
        "`value` must be an integer, got the string \"a\\u001b[2J\\u{202e}\\n\"",
    );
    for mark in ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
        let expected = format!("`value` must be \"v\", got \"{}\"", mark.escape_unicode());
        check(&json!({ "const": "v" }), &json!(mark.to_string()), &expected);
    }
    let many = json!((0..15).map(|n| format!("option-{n}")).collect::<Vec<_>>());
    let listed = (0..10).map(|n| format!("\"option-{n}\"")).collect::<Vec<_>>().join(", ");
    check(&json!({ "enum": many }), &json!(0), &format!("`value` must be one of {listed} and 5 more, got 0"));
    let key = format!("{}\u{7}", "k".repeat(300));
    let path = problems(&json!({ "additionalProperties": { "type": "null" } }), &json!({ key: 1 }));
    assert_eq!(path, [format!("`{}…` must be null, got the number 1", "k".repeat(200))]);
}

#[test]
fn a_long_list_of_problems_is_cut() {
    let schema = own(wrapped(&json!({ "items": { "type": "string" } })));
    let problems = schema.check(&json!({ "value": vec![1; 50] })).unwrap();
    assert_eq!(problems.len(), MAX_PROBLEMS + 1);
    assert_eq!(problems[19].to_string(), "`value[19]` must be a string, got the number 1");
    assert_eq!(problems[20].to_string(), "30 more problems, listed once these are fixed");
    let exactly = schema.check(&json!({ "value": vec![1; MAX_PROBLEMS] })).unwrap();
    assert_eq!(exactly.len(), MAX_PROBLEMS);
}
