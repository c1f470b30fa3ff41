//! Compilation for the kernel.

use std::time::Duration;

use toolroom::catalog::LimitMode;
use toolroom::policy::{Preset, Ruling};
use toolroom::tool::ToolSpec;

use super::{flags, trusted, untrusted, user};
use crate::config::{CompiledConfig, Layer};

fn compiled(layers: &[Layer]) -> CompiledConfig {
    CompiledConfig::of(layers).unwrap_or_else(|error| panic!("{error}"))
}

fn wrong(layers: &[Layer]) -> Vec<String> {
    CompiledConfig::of(layers).unwrap_err().problems.iter().map(ToString::to_string).collect()
}

fn rule(id: &str, effect: &str, rest: &str) -> String {
    format!("[[rule]]\nid = '{id}'\neffect = '{effect}'\ntool = 'send'\n{rest}\n")
}

/// `id: ruling` of every rule that decides.
fn rules(compiled: &CompiledConfig) -> Vec<String> {
    let rules = compiled.policy.rules().iter();
    rules.map(|rule| format!("{}: {}", rule.id(), rule.text().effect.as_str())).collect()
}

#[test]
fn rules_of_a_file_that_is_not_trusted_only_narrow() {
    let theirs = [rule("a", "allow", ""), rule("b", "ask", ""), rule("c", "deny", "")].concat();
    let theirs = format!("[policy]\npreset = 'open'\n{theirs}");
    let ours = user(&rule("d", "allow", ""));
    let narrow = compiled(&[ours.clone(), untrusted(&theirs)]);
    assert_eq!(rules(&narrow), ["d: allow", "b: ask", "c: deny"]);
    assert_eq!(narrow.policy.preset(), Preset::Balanced);
    let wide = compiled(&[ours, trusted(&theirs)]);
    assert_eq!(rules(&wide), ["d: allow", "a: allow", "b: ask", "c: deny"]);
    assert_eq!(wide.policy.preset(), Preset::Open);
    assert_eq!(compiled(&[]).policy.rules().len(), 0);
}

#[test]
fn limits_keep_their_order_and_their_mode() {
    let section = |timeout: &str| format!("[tool.'app:*']\ntimeout = '{timeout}'\n");
    let limits =
        compiled(&[untrusted(&section("2s")), flags(&["tool.send.timeout=3s"]), user(&section("1s"))]).limits;
    let told: Vec<_> = limits
        .iter()
        .map(|rule| (rule.tools.to_string(), rule.limits.timeout.unwrap().as_secs(), rule.mode))
        .collect();
    assert_eq!(
        told,
        [
            ("app:*".to_owned(), 1, LimitMode::Replace),
            ("app:*".to_owned(), 2, LimitMode::Narrow),
            ("send".to_owned(), 3, LimitMode::Replace),
        ]
    );
    assert_eq!(limits[0].limits.timeout, Some(Duration::from_secs(1)));
}

#[test]
fn every_invalid_rule_is_reported_with_position_and_cause() {
    let theirs = [
        rule("fine", "ask", "match = [{ args = { to = 'x' } }]"),
        rule("odd when", "deny", ""),
        rule("when", "deny", "when = 'args.('"),
        rule("by", "allow", "by = 'operator'"),
        rule("shown", "ask", "when = \"args.to == 'a'\"\nmatch = [{ args = { to = 'b' } }]"),
        rule("default.write", "deny", ""),
    ]
    .concat();
    assert_eq!(
        wrong(&[untrusted(&theirs), user(&rule("ours", "deny", "when = \"args.\\u001b == 1\""))]),
        [
            "user.toml:1: the `when` of rule `ours` cannot be used: unexpected character `\\u{1b}` at character 6",
            "project.toml:6: `odd when` cannot be the id of a rule: \
             it may hold the letters a to z, digits, `.`, `_` and `-`",
            "project.toml:11: the `when` of rule `when` cannot be used: \
             expected a name after `.`, found `(` at character 6",
            "project.toml:16: rule `by` has a `by` but does not ask; remove `by` or set `effect = \"ask\"`",
            "project.toml:21: rule `shown` fails example 1 of its `match`; change the example or the rule: \
             the condition is false for it",
            "project.toml:27: `default.write` cannot be the id of a rule: \
             that prefix is reserved for built-in rules; choose another",
        ]
    );
}

#[test]
fn examples_are_bounded_because_each_is_judged() {
    let with = |first: usize, second: usize| {
        let examples = |count: usize| format!("match = [{}]", "{}, ".repeat(count));
        [rule("a", "ask", &examples(first)), rule("b", "ask", &examples(second))].concat()
    };
    assert_eq!(rules(&compiled(&[user(&with(1_000, 1_000))])).len(), 2);
    let problems = wrong(&[user(&with(1_000, 1_001))]);
    assert_eq!(problems, ["user.toml:6: rules have more than 2000 examples from here on; remove some"]);
}

#[test]
fn rule_ids_are_unique_across_files() {
    let (ours, theirs) = (user(&rule("a", "deny", "")), rule("a", "ask", ""));
    for layer in [untrusted(&theirs), trusted(&theirs)] {
        assert_eq!(
            wrong(&[ours.clone(), layer]),
            ["project.toml:1: `rule.id` \"a\" is already the id of the rule at user.toml:1"]
        );
    }
    assert_eq!(compiled(&[ours]).policy.rules()[0].text().effect, Ruling::Deny);
}

#[test]
fn a_tool_gets_the_general_openings_and_its_last_list() {
    let text = "[network]\nopen = ['printer.lan']\n[tool.'web*']\nopen = ['10.0.0.0/8']\n[tool.web_fetch]\n\
                open = ['localhost:11434']\n[tool.fetch_url]\nopen = []\n";
    let openings = compiled(&[user(text)]).openings;
    let of = |id: &str| {
        let spec = ToolSpec::new(id, "").unwrap();
        openings.of(&spec).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(of("builtin:web-fetch"), ["printer.lan", "10.0.0.0/8"]);
    assert_eq!(of("builtin:web_fetch"), ["printer.lan", "localhost:11434"]);
    assert_eq!(of("builtin:fetch_url"), ["printer.lan"]);
    assert_eq!(of("builtin:calculator"), ["printer.lan"]);
    assert!(
        compiled(&[untrusted(text)]).openings.of(&ToolSpec::new("builtin:web_fetch", "").unwrap()).is_empty()
    );
}
