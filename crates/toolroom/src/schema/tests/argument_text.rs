//! The odd cases of argument text, each with its stated outcome.

use serde_json::json;

use crate::schema::{ArgumentTextError, MAX_DEPTH, MAX_TEXT_BYTES, bounds, parse_object, parse_value};

fn refusal(text: &str) -> String {
    parse_object(text).unwrap_err().to_string()
}

#[test]
fn no_arguments() {
    for text in ["", " ", "\n\t", "null", " null ", "{}", "{ }"] {
        assert!(parse_object(text).unwrap().is_empty(), "{text:?}");
    }
    assert_eq!(parse_value("null").unwrap(), json!(null));
    assert!(parse_value("").is_err());
}

#[test]
fn only_objects() {
    let cases = [
        ("[1]", "the arguments must be a JSON object, got the array [1]"),
        ("\"{}\"", "the arguments must be a JSON object, got the string \"{}\""),
        ("5", "the arguments must be a JSON object, got the number 5"),
        ("false", "the arguments must be a JSON object, got the boolean false"),
    ];
    for (text, expected) in cases {
        assert_eq!(refusal(text), expected);
    }
}

#[test]
fn a_key_comes_once() {
    let cases = [
        (r#"{"a":1,"a":1}"#, "/a"),
        (r#"{"a":{"b":[0,{"c":1,"d":2,"c":3}]}}"#, "/a/b/1/c"),
        (r#"{"x/y":[[{"~":1,"~":2}]]}"#, "/x~1y/0/0/~0"),
        (r#"{"a":1,"\u0061":2}"#, "/a"),
    ];
    for (text, path) in cases {
        assert_eq!(refusal(text), format!("the arguments give `{path}` twice; give it once"));
    }
    assert!(parse_object(r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#).is_ok());
}

#[test]
fn whole_numbers_keep_their_digits() {
    for literal in ["9007199254740993", "18446744073709551615", "-9223372036854775808", "0", "-1"] {
        assert_eq!(parse_value(literal).unwrap().to_string(), literal);
    }
    let cases = [
        (r#"{"n":18446744073709551616}"#, "18446744073709551616", 1, 6),
        (
            "{\"s\":\"1e1\\\"18446744073709551617\",\n \"n\": -9223372036854775809}",
            "-9223372036854775809",
            2,
            7,
        ),
    ];
    for (text, literal, line, column) in cases {
        assert_eq!(
            refusal(text),
            format!(
                "the whole number `{literal}` at line {line} column {column} does not fit 64 bits; pass it as text"
            )
        );
    }
    let digits = "9".repeat(400);
    assert!(
        matches!(parse_value(&digits), Err(ArgumentTextError::NotJson { .. })),
        "serde_json refuses it first"
    );
    assert_eq!(
        parse_value("[1e30,18446744073709551616.0,\"99999999999999999999\"]").unwrap()[0],
        json!(1e30)
    );
}

#[test]
fn broken_text_is_shown_where_it_breaks() {
    assert_eq!(
        refusal("{\"city\": \"Rome\",\n \"days\": three}"),
        "the arguments are not valid JSON at line 2 column 11, near ` \"days\": three}`: expected ident"
    );
    assert_eq!(
        refusal("{\"a\": 1"),
        "the arguments are not valid JSON at line 1 column 7, near `{\"a\": 1`: EOF while parsing an object"
    );
    for text in [
        "{} {}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":01}",
        "{'a':1}",
        "{\"a\":1,}",
        "{\"a\":NaN}",
        "\u{feff}{}",
        "{\"a\":1e999}",
    ] {
        assert!(matches!(parse_object(text), Err(ArgumentTextError::NotJson { .. })), "{text}");
    }
}

#[test]
fn bounds_hold() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let deepest = parse_value(&nested(MAX_DEPTH)).unwrap();
    assert_eq!(bounds(&deepest), Ok(()));
    assert_eq!(parse_value(&nested(MAX_DEPTH + 1)), Err(ArgumentTextError::TooDeep));
    assert_eq!(bounds(&json!([deepest])), Err(ArgumentTextError::TooDeep));
    assert_eq!(parse_object(&"[".repeat(1_000_000)), Err(ArgumentTextError::TooDeep));
    assert_eq!(
        parse_object(&"{\"a\":".repeat(1_000_000)),
        Err(ArgumentTextError::TooLong { bytes: 5_000_000 })
    );
    let blank = " ".repeat(MAX_TEXT_BYTES + 1);
    assert_eq!(parse_object(&blank), Err(ArgumentTextError::TooLong { bytes: MAX_TEXT_BYTES + 1 }));
}
