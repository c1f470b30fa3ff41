//! Patterns that the linear-time engine does not have: refused for own tools, shown as not enforced for others.

use serde_json::{Value, json};

use super::wrapped;
use crate::schema::{PatternRule, Problem, Schema, SchemaError};

const LOOK_AHEAD: &str = "^(?!bad).*$";

#[test]
fn own_tools_are_refused() {
    for pattern in [LOOK_AHEAD, r"^(a)\1$", "(?<=x)y", "(", "[z-a]", r"^(\p{L}{1,500}){1,500}$"] {
        for schema in [json!({ "pattern": pattern }), json!({ "patternProperties": { pattern: true } })] {
            let error = Schema::new(wrapped(&schema), PatternRule::Refuse).unwrap_err();
            assert!(matches!(error, SchemaError::Pattern { .. }), "{pattern}: {error}");
        }
    }
    let error = Schema::new(wrapped(&json!({ "pattern": LOOK_AHEAD })), PatternRule::Refuse).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the schema has the pattern `^(?!bad).*$` at `/properties/value/pattern`, which cannot be matched in linear time; write it without look-around, back references and large counts"
    );
}

/// A foreign schema: what it does not enforce, and values it must take and refuse.
fn check(schema: &Value, not_enforced: &[&str], fits: &[Value], fails: &[Value]) {
    let mut wrapped = wrapped(schema);
    wrapped["$defs"] = json!({ "odd": { "type": "string", "pattern": LOOK_AHEAD, "minLength": 2 } });
    let uses_odd = schema.to_string().contains("#/$defs/odd");
    if !uses_odd {
        wrapped.as_object_mut().unwrap().remove("$defs");
    }
    let compiled = Schema::new(wrapped, PatternRule::Relax).unwrap();
    let mut expected: Vec<String> =
        not_enforced.iter().map(|rest| format!("/properties/value{rest}")).collect();
    if uses_odd {
        expected.insert(0, "/$defs/odd/pattern".to_owned());
    }
    assert_eq!(compiled.not_enforced(), expected, "{schema}");
    for value in fits {
        assert_eq!(compiled.check(&json!({ "value": value })), Ok(vec![]), "{schema} must take {value}");
    }
    for value in fails {
        assert_ne!(compiled.check(&json!({ "value": value })), Ok(vec![]), "{schema} must refuse {value}");
    }
}

#[test]
fn foreign_tools_keep_working() {
    check(&json!({ "pattern": "^a" }), &[], &[json!("ab")], &[json!("b")]);
    let text = json!({ "pattern": LOOK_AHEAD, "minLength": 2 });
    check(&text, &["/pattern"], &[json!("good"), json!("bad")], &[json!("x")]);
    check(&json!({ "$ref": "#/$defs/odd" }), &[], &[json!("bad")], &[json!("x"), json!(1)]);
}

#[test]
fn a_name_that_might_have_matched_is_not_refused() {
    let closed =
        json!({ "patternProperties": { LOOK_AHEAD: { "type": "number" } }, "additionalProperties": false });
    let pointer = "/patternProperties/^(?!bad).*$";
    check(&closed, &[pointer], &[json!({ "x": 1 }), json!({ "x": "y" })], &[]);
    let outer = json!({
        "allOf": [{ "patternProperties": { LOOK_AHEAD: true, "^n": { "type": "number" } } }],
        "unevaluatedProperties": false
    });
    let pointer = "/allOf/0/patternProperties/^(?!bad).*$";
    check(&outer, &[pointer], &[json!({ "x": 1, "n": 2 })], &[json!({ "n": "2" })]);
}

#[test]
fn leaving_a_pattern_out_never_forbids_more() {
    let odd = json!({ "type": "string", "pattern": LOOK_AHEAD });
    check(&json!({ "not": odd }), &["/not/pattern", "/not"], &[json!("bad"), json!("x")], &[]);
    check(
        &json!({ "if": odd, "then": { "maxLength": 1 }, "type": "string" }),
        &["/if/pattern", "/if"],
        &[json!("bad")],
        &[json!(1)],
    );
    check(
        &json!({ "oneOf": [odd, { "const": "bad" }] }),
        &["/oneOf/0/pattern", "/oneOf"],
        &[json!("bad"), json!("x")],
        &[json!(1)],
    );
    check(
        &json!({ "contains": odd, "maxContains": 1 }),
        &["/contains/pattern", "/maxContains"],
        &[json!(["x", "bad"])],
        &[json!([1])],
    );
    check(&json!({ "not": { "$ref": "#/$defs/odd" } }), &["/not"], &[json!("bad"), json!("good")], &[]);
    check(
        &json!({ "oneOf": [{ "oneOf": [odd, { "const": 1 }] }, { "const": "bad" }] }),
        &["/oneOf/0/oneOf/0/pattern", "/oneOf/0/oneOf", "/oneOf"],
        &[json!("bad"), json!(1)],
        &[json!(2)],
    );
}

#[test]
fn a_pattern_under_an_unknown_keyword_is_found_by_its_reference() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "value": { "$ref": "#/$defs/a" } },
        "$defs": { "a": { "not": { "pattern": LOOK_AHEAD } } }
    });
    let schema = Schema::new(schema, PatternRule::Relax).unwrap();
    assert_eq!(schema.not_enforced(), ["/$defs/a/not/pattern", "/$defs/a/not"]);
    assert_eq!(schema.check(&json!({ "value": "x" })), Ok(vec![]));
}

#[test]
fn matching_takes_linear_time() {
    let schema = Schema::new(wrapped(&json!({ "pattern": "^(a+)+$" })), PatternRule::Refuse).unwrap();
    let problems = schema.check(&json!({ "value": format!("{}!", "a".repeat(50_000)) })).unwrap();
    // A backtracking engine would hang here, or give up and say that it cannot check.
    let expected = format!("must match the pattern `^(a+)+$`, got \"{}…", "a".repeat(59));
    assert_eq!(problems, [Problem::new("/value", expected)]);
}
