//! What holds for every text, every value and every schema.

use proptest::prelude::{
    BoxedStrategy, Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use proptest::{collection, option, sample};
use serde_json::{Value, json};

use crate::scale::cases;
use crate::schema::{
    ArgumentTextError, MAX_PROBLEMS, PatternRule, Schema, SchemaError, parse_object, parse_value,
};

fn text() -> impl Strategy<Value = String> {
    collection::vec(any::<char>(), 0..8).prop_map(String::from_iter)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            collection::vec((text(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Text that is nearly JSON: valid text with one piece cut, doubled or replaced.
fn nearly_json() -> impl Strategy<Value = String> {
    (value(), any::<sample::Index>(), any::<sample::Index>(), text()).prop_map(|(value, from, to, insert)| {
        let chars: Vec<char> = value.to_string().chars().collect();
        let (from, to) = (from.index(chars.len() + 1), to.index(chars.len() + 1));
        let mut mangled = String::from_iter(&chars[..from]);
        mangled.push_str(&insert);
        mangled.extend(&chars[to..]);
        mangled
    })
}

/// Texts that mean something in one place or another of a schema.
fn word() -> impl Strategy<Value = &'static str> {
    sample::select(vec![
        "a",
        "b",
        "value",
        "string",
        "object",
        "integer",
        "#",
        "#/$defs/a",
        "#a",
        "^a+$",
        "(?=a)",
    ])
}

fn of<V: Into<Value>, S: Strategy<Value = V>>(
    keywords: &[&'static str],
    values: S,
) -> impl Strategy<Value = (&'static str, Value)> + use<V, S> {
    (sample::select(keywords.to_vec()), values.prop_map(Into::into))
}

fn map_of(items: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    collection::vec((word(), items), 0..3).prop_map(|entries| {
        Value::Object(entries.into_iter().map(|(key, item)| (key.to_owned(), item)).collect())
    })
}

/// A keyword, most often with a value it may have.
fn keyword(schema: BoxedStrategy<Value>) -> impl Strategy<Value = (&'static str, Value)> {
    let schemas = ["items", "additionalProperties", "not", "if", "then", "else", "propertyNames", "contains"];
    let late = ["unevaluatedItems", "unevaluatedProperties", "contentSchema"];
    let maps =
        ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies"];
    let counts =
        ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "minContains", "maxContains"];
    let numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    let types = sample::select(vec!["string", "object", "integer", "array", "null"]);
    let name = || sample::select(vec!["a", "b", "value"]);
    let list = || collection::vec(word(), 0..3).prop_map(Value::from);
    let anything =
        prop_oneof![schema.clone(), list(), word().prop_map(Value::from), number(), map_of(list())];
    prop_oneof![
        3 => of(&schemas, schema.clone()),
        1 => of(&late, schema.clone()),
        3 => of(&["anyOf", "oneOf", "allOf", "prefixItems"], collection::vec(schema.clone(), 1..3)),
        3 => of(&maps, map_of(schema)),
        2 => of(&counts, 0..4_u64),
        2 => of(&numbers, 1..5_i64),
        2 => of(&["type"], types),
        1 => of(&["required"], name().prop_map(|name| vec![name])),
        1 => of(&["dependentRequired"], name().prop_map(|name| json!({ name: ["b"] }))),
        1 => of(&["enum", "examples"], list()),
        1 => of(&["const", "default", "x-own"], word()),
        1 => of(&["uniqueItems"], any::<bool>()),
        1 => of(&["pattern"], sample::select(vec!["^a+$", "(?!a)b", "x"])),
        1 => of(&["$ref"], sample::select(vec!["#", "#/definitions/a", "#/x-shared"])),
        1 => of(&["$anchor", "description", "format"], name()),
        1 => of(&[&schemas[..], &late, &maps, &counts, &numbers, &["type", "required", "$ref", "enum"]].concat(), anything),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![any::<bool>().prop_map(Value::from), Just(json!({})), Just(json!({ "type": "string" }))];
    let drafts = ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"];
    let any_schema = leaf.prop_recursive(4, 24, 3, |inner| {
        collection::vec(keyword(inner), 0..4).prop_map(|entries| {
            Value::Object(entries.into_iter().map(|(key, item)| (key.to_owned(), item)).collect())
        })
    });
    let pieces =
        (any_schema.clone(), any_schema.clone(), any_schema, option::of(sample::select(drafts.to_vec())));
    pieces.prop_map(|(value, shared, elsewhere, draft)| {
        let mut root = json!({
            "type": "object",
            "properties": { "value": value },
            "definitions": { "a": shared },
            "x-shared": elsewhere
        });
        if let Some(draft) = draft {
            root["$schema"] = json!(draft);
        }
        root
    })
}

/// The text of an object in which `key` comes twice, wrapped into `steps` of arrays and objects.
fn with_twice(key: &str, steps: &[Option<String>]) -> (String, String) {
    let key_text = Value::from(key).to_string();
    let mut text = format!("{{{key_text}:1,\"-\":[],{key_text}:{{}}}}");
    let mut path = vec![key.to_owned()];
    for step in steps {
        (text, path) = match step {
            None => (format!("[0,{text}]"), [vec!["1".to_owned()], path].concat()),
            Some(name) => {
                (format!("{{{}:{text}}}", Value::from(name.as_str())), [vec![name.clone()], path].concat())
            }
        };
    }
    let path = path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect();
    (text, path)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn reading_never_panics(text in prop_oneof![nearly_json(), ".*", "[\\[\\]{}\",:0-9eE.+\\- a-z\\\\]{0,40}"]) {
        if let Ok(read) = parse_value(&text) {
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok());
            prop_assert_eq!(parse_value(&read.to_string()).unwrap(), read);
        }
        if let Err(error) = parse_object(&text) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }

    #[test]
    fn what_was_written_is_read(value in value()) {
        prop_assert_eq!(parse_value(&value.to_string()).unwrap(), value);
    }

    #[test]
    fn a_key_twice_is_always_found(key in "[a-z/~é\"]{1,6}", steps in collection::vec(option::of("[a-z~/]{1,4}"), 0..6)) {
        let (text, path) = with_twice(&key, &steps);
        prop_assert_eq!(parse_value(&text), Err(ArgumentTextError::DuplicateKey { path }));
    }

    #[test]
    fn what_was_surveyed_compiles(schema in schema(), value in value(), more in value()) {
        let arguments = json!({ "value": value, "more": more });
        for rule in [PatternRule::Refuse, PatternRule::Relax] {
            match Schema::new(schema.clone(), rule) {
                Ok(checked) => {
                    let problems = checked.check(&arguments);
                    prop_assert!(problems.is_ok(), "{} {:?}", schema, problems);
                    prop_assert!(problems.unwrap().len() <= MAX_PROBLEMS + 1);
                }
                Err(SchemaError::Pattern { .. }) => prop_assert_eq!(rule, PatternRule::Refuse),
                Err(error) => prop_assert!(!error.to_string().contains('\n'), "{}", error),
            }
        }
    }

    #[test]
    fn the_survey_refuses_no_sound_schema(schema in schema()) {
        let compiled = jsonschema::options()
            .offline()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(&schema);
        let surveyed = Schema::new(schema.clone(), PatternRule::Refuse);
        if let (Ok(_), Err(error)) = (compiled, surveyed) {
            let meant = match &error {
                SchemaError::EndlessReference { .. } | SchemaError::DanglingReference { .. } => true,
                SchemaError::Pattern { .. } => true,
                // No meta-schema looks there, so the compiler takes what it can.
                SchemaError::Malformed { pointer, .. } => pointer.starts_with("/x-shared"),
                _ => false,
            };
            prop_assert!(meant, "{} {}", schema, error);
        }
    }

    #[test]
    fn a_relaxed_schema_allows_more(strict in schema(), value in value()) {
        let arguments = json!({ "value": value });
        // The default engine has look-around, so it can say what the pattern would have decided.
        let Ok(full) = jsonschema::options().offline().should_validate_formats(false).build(&strict) else {
            return Ok(());
        };
        if let Ok(relaxed) = Schema::new(strict.clone(), PatternRule::Relax)
            && full.is_valid(&arguments)
        {
            prop_assert_eq!(relaxed.check(&arguments), Ok(vec![]), "{}", strict);
        }
    }
}
