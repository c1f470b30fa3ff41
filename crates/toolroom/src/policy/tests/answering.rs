//! What standing answers do, and what they cannot do.

use serde_json::json;

use super::{Scene, never, note, plain, shared, shell, when, yes, yes_here};
use crate::ledger::{AnswerId, Answerer, StandingAnswer};
use crate::policy::{Finding, Rule, Ruling, rule_text_of};
use crate::scope::Scope;
use crate::tool::{Capability, ToolSpec};

fn check(scene: &Scene, expected: &str) {
    assert_eq!(scene.summary(), expected, "{:#?}", scene.answers);
}

#[test]
fn a_yes_lifts_the_question_of_exactly_one_rule() {
    let asked = Scene::new(note()).rule(plain("one", "ask")).rule(plain("two", "ask"));
    check(&asked.clone().answer(yes("one")), "ask two");
    check(&asked.clone().answer(yes("two")), "ask one");
    check(&asked.clone().answer(yes("three")), "ask one");
    check(&asked.clone().answer(yes("one")).answer(yes("two")), "allow ans_yes_one");
    check(&asked.clone().answer(yes("one")).answer(yes("two")).rule(plain("no", "deny")), "deny no");
    check(&asked.answer(yes("one")).answer(yes("two")).rule(plain("fine", "allow")), "allow fine");
    check(&Scene::new(note()).answer(yes("one")), "allow default");
}

#[test]
fn of_two_yeses_to_one_question_the_first_is_named() {
    let again = StandingAnswer { id: AnswerId::new("ans_again"), ..yes("one") };
    let scene = Scene::new(note()).rule(plain("one", "ask")).answer(yes("one")).answer(again);
    check(&scene, "allow ans_yes_one");
    assert_eq!(scene.trace().tried.last().unwrap().finding, Finding::Unneeded);
}

#[test]
fn a_yes_to_a_rule_is_none_to_the_preset_and_the_other_way_round() {
    let scene = Scene::new(shell());
    check(&scene.clone().answer(yes("default.exec")), "allow ans_yes_default.exec");
    check(&scene.clone().answer(yes("default.write")), "ask default.exec");
    let scene = scene.rule(plain("rule", "ask"));
    check(&scene.clone().answer(yes("default.exec")), "ask rule");
    check(&scene.clone().answer(yes("rule")), "ask default.exec");
    check(&scene.answer(yes("rule")).answer(yes("default.exec")), "allow ans_yes_rule");
}

/// It may have been said where the tool was not known, or before the tool was answered call by call.
#[test]
fn no_yes_holds_for_a_tool_that_is_answered_call_by_call() {
    check(&Scene::new(shell().single_answers()).answer(yes("default.exec")), "ask default.exec");
    let scene = Scene::new(note().single_answers()).rule(plain("one", "ask")).answer(yes("one"));
    check(&scene, "ask one");
    assert_eq!(scene.trace().tried.last().unwrap().finding, Finding::MayNotLift("one".to_owned()));
}

#[test]
fn a_yes_to_the_presets_question_covers_all_it_told() {
    let spec = shell().capabilities(&[Capability::Exec, Capability::Destructive]);
    check(&Scene::new(spec.clone()).answer(yes("default.destructive")), "allow ans_yes_default.destructive");
    check(&Scene::new(spec).answer(yes("default.exec")), "ask default.destructive");
}

#[test]
fn a_yes_holds_where_and_for_what_it_was_said() {
    let scene = Scene::new(note()).rule(plain("rule", "ask")).argument("n", 1);
    let table: [(&str, StandingAnswer); 11] = [
        ("allow ans_yes_rule", yes("rule")),
        ("allow ans_yes_rule", yes_here("rule")),
        ("allow ans_yes_rule", StandingAnswer { definition: None, ..yes("rule") }),
        ("ask rule", StandingAnswer { definition: Some("d2".into()), ..yes("rule") }),
        ("ask rule", StandingAnswer { thread: Some("t2".into()), ..yes("rule") }),
        ("ask rule", StandingAnswer { tool: "app:other".into(), ..yes("rule") }),
        ("allow ans_yes_rule", StandingAnswer { scope: Scope::user("local", "ann"), ..yes("rule") }),
        ("ask rule", StandingAnswer { scope: Scope::user("local", "bob"), ..yes("rule") }),
        ("ask rule", StandingAnswer { scope: Scope::project("shop"), ..yes("rule") }),
        ("allow ans_yes_rule", StandingAnswer { when: Some("args.n == 1".into()), ..yes("rule") }),
        ("ask rule", StandingAnswer { when: Some("args.n == 2".into()), ..yes("rule") }),
    ];
    for (expected, answer) in table {
        check(&scene.clone().answer(answer), expected);
    }
    let anonymous = Scene { scope: Scope::project("local"), thread: None, ..scene };
    check(&anonymous.clone().answer(yes("rule")), "allow ans_yes_rule");
    check(&anonymous.clone().answer(yes_here("rule")), "ask rule");
    check(
        &anonymous.answer(StandingAnswer { scope: Scope::user("local", "ann"), ..yes("rule") }),
        "ask rule",
    );
}

#[test]
fn a_callers_yes_is_not_enough_for_the_operators_question() {
    let asks = json!({"id": "rule", "effect": "ask", "tool": "*", "by": "operator"});
    let scene = Scene::new(note()).rule(asks);
    check(&scene.clone().answer(yes("rule")), "ask rule");
    check(&scene.answer(StandingAnswer { by: Answerer::Operator, ..yes("rule") }), "allow ans_yes_rule");
}

#[test]
fn never_denies_allowed_calls_and_every_definition_of_the_tool() {
    let scene = Scene::new(note()).rule(plain("fine", "allow")).argument("n", 1);
    check(&scene.clone().answer(never()), "deny ans_never");
    check(&scene.clone().answer(yes("fine")).answer(never()), "deny ans_never");
    check(
        &scene.clone().answer(StandingAnswer { definition: Some("d2".into()), ..never() }),
        "deny ans_never",
    );
    check(&scene.clone().answer(StandingAnswer { lifts: Some("fine".into()), ..never() }), "deny ans_never");
    check(
        &scene.clone().answer(StandingAnswer { when: Some("args.n == 2".into()), ..never() }),
        "allow fine",
    );
    check(&scene.answer(StandingAnswer { thread: Some("t2".into()), ..never() }), "allow fine");
}

#[test]
fn an_answer_that_cannot_be_read_never_allows_more() {
    let scene = Scene::new(note()).rule(plain("rule", "ask"));
    for condition in ["((", "weather == 1", "args.missing > 1", "args"] {
        let when = Some(condition.to_owned());
        check(&scene.clone().answer(StandingAnswer { when: when.clone(), ..yes("rule") }), "ask rule");
        let denied = scene.clone().answer(StandingAnswer { when, ..never() });
        check(&denied, "deny ans_never");
        let reason = denied.verdict().reason;
        assert!(reason.starts_with("standing answer `ans_never` cannot be read: "), "{reason}");
    }
    let neither = StandingAnswer { effect: Ruling::Ask, ..yes("rule") };
    check(&scene.clone().answer(neither), "deny ans_yes_rule");
    check(&scene.answer(StandingAnswer { lifts: None, ..yes("rule") }), "ask rule");
}

#[test]
fn an_answer_reads_as_a_rule() {
    let spoken = StandingAnswer {
        id: AnswerId::new("ans_1"),
        scope: Scope::user("local", "o'neill\\"),
        when: Some("args.n == 1 or args.n == 2".into()),
        thread: Some("t1".into()),
        ..yes("default.exec")
    };
    let text = rule_text_of(&spoken);
    assert_eq!(
        serde_json::to_value(&text).unwrap(),
        json!({
            "id": "ans_1",
            "effect": "allow",
            "tool": "app:note",
            "when": r"caller.project == 'local' and caller.user == 'o\'neill\\' and (args.n == 1 or args.n == 2)",
            "reason": "answered by the caller on call `call_1`, for the question of rule `default.exec`, \
                       for the definition `d1`, in the conversation `t1`",
        })
    );
    let rule = Rule::new(text).unwrap();
    let scene = Scene { scope: spoken.scope, ..Scene::new(note()) }.argument("n", 2);
    assert_eq!(rule.applies(&scene.facts()), Ok(true));
    assert_eq!(rule.applies(&scene.clone().argument("n", 3).facts()), Ok(false));
    assert_eq!(rule.applies(&Scene::new(note()).argument("n", 2).facts()), Ok(false));
}

#[test]
fn a_foreign_name_with_a_wildcard_in_it_stays_one_tool() {
    let answer = StandingAnswer { tool: shared("mcp:odd:what?*"), ..never() };
    let rule = Rule::new(rule_text_of(&answer)).unwrap();
    let applies = |id: &str| rule.applies(&Scene::new(ToolSpec::new(id, "").unwrap()).facts());
    assert_eq!((applies("mcp:odd:what?*"), applies("mcp:odd:whats up")), (Ok(true), Ok(false)));
}

#[test]
fn past_calls_can_be_counted_before_a_rule_is_kept() {
    let rule = Rule::new(super::rule(when("new", "allow", "args.n < 3"))).unwrap();
    let past = (0..5).map(|n| Scene::new(note()).argument("n", n));
    assert_eq!(past.filter(|call| rule.applies(&call.facts()) == Ok(true)).count(), 3);
    assert!(rule.applies(&Scene::new(note()).facts()).is_err());
}
