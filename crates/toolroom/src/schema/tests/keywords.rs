//! Every keyword of draft 2020-12 does what it says: one value that fits, one that does not.

use serde_json::{Value, json};

use super::{own, problems, wrapped};

fn check(schema: &Value, fits: &[Value], fails: &[Value]) {
    let wrapped = own(wrapped(schema));
    for value in fits {
        let problems = wrapped.check(&json!({ "value": value })).unwrap();
        assert!(problems.is_empty(), "{schema} must take {value}, says {problems:?}");
    }
    for value in fails {
        let problems = wrapped.check(&json!({ "value": value })).unwrap();
        assert!(!problems.is_empty(), "{schema} must refuse {value}");
        assert!(problems.iter().all(|problem| !problem.message.is_empty()));
    }
}

#[test]
fn types() {
    let all = [
        ("null", json!(null)),
        ("boolean", json!(true)),
        ("integer", json!(3)),
        ("number", json!(2.5)),
        ("string", json!("x")),
        ("array", json!([1])),
        ("object", json!({ "a": 1 })),
    ];
    for (name, _) in &all {
        let fitting = |other: &str| other == *name || (*name == "number" && other == "integer");
        let (fits, fails): (Vec<_>, Vec<_>) = all.iter().partition(|(other, _)| fitting(other));
        let values = |pairs: Vec<&(&str, Value)>| pairs.iter().map(|pair| pair.1.clone()).collect::<Vec<_>>();
        check(&json!({ "type": name }), &values(fits), &values(fails));
    }
    check(&json!({ "type": "integer" }), &[json!(1.0), json!(-0.0)], &[json!(1.5), json!("1")]);
    check(&json!({ "type": ["string", "null"] }), &[json!("x"), json!(null)], &[json!(1)]);
}

#[test]
fn any_type() {
    check(
        &json!({ "enum": ["a", 2, null, { "k": [1] }] }),
        &[json!(2.0), json!({ "k": [1] })],
        &[json!("b"), json!({})],
    );
    check(
        &json!({ "const": { "a": 1, "b": [true] } }),
        &[json!({ "b": [true], "a": 1.0 })],
        &[json!({ "a": 1 })],
    );
    check(&json!({ "const": null }), &[json!(null)], &[json!(0), json!("")]);
    check(&json!(true), &[json!(null), json!({})], &[]);
    check(&json!({}), &[json!(null), json!(7)], &[]);
    check(&json!(false), &[], &[json!(null), json!({})]);
}

#[test]
fn numbers() {
    check(&json!({ "minimum": 1.5 }), &[json!(1.5), json!(2), json!("0")], &[json!(1)]);
    check(&json!({ "maximum": -1 }), &[json!(-1), json!(-1.1)], &[json!(0)]);
    check(&json!({ "exclusiveMinimum": 0 }), &[json!(0.001)], &[json!(0), json!(-1)]);
    check(&json!({ "exclusiveMaximum": 10 }), &[json!(9.999)], &[json!(10)]);
    check(&json!({ "multipleOf": 0.01 }), &[json!(19.99), json!(0)], &[json!(0.005)]);
    check(&json!({ "multipleOf": 7 }), &[json!(21), json!("20")], &[json!(20)]);
}

#[test]
fn large_numbers_are_compared_exactly() {
    check(
        &json!({ "maximum": 9_007_199_254_740_993_u64 }),
        &[json!(9_007_199_254_740_993_u64)],
        &[json!(9_007_199_254_740_994_u64)],
    );
    check(&json!({ "const": u64::MAX }), &[json!(u64::MAX)], &[json!(u64::MAX - 1)]);
}

#[test]
fn texts() {
    check(&json!({ "minLength": 2 }), &[json!("日本"), json!(1)], &[json!("本"), json!("")]);
    check(&json!({ "maxLength": 2 }), &[json!("👍👍")], &[json!("abc")]);
    check(&json!({ "maxLength": 2.0 }), &[json!("ab")], &[json!("abc")]);
    check(&json!({ "pattern": "b+" }), &[json!("abbc"), json!(4)], &[json!("ac")]);
    check(&json!({ "pattern": r"^\d{3}$" }), &[json!("123")], &[json!("1234"), json!("１２３")]);
}

#[test]
fn format_and_content_are_annotations() {
    check(&json!({ "format": "email" }), &[json!("no address"), json!(1)], &[]);
    check(&json!({ "format": "unheard-of" }), &[json!("x")], &[]);
    let content = json!({ "contentEncoding": "base64", "contentMediaType": "application/json", "contentSchema": false });
    check(&content, &[json!("~"), json!(1)], &[]);
    let words = json!({
        "title": "t", "description": "d", "default": 1, "examples": [2], "deprecated": true, "readOnly": true,
        "writeOnly": true, "$comment": "c", "x-own": { "type": "string" }
    });
    check(&words, &[json!(3)], &[]);
}

#[test]
fn arrays() {
    check(
        &json!({ "items": { "type": "string" } }),
        &[json!([]), json!(["a"]), json!({})],
        &[json!(["a", 1])],
    );
    check(
        &json!({ "prefixItems": [{ "type": "string" }, true] }),
        &[json!(["a", 1, 2]), json!([])],
        &[json!([1])],
    );
    check(
        &json!({ "prefixItems": [true], "items": { "type": "null" } }),
        &[json!([1, null])],
        &[json!([null, 1])],
    );
    check(&json!({ "prefixItems": [true], "items": false }), &[json!([1])], &[json!([1, 2])]);
    check(&json!({ "minItems": 1 }), &[json!([null])], &[json!([])]);
    check(&json!({ "maxItems": 1 }), &[json!([1]), json!("long")], &[json!([1, 2])]);
    check(
        &json!({ "uniqueItems": true }),
        &[json!([1, "1", [1], { "a": 1 }])],
        &[json!([{ "a": 1 }, { "a": 1.0 }])],
    );
    check(&json!({ "uniqueItems": false }), &[json!([1, 1])], &[]);
    check(&json!({ "contains": { "minimum": 5 } }), &[json!([1, 5])], &[json!([]), json!([1])]);
    check(&json!({ "contains": { "minimum": 5 }, "minContains": 2 }), &[json!([5, 6])], &[json!([5, 1])]);
    check(&json!({ "contains": { "minimum": 5 }, "minContains": 0 }), &[json!([]), json!([1])], &[]);
    check(
        &json!({ "contains": { "minimum": 5 }, "maxContains": 1 }),
        &[json!([5, 1])],
        &[json!([5, 6]), json!([])],
    );
    check(&json!({ "minContains": 2, "maxContains": 1 }), &[json!([])], &[]);
    check(
        &json!({ "allOf": [{ "prefixItems": [true] }], "unevaluatedItems": false }),
        &[json!([1])],
        &[json!([1, 2])],
    );
    check(
        &json!({ "contains": { "type": "string" }, "unevaluatedItems": { "type": "null" } }),
        &[json!(["a", null])],
        &[json!(["a", 1])],
    );
}

#[test]
fn objects() {
    check(
        &json!({ "properties": { "a": { "type": "null" } } }),
        &[json!({}), json!({ "b": 1 })],
        &[json!({ "a": 1 })],
    );
    check(&json!({ "required": ["a"] }), &[json!({ "a": null }), json!([])], &[json!({ "b": 1 })]);
    check(&json!({ "required": [] }), &[json!({})], &[]);
    check(&json!({ "minProperties": 1 }), &[json!({ "a": 1 })], &[json!({})]);
    check(&json!({ "maxProperties": 0 }), &[json!({}), json!([1])], &[json!({ "a": 1 })]);
    check(
        &json!({ "patternProperties": { "^n_": { "type": "number" } } }),
        &[json!({ "n_a": 1, "x": "y" })],
        &[json!({ "n_a": "1" })],
    );
    check(
        &json!({ "properties": { "a": true }, "patternProperties": { "^x": true }, "additionalProperties": false }),
        &[json!({ "a": 1, "x1": 2 })],
        &[json!({ "b": 1 })],
    );
    check(
        &json!({ "additionalProperties": { "type": "null" } }),
        &[json!({ "z": null })],
        &[json!({ "z": 1 })],
    );
    check(
        &json!({ "propertyNames": { "pattern": "^[a-z]+$" } }),
        &[json!({ "ab": 1 })],
        &[json!({ "A": 1 })],
    );
    check(&json!({ "propertyNames": false }), &[json!({})], &[json!({ "a": 1 })]);
    check(
        &json!({ "dependentRequired": { "a": ["b"] } }),
        &[json!({ "b": 1 }), json!({ "a": 1, "b": 2 })],
        &[json!({ "a": 1 })],
    );
    check(
        &json!({ "dependentSchemas": { "a": { "maxProperties": 1 } } }),
        &[json!({ "a": 1 }), json!({ "b": 1, "c": 2 })],
        &[json!({ "a": 1, "b": 2 })],
    );
    check(
        &json!({ "allOf": [{ "properties": { "a": true } }], "unevaluatedProperties": false }),
        &[json!({ "a": 1 })],
        &[json!({ "a": 1, "b": 2 })],
    );
}

#[test]
fn combinations() {
    check(&json!({ "allOf": [{ "minimum": 1 }, { "maximum": 3 }] }), &[json!(2)], &[json!(0), json!(4)]);
    check(
        &json!({ "anyOf": [{ "type": "string" }, { "minimum": 3 }] }),
        &[json!("a"), json!(3)],
        &[json!(2)],
    );
    check(
        &json!({ "oneOf": [{ "multipleOf": 2 }, { "multipleOf": 3 }] }),
        &[json!(2), json!(9)],
        &[json!(6), json!(5)],
    );
    check(&json!({ "not": { "type": "string" } }), &[json!(1)], &[json!("a")]);
    let branch = json!({ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 2 } });
    check(&branch, &[json!("ab"), json!(2)], &[json!("a"), json!(1)]);
    check(&json!({ "then": false, "else": false }), &[json!(1)], &[]);
    check(&json!({ "if": false, "then": false }), &[json!(1)], &[]);
}

#[test]
fn references() {
    let list = json!({
        "type": "object",
        "properties": { "list": { "$ref": "#/$defs/node" } },
        "$defs": { "node": {
            "type": "object",
            "properties": { "next": { "$ref": "#/$defs/node" }, "name": { "$ref": "#/$defs/na~1me%25" } },
            "additionalProperties": false
        }, "na/me%": { "type": "string" } }
    });
    assert_eq!(
        problems(&list, &json!({ "list": { "next": { "next": { "name": "x" } } } })),
        Vec::<String>::new()
    );
    assert_eq!(
        problems(&list, &json!({ "list": { "next": { "next": { "name": 1 } } } })),
        ["`list.next.next.name` must be a string, got the number 1"]
    );
    let named = json!({
        "type": "object",
        "$id": "https://tools.example/root",
        "properties": {
            "a": { "$ref": "#number" },
            "b": { "$ref": "part" },
            "c": { "$ref": "https://tools.example/part#/$defs/inner" },
            "d": { "$ref": "urn:tool:flag" },
            "e": { "$ref": "#/x-shared/size" },
            "f": { "$dynamicRef": "#number" },
            "g": { "$ref": "https://json-schema.org/draft/2020-12/schema" }
        },
        "x-shared": { "size": { "maximum": 9 } },
        "$defs": {
            "n": { "$dynamicAnchor": "number", "type": "number" },
            "p": { "$id": "part", "$ref": "#/$defs/inner", "$defs": { "inner": { "type": "string" } } },
            "f": { "$id": "urn:tool:flag", "type": "boolean" }
        }
    });
    let fits = json!({ "a": 1, "b": "x", "c": "y", "d": true, "e": 9, "f": 1.5, "g": { "type": "string" } });
    assert_eq!(problems(&named, &fits), Vec::<String>::new());
    let fails = json!({ "a": "1", "b": 1, "c": 1, "d": 1, "e": 10, "f": "1.5", "g": { "type": 7 } });
    assert_eq!(problems(&named, &fails).len(), 7, "{:?}", problems(&named, &fails));
}

#[test]
fn older_drafts_are_known_by_their_name() {
    let named = |draft: &str, schema: Value| {
        let mut schema = schema;
        schema["$schema"] = json!(draft);
        schema
    };
    let tuple = json!({ "type": "object", "properties": { "a": { "items": [{ "type": "string" }], "additionalItems": false } } });
    for draft in ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"] {
        let schema = named(draft, tuple.clone());
        assert_eq!(problems(&schema, &json!({ "a": ["x"] })), Vec::<String>::new());
        assert_eq!(problems(&schema, &json!({ "a": [1] })).len(), 1);
        assert_eq!(problems(&schema, &json!({ "a": ["x", 1] })).len(), 1);
    }
    let exclusive =
        json!({ "type": "object", "properties": { "a": { "minimum": 1, "exclusiveMinimum": true } } });
    let schema = named("http://json-schema.org/draft-04/schema#", exclusive);
    assert_eq!(problems(&schema, &json!({ "a": 1 })), ["`a` must be greater than 1, got 1"]);
    let anchored = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#text", "maxLength": 0 } },
        "definitions": { "t": { "$id": "#text", "type": "string" } }
    });
    let schema = named("http://json-schema.org/draft-06/schema#", anchored);
    assert_eq!(problems(&schema, &json!({ "a": "beside a reference nothing counts" })), Vec::<String>::new());
    assert_eq!(problems(&schema, &json!({ "a": 1 })).len(), 1);
}
