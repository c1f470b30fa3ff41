//! Secrets in JSON.

use proptest::collection::vec;
use std::sync::LazyLock;

use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use serde_json::{Value, json};
use toolroom::redact::{Patterns, Redactor, Secret};

use crate::scale::cases;

static REDACTOR: LazyLock<Redactor> = LazyLock::new(super::redactor);

fn check(value: &Value, expected: &Value) {
    let secrets = [Secret::new("NAME", "geheim/wort"), Secret::new("PIN", "1234567890")];
    let redactor = Redactor::new(secrets, Patterns::All);
    let mut redacted = value.clone();
    redactor.redact_value(&mut redacted);
    assert_eq!(&redacted, expected, "{value}");
    let again = redacted.clone();
    redactor.redact_value(&mut redacted);
    assert_eq!(redacted, again, "hidden twice");
}

#[test]
fn strings_names_and_numbers_are_redacted() {
    check(&json!("a geheim/wort b"), &json!("a [secret NAME] b"));
    check(&json!(["geheim%2Fwort", 1, null, true]), &json!(["[secret NAME]", 1, null, true]));
    check(&json!({"geheim/wort": {"geheim/wort": "x"}}), &json!({"[secret NAME]": {"[secret NAME]": "x"}}));
    check(&json!({"pin": 1_234_567_890_u64}), &json!({"pin": "[secret PIN]"}));
    check(&json!([991_234_567_890_u64, -1_234_567_890_i64]), &json!(["99[secret PIN]", "-[secret PIN]"]));
    check(&json!(4_111_111_111_111_111_u64), &json!("[redacted payment card]"));
    check(&json!([1_234_567_891, 0.5, 1e300]), &json!([1_234_567_891, 0.5, 1e300]));
}

#[test]
fn names_stay_different_and_in_order() {
    check(
        &json!({"z": 0, "geheim/wort": 1, "geheim%2Fwort": 2, "[secret NAME] 2": 3, "a": 4}),
        &json!({"z": 0, "[secret NAME]": 1, "[secret NAME] 2": 2, "[secret NAME] 2 2": 3, "a": 4}),
    );
    let many: serde_json::Map<String, Value> =
        (0..20_000).map(|n| (format!("geheim/wort{n}x"), n.into())).collect();
    let redactor = Redactor::new([Secret::new("NAME", "geheim/wort")], Patterns::None);
    let mut value = Value::Object(many);
    redactor.redact_value(&mut value);
    assert_eq!(value.as_object().unwrap().len(), 20_000);
}

#[test]
fn a_string_is_judged_by_its_name() {
    check(&json!({"password": "hunter2hunter2"}), &json!({"password": "[redacted password]"}));
    check(&json!({"dbPassword": "P(ss) w0rd 12"}), &json!({"dbPassword": "P(ss) w0rd 12"}));
    check(&json!({"API_KEY": "abcdefgh"}), &json!({"API_KEY": "[redacted api key]"}));
    check(&json!({"token": "geheim/wort12"}), &json!({"token": "[secret NAME]"}));
    check(&json!({"token": "12geheim/wort"}), &json!({"token": "[redacted token]"}));
    for value in [
        json!({"password": {"type": "string", "description": "the password of 12 users"}}),
        json!({"nextPageToken": "a1b2c3d4e5"}),
        json!({"token": "expression"}),
        json!({"token_type": "bearer12345"}),
        json!({"password": "[redacted password]"}),
        json!({"secret": "${SECRET_12}"}),
    ] {
        check(&value, &value);
    }
}

#[test]
fn depth_is_no_danger() {
    let mut deep = json!("geheim/wort");
    for _ in 0..100_000 {
        deep = Value::Array(vec![deep]);
    }
    Redactor::new([Secret::new("NAME", "geheim/wort")], Patterns::All).redact_value(&mut deep);
    while let Value::Array(items) = &mut deep {
        deep = items.pop().unwrap();
    }
    assert_eq!(deep, "[secret NAME]");
}

fn harmless() -> impl Strategy<Value = Value> {
    let text =
        || prop_oneof!["[a-zäöü .,;:!?\\n\"\\\\]{0,30}", "[0-9a-f]{8}-[0-9a-f]{4}", "(/[a-z]{1,8}){1,4}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-1_000_000_i64..1_000_000).prop_map(Value::from),
        (0.0..1.0_f64).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::from),
            vec((text(), inner), 0..6).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_value_without_secrets_is_never_changed(value in harmless()) {
        let mut redacted = value.clone();
        REDACTOR.redact_value(&mut redacted);
        prop_assert_eq!(redacted, value);
    }
}
