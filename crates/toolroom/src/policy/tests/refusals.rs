//! Rules that are not taken, and what is said about them.

use serde_json::{Value, json};

use super::{plain, rule, when};
use crate::policy::{Policy, Preset, Rule, RuleText};
use crate::tool::causes;

/// A rule about `app:note` with something added or changed.
fn with(changes: &Value) -> RuleText {
    let mut text = plain("mine", "ask");
    text.as_object_mut().unwrap().append(&mut changes.as_object().unwrap().clone());
    rule(text)
}

#[test]
fn what_is_wrong_with_a_rule_is_told() {
    let long = "x".repeat(101);
    let table = [
        (with(&json!({"id": ""})), "`` cannot be the id of a rule: it is empty"),
        (with(&json!({"id": long})), "longer than 100 characters"),
        (with(&json!({"id": "my rule"})), "`my rule` cannot be the id of a rule: it may hold the letters"),
        (with(&json!({"id": "dеfault"})), "it may hold the letters a to z"),
        (with(&json!({"id": "default"})), "that prefix is reserved for built-in rules; choose another"),
        (with(&json!({"id": "default.exec"})), "reserved for built-in rules"),
        (with(&json!({"id": "provenance.third"})), "reserved for built-in rules"),
        (with(&json!({"id": "tool.judge"})), "reserved for built-in rules"),
        (with(&json!({"tool": ""})), "the `tool` of rule `mine` cannot be used: the pattern is empty"),
        (with(&json!({"tool": "a\nb"})), "control character"),
        (with(&json!({"tool": "a*".repeat(129)})), "longer than 256 bytes"),
        (with(&json!({"when": ""})), "the `when` of rule `mine` cannot be used: the expression is empty"),
        (with(&json!({"when": "args.x = = 1"})), "at character"),
        (with(&json!({"when": "argv.x == 1"})), "unknown name `argv`, did you mean `args`?"),
        (with(&json!({"when": "now > 1"})), "known names: `args`, `caller`, `provenance`, `tool`"),
        (with(&json!({"when": "'yes'"})), "the condition gave text, expected a bool"),
        (with(&json!({"effect": "deny", "by": "operator"})), "rule `mine` has a `by` but does not ask"),
        (with(&json!({"effect": "allow", "by": "caller"})), "rule `mine` has a `by` but does not ask"),
        (with(&json!({"reason": "x".repeat(501)})), "the `reason` of rule `mine` is longer than 500"),
        (with(&json!({"reason": "one\ntwo"})), "the `reason` of rule `mine` holds a control character"),
    ];
    for (text, told) in table {
        let error = Rule::new(text.clone()).unwrap_err();
        assert!(causes(&error).contains(told), "{text:?}: {}", causes(&error));
    }
}

#[test]
fn a_rule_has_to_do_with_its_examples_what_they_say() {
    let amount = |changes: &Value| {
        let mut text = with(changes);
        text.when = Some("args.amount > 100".to_owned());
        text
    };
    let fine = json!({
        "match": [{"args": {"amount": 101}}, {"tool": "app:note", "args": {"amount": 101}}],
        "not_match": [{"args": {"amount": 100}}, {"tool": "app:other"}],
    });
    assert!(Rule::new(amount(&fine)).is_ok());
    let table = [
        (
            amount(&json!({"match": [{"args": {"amount": 101}}, {"args": {"amount": 100}}]})),
            "rule `mine` fails example 2 of its `match`; change the example or the rule: the condition is false",
        ),
        (
            amount(&json!({"not_match": [{"args": {"amount": 101}}]})),
            "rule `mine` fails example 1 of its `not_match`; change the example or the rule: the rule applies",
        ),
        (amount(&json!({"match": [{"tool": "app:other"}]})), "the rule is not about the tool `app:other`"),
        (amount(&json!({"match": [{}]})), "`>` needs"),
        (amount(&json!({"not_match": [{}]})), "`>` needs"),
        (
            with(&json!({"tool": "app:*", "match": [{}]})),
            "it needs a `tool`, because that of the rule is a pattern",
        ),
        (with(&json!({"tool": "app:*", "not_match": [{}]})), "it needs a `tool`"),
    ];
    for (text, told) in table {
        let error = Rule::new(text.clone()).unwrap_err();
        assert!(causes(&error).contains(told), "{text:?}: {}", causes(&error));
    }
}

#[test]
fn examples_describe_tool_caller_and_run() {
    let table = [
        ("caller.user == 'ann'", json!({"caller": {"user": "ann"}}), json!({"caller": {"project": "ann"}})),
        ("caller.project == 'local'", json!({}), json!({"caller": {"project": "shop"}})),
        ("caller.entrance == 'cli'", json!({"caller": {"entrance": "cli"}}), json!({})),
        ("provenance.untrusted", json!({"provenance": {"untrusted": true}}), json!({})),
        ("tool.effect == 'destructive'", json!({}), json!({"effect": "read"})),
        ("'exec' in tool.capabilities", json!({}), json!({"capabilities": ["egress"]})),
        ("tool.risk == 'high'", json!({"risk": "high"}), json!({})),
        ("tool.name == 'note'", json!({}), json!({"tool": "mcp:x:note2"})),
    ];
    for (condition, matching, other) in table {
        let mut text = rule(when("mine", "ask", condition));
        text.matches = vec![serde_json::from_value(matching).unwrap()];
        text.not_matches = vec![serde_json::from_value(other).unwrap()];
        assert!(Rule::new(text.clone()).is_ok(), "{condition}: {:?}", Rule::new(text));
    }
    for tool in ["app:note", "note", "a family", "mcp:server:what ever", "dir/note"] {
        let text = with(&json!({"tool": tool, "match": [{}], "not_match": [{"tool": "else"}]}));
        assert!(Rule::new(text.clone()).is_ok(), "{tool}: {:?}", Rule::new(text));
    }
}

#[test]
fn two_rules_have_two_names() {
    let rules =
        vec![Rule::new(with(&json!({}))).unwrap(), Rule::new(with(&json!({"effect": "deny"}))).unwrap()];
    let error = Policy::new(Preset::Open, rules).unwrap_err();
    assert_eq!(error.to_string(), "two rules have the id `mine`; rename one of them");
}

#[test]
fn a_rule_keeps_its_text() {
    let text = with(&json!({"reason": "why", "by": "operator", "match": [{"args": {"x": 1}}]}));
    assert_eq!(Rule::new(text.clone()).unwrap().text(), &text);
}

#[test]
fn every_example_can_be_tried_even_if_the_first_one_fails() {
    let mut text = with(&json!({
        "match": [{"args": {"amount": 5}}, {"args": {"amount": 200}}, {}], "not_match": [{"args": {"amount": 200}}],
    }));
    text.when = Some("args.amount > 100".to_owned());
    let tried = Rule::try_examples(text.clone()).unwrap();
    let told: Vec<String> = tried
        .iter()
        .map(|example| match &example.result {
            Ok(()) => format!("{} {} ok", example.list, example.number),
            Err(error) => format!("{} {} {}", example.list, example.number, causes(error)),
        })
        .collect();
    assert_eq!(told.len(), 4);
    assert_eq!(told[0], "match 1 the condition is false for it");
    assert_eq!(told[1], "match 2 ok");
    assert!(told[2].starts_with("match 3 `>` needs"), "{told:?}");
    assert_eq!(told[3], "not_match 1 the rule applies to it");
    text.when = Some("(".to_owned());
    assert!(Rule::try_examples(text).is_err());
}
