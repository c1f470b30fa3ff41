//! The policy as an embedder uses it: written rules and their verdicts.

use serde_json::{Value, json};
use toolroom::clock::Timestamp;
use toolroom::ledger::{AnswerId, Answerer, CallId, StandingAnswer};
use toolroom::policy::{
    Answers, Condition, Facts, Policy, Preset, Provenance, Rule, RuleText, Ruling, ToolPattern, Verdict,
    rule_text_of,
};
use toolroom::scope::Scope;
use toolroom::tool::{Arguments, Capability, Effect, Risk, ToolSpec};

/// The rules of a small shop.
fn shop() -> Policy {
    let rules: Vec<RuleText> = serde_json::from_value(json!([
        {
            "id": "small-orders", "effect": "allow", "tool": "shop:place_order", "when": "args.amount <= 50",
            "match": [{"args": {"amount": 50}}], "not_match": [{"args": {"amount": 51}}],
        },
        {
            "id": "large-orders", "effect": "ask", "tool": "shop:place_order", "when": "args.amount > 1000",
            "by": "operator", "reason": "orders above 1000 are for Eve",
            "match": [{"args": {"amount": 1001}}], "not_match": [{"args": {"amount": 1000}}],
        },
        {
            "id": "no-strangers", "effect": "deny", "tool": "shop:*", "when": "caller.user == null",
            "match": [{"tool": "shop:place_order"}],
            "not_match": [{"tool": "shop:place_order", "caller": {"user": "ann"}}],
        },
        {
            "id": "own-mail", "effect": "allow", "tool": "mcp:office:send_mail",
            "when": "ends_with(args.to, '@shop.example') and not provenance.untrusted",
            "not_match": [{"args": {"to": "eve@evil.example"}}],
        },
    ]))
    .unwrap();
    let rules = rules.into_iter().map(Rule::new).collect::<Result<_, _>>().unwrap();
    Policy::new(Preset::Balanced, rules).unwrap()
}

fn order() -> ToolSpec {
    let spec = ToolSpec::new("shop:place_order", "Order something").unwrap();
    spec.effect(Effect::OnceOnlyWrite).capabilities(&[Capability::Writes]).risk(Risk::Medium)
}

fn mail() -> ToolSpec {
    let spec = ToolSpec::new("mcp:office:send_mail", "Send an email").unwrap();
    spec.effect(Effect::OnceOnlyWrite).capabilities(&[Capability::Egress]).risk(Risk::Medium)
}

fn object(arguments: &Value) -> Arguments {
    arguments.as_object().unwrap().clone()
}

/// The verdict on a call of user `ann`.
fn judge(
    policy: &Policy,
    spec: &ToolSpec,
    arguments: &Value,
    run: Provenance,
    answers: &[StandingAnswer],
) -> Verdict {
    let (arguments, scope) = (object(arguments), Scope::user("local", "ann"));
    let facts = Facts {
        spec,
        arguments: &arguments,
        scope: &scope,
        entrance: "cli",
        thread: Some("t1"),
        provenance: run,
        origin: None,
        destination: None,
        definition: "d1",
    };
    policy.verdict(&facts, &Answers::new(answers.to_vec()))
}

#[test]
fn a_shop_is_guarded_by_its_rules_and_where_they_end_by_the_preset() {
    let reads_mail = Provenance { private: true, untrusted: true, ..Provenance::NONE };
    let check = |spec: ToolSpec, arguments: Value, run, expected: &str| {
        let verdict = judge(&shop(), &spec, &arguments, run, &[]);
        let told = format!("{} {}", verdict.ruling.as_str(), verdict.rule);
        assert_eq!(told, expected, "{} {arguments}", spec.id);
    };
    check(order(), json!({"amount": 20}), Provenance::NONE, "allow small-orders");
    check(order(), json!({"amount": 500}), Provenance::NONE, "ask default.write");
    check(order(), json!({"amount": 5000}), Provenance::NONE, "ask large-orders");
    check(order(), json!({"amount": "5000"}), Provenance::NONE, "deny small-orders");
    check(mail(), json!({"to": "bob@shop.example"}), Provenance::NONE, "allow own-mail");
    check(mail(), json!({"to": "bob@shop.example"}), reads_mail, "ask default.write");
    check(mail(), json!({"to": "bob@evil.example"}), Provenance::NONE, "ask default.write");

    let verdict = judge(&shop(), &order(), &json!({"amount": 5000}), Provenance::NONE, &[]);
    assert_eq!(verdict.by, Answerer::Operator);
    assert!(verdict.reason.starts_with("orders above 1000 are for Eve; "), "{}", verdict.reason);
}

fn always(lifts: &str, when: Option<&str>) -> StandingAnswer {
    StandingAnswer {
        id: AnswerId::new("ans_1"),
        scope: Scope::user("local", "ann"),
        effect: Ruling::Allow,
        tool: "shop:place_order".into(),
        when: when.map(str::to_owned),
        lifts: Some(lifts.to_owned()),
        definition: Some("d1".into()),
        thread: None,
        destination: None,
        call: CallId::new("call_1"),
        by: Answerer::Caller,
        at: Timestamp::from_micros(0),
    }
}

#[test]
fn an_answer_changes_what_is_asked_and_can_be_taken_for_a_rule() {
    let answer = always("default.write", Some("args.amount < 600"));
    let run = Provenance::NONE;
    let verdict = judge(&shop(), &order(), &json!({"amount": 500}), run, std::slice::from_ref(&answer));
    assert_eq!((verdict.ruling, verdict.rule.as_ref()), (Ruling::Allow, "ans_1"));
    let verdict = judge(&shop(), &order(), &json!({"amount": 700}), run, std::slice::from_ref(&answer));
    assert_eq!((verdict.ruling, verdict.rule.as_ref()), (Ruling::Ask, "default.write"));

    let mut rules = shop().rules().to_vec();
    rules.push(Rule::new(rule_text_of(&answer)).unwrap());
    let policy = Policy::new(Preset::Balanced, rules).unwrap();
    assert_eq!(judge(&policy, &order(), &json!({"amount": 500}), run, &[]).rule, "ans_1");
}

#[test]
fn a_verdict_can_be_explained() {
    let (spec, arguments, scope) = (order(), object(&json!({"amount": 500})), Scope::user("local", "ann"));
    let facts = Facts {
        spec: &spec,
        arguments: &arguments,
        scope: &scope,
        entrance: "cli",
        thread: None,
        provenance: Provenance::NONE,
        origin: None,
        destination: None,
        definition: "d1",
    };
    let trace = shop().trace(&facts, &Answers::default());
    assert_eq!(trace.verdict.rule, "default.write");
    let tried: Vec<Value> = trace.tried.iter().map(|tried| json!(tried)).collect();
    assert_eq!(tried[0], json!({"rule": "small-orders", "effect": "allow", "finding": "condition_false"}));
    assert_eq!(tried[3], json!({"rule": "own-mail", "effect": "allow", "finding": "other_tool"}));
    let fired = json!({"rule": "default.write", "effect": "ask", "finding": "fired"});
    assert!(tried.contains(&fired), "{tried:?}");
}

#[test]
fn conditions_and_patterns_stand_on_their_own() {
    assert!(Condition::parse("args.path contains '..'").is_ok());
    let error = Condition::parse("arsg.path == 1").err().unwrap();
    assert!(error.to_string().contains("did you mean `args`?"), "{error}");
    assert!(ToolPattern::parse("shop:*").unwrap().matches(&order()));
    assert!(!ToolPattern::parse("shop:*").unwrap().matches(&mail()));
}
