//! How rules, the preset and the guard decide together.

use serde_json::json;

use super::{Scene, never, note, plain, rule, shell, when, yes, yes_here};
use crate::ledger::Answerer;
use crate::policy::{Finding, Policy, Preset, Provenance, Rule, Ruling};
use crate::tool::{Capability, Effect, ToolSpec};

fn check(scene: &Scene, expected: &str) {
    assert_eq!(scene.summary(), expected, "{:#?}", scene.rules);
}

#[test]
fn deny_is_before_ask_is_before_allow_and_order_settles_the_rest() {
    let all = Scene::new(note())
        .rule(plain("allow", "allow"))
        .rule(plain("ask", "ask"))
        .rule(plain("deny", "deny"))
        .rule(plain("deny2", "deny"));
    check(&all, "deny deny");
    check(&Scene { rules: all.rules[..2].to_vec(), ..all.clone() }, "ask ask");
    check(&Scene { rules: all.rules[..1].to_vec(), ..all.clone() }, "allow allow");
    check(&Scene { rules: Vec::new(), ..all }, "allow default");

    let two = Scene::new(note()).rule(plain("first", "ask")).rule(plain("second", "ask"));
    check(&two, "ask first");
    let strict = json!({"id": "op", "effect": "ask", "tool": "*", "by": "operator", "reason": "ask Eve"});
    let verdict = two.rule(strict).verdict();
    let told = (verdict.rule.as_ref(), verdict.by, verdict.reason.as_str());
    assert_eq!(told, ("op", Answerer::Operator, "ask Eve"));
}

#[test]
fn a_foreign_tool_is_allowed_by_its_id_and_forbidden_by_any_name() {
    let foreign = |id: &str| Scene::new(ToolSpec::new(id, "").unwrap().effect(Effect::Pure));
    let with = |id: &str, effect: &str, tool: &str| {
        foreign(id).rule(json!({"id": "x", "effect": effect, "tool": tool})).verdict().rule.to_string()
    };
    assert_ne!(with("mcp:evil:read_file", "allow", "read_file"), "x");
    assert_ne!(with("mcp:evil:builtin:read_file", "allow", "builtin:read_file"), "x");
    assert_ne!(with("mcp:evil:builtin:read_file", "allow", "builtin:*"), "x");
    assert_eq!(with("mcp:evil:read_file", "allow", "mcp:evil:read_file"), "x");
    assert_eq!(with("mcp:evil:read_file", "allow", "mcp:evil:*"), "x");
    assert_eq!(with("mcp:evil:read_file", "deny", "read_file"), "x");
    assert_eq!(with("app:read_file", "allow", "read_file"), "x");
}

#[test]
fn a_rule_is_about_its_tools_and_its_condition() {
    let scene = Scene::new(note()).argument("amount", 5);
    check(&scene.clone().rule(json!({"id": "x", "effect": "deny", "tool": "app:other"})), "allow default");
    check(&scene.clone().rule(json!({"id": "x", "effect": "deny", "tool": "app:*"})), "deny x");
    check(&scene.clone().rule(when("x", "deny", "args.amount > 5")), "allow default");
    check(&scene.clone().rule(when("x", "deny", "args.amount > 4")), "deny x");
    check(
        &scene.clone().rule(when("x", "deny", "caller.user == 'ann' and caller.entrance == 'cli'")),
        "deny x",
    );
    check(&scene.rule(when("x", "deny", "tool.effect != 'pure'")), "allow default");
}

#[test]
fn a_condition_that_cannot_be_evaluated_denies_under_every_effect() {
    for effect in ["allow", "ask", "deny"] {
        for condition in ["args.missing > 1", "args.text", "1 / args.zero == 1"] {
            let scene = Scene::new(note()).argument("text", "x").argument("zero", 0);
            let scene = scene.rule(plain("yes", "allow")).rule(when("guard", effect, condition));
            check(&scene, "deny guard");
            let reason = scene.verdict().reason;
            assert!(reason.starts_with("rule `guard` cannot be evaluated: "), "{reason}");
        }
    }
    let long = "x".repeat(2_000_000);
    let costly = format!("len([{}]) == 0", vec!["args.text contains 'y'"; 100].join(", "));
    let costly = Scene::new(note()).argument("text", long).rule(when("limit", "allow", &costly));
    check(&costly, "deny limit");
    assert!(costly.verdict().reason.contains("share are used up"), "{}", costly.verdict().reason);
    let elsewhere = json!({"id": "x", "effect": "allow", "tool": "app:other", "when": "args.missing > 1"});
    check(&Scene::new(note()).rule(elsewhere), "allow default");
}

#[test]
fn an_explicit_allow_stands_in_for_the_preset() {
    check(&Scene::new(shell()), "ask default.exec");
    check(&Scene::new(shell()).rule(plain("fine", "allow")), "allow fine");
    check(&Scene::new(shell()).rule(when("fine", "allow", "args.command == 'ls'")), "ask default.exec");
    let open = Scene { preset: Preset::Open, ..Scene::new(shell()) };
    check(&open, "allow default");
}

#[test]
fn a_rules_words_do_not_hide_why_the_room_would_ask() {
    let scene = Scene::new(shell())
        .rule(json!({"id": "x", "effect": "ask", "tool": "*", "reason": "say yes to mend the build"}));
    check(&scene, "ask x");
    assert_eq!(scene.verdict().reason, "say yes to mend the build; `note` starts programs");
}

fn sender() -> ToolSpec {
    note().effect(Effect::Read).capabilities(&[Capability::Egress])
}

const READ_BOTH: Provenance = Provenance { private: true, untrusted: true, ..Provenance::NONE };

#[test]
fn an_outward_call_after_both_were_read_asks_even_if_allowed() {
    let scene = Scene::new(sender());
    check(&scene, "allow default");
    let scene = scene.provenance(READ_BOTH);
    check(&scene, "ask provenance.third");
    check(&scene.clone().rule(plain("fine", "allow")), "ask provenance.third");
    check(&scene.clone().rule(when("fine", "allow", "provenance.private")), "allow fine");
    check(&scene.clone().rule(when("fine", "allow", "not provenance.private")), "ask provenance.third");
    check(&scene.clone().rule(when("no", "deny", "provenance.untrusted")), "deny no");
    check(&scene.clone().rule(plain("ask", "ask")), "ask ask");
    let reader = Scene::new(note().effect(Effect::Read).capabilities(&[Capability::ReadsUntrusted]));
    let sent = Provenance { private: true, outward: true, ..Provenance::NONE };
    check(&reader.clone().provenance(sent), "allow default");
    check(&reader.provenance(Provenance { outward: true, ..READ_BOTH }), "allow default");
}

#[test]
fn the_third_is_lifted_for_a_conversation_and_never_for_good() {
    let scene = Scene::new(sender()).provenance(READ_BOTH);
    check(&scene.clone().answer(yes_here("provenance.third")), "allow ans_yes_provenance.third");
    check(&scene.clone().answer(yes("provenance.third")), "ask provenance.third");
    let elsewhere = Scene { thread: Some("t2"), ..scene.clone() };
    check(&elsewhere.answer(yes_here("provenance.third")), "ask provenance.third");
    let careful = Scene { preset: Preset::Careful, ..scene };
    let careful = careful.answer(yes_here("provenance.third"));
    check(&careful, "ask default.egress");
    check(&careful.answer(yes("default.egress")), "allow ans_yes_default.egress");
}

#[test]
fn who_may_only_narrow_cannot_widen_or_replace() {
    let base = Scene::new(shell()).rule(plain("fine", "allow"));
    let theirs = [
        plain("fine", "allow"),
        plain("sure", "allow"),
        json!({"id": "fine", "effect": "ask", "tool": "other"}),
        json!({"id": "fine", "effect": "ask", "tool": "app:note", "when": "args.force == true"}),
    ];
    let theirs = theirs.map(|text| Rule::new(rule(text)).unwrap()).to_vec();
    let (policy, ignored) = base.policy().narrowed_by(Some(Preset::Open), theirs);
    assert_eq!(ignored.iter().map(Rule::id).collect::<Vec<_>>(), ["fine", "sure"]);
    assert_eq!(policy.rules().iter().map(Rule::id).collect::<Vec<_>>(), ["fine", "fine.2", "fine.3"]);
    assert_eq!(policy.preset(), Preset::Balanced);
    assert_eq!(base.verdict_by(&policy).rule, "fine");
    let forced = base.clone().argument("force", true);
    assert_eq!(forced.verdict_by(&policy).rule, "fine.3");

    let (policy, _) = Policy::default().narrowed_by(Some(Preset::Careful), Vec::new());
    assert_eq!((policy.preset(), Policy::default().preset()), (Preset::Careful, Preset::Balanced));
    let long = "x".repeat(100);
    let twice = [plain(&long, "ask"), plain(&long, "ask")].map(|text| Rule::new(rule(text)).unwrap());
    let (policy, _) = policy.narrowed_by(None, twice.to_vec());
    for kept in policy.rules() {
        assert!(Rule::new(kept.text().clone()).is_ok(), "a new name is a name: {}", kept.id());
    }
}

#[test]
fn a_trace_tells_what_came_of_every_rule() {
    let scene = Scene::new(shell())
        .rule(json!({"id": "elsewhere", "effect": "deny", "tool": "other"}))
        .rule(when("large", "deny", "args.amount > 5"))
        .rule(plain("answered", "ask"))
        .rule(plain("asked", "ask"))
        .argument("amount", 1)
        .answer(yes("answered"))
        .answer(yes("default.write"));
    let told = |scene: &Scene| {
        let trace = scene.trace();
        let tried = trace.tried.iter().map(|tried| format!("{}: {}", tried.rule, tried.finding));
        (trace.verdict.rule.to_string(), tried.collect::<Vec<_>>().join("\n"))
    };
    let (rule, tried) = told(&scene);
    assert_eq!(rule, "asked");
    assert_eq!(
        tried,
        "elsewhere: not this tool\n\
         large: condition false\n\
         answered: lifted by `ans_yes_answered`\n\
         asked: fired\n\
         default.confirmation: condition false\n\
         default.destructive: condition false\n\
         default.exec: beaten by `asked`\n\
         default.write: condition false\n\
         default.egress: condition false\n\
         provenance.third: condition false\n\
         ans_yes_answered: lifts `answered`\n\
         ans_yes_default.write: not needed"
    );

    let mut theirs = never();
    theirs.scope.user = Some(crate::scope::UserId::new("bob"));
    let scene =
        Scene::new(note()).provenance(READ_BOTH).answer(theirs).rule(when("e", "allow", "args.x > 1"));
    let (rule, tried) = told(&scene);
    assert_eq!(rule, "e");
    assert!(tried.contains("e: failed: `>` needs"), "{tried}");
    assert!(tried.contains("ans_never: not this caller"), "{tried}");

    let trace = Scene::new(note()).trace();
    let last = trace.tried.last().unwrap();
    assert_eq!((last.rule.as_str(), last.effect, &last.finding), ("default", Ruling::Allow, &Finding::Fired));
}
