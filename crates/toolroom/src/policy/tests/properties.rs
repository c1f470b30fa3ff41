//! What holds for every policy and every call: nothing that should make a policy stricter ever makes it laxer.

use std::collections::BTreeSet;

use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use proptest::{bool::weighted, collection, option, sample};
use serde_json::{Value, json};

use super::{Scene, never, yes};
use crate::ledger::{AnswerId, Answerer, StandingAnswer};
use crate::policy::{Answers, Finding, Preset, Provenance, Rule, RuleText, Ruling, Verdict};
use crate::scale::cases;
use crate::scope::{Scope, UserId};
use crate::tool::{Arguments, Capabilities, Capability, Effect, Risk, ToolSpec};

/// Conditions over arguments and caller; some fail where an argument is missing or of another kind.
const ABOUT_CALLS: [&str; 8] = [
    "true",
    "args.n > 1",
    "args.flag",
    "args.text contains 'x'",
    "args.n == 2 or args.flag == true",
    "len(args.text) < 2",
    "caller.user == 'ann'",
    "caller.project == 'shop'",
];

const ABOUT_RUNS: [&str; 3] =
    ["provenance.untrusted", "provenance.private and args.n == 1", "not provenance.outward"];

const ABOUT_TOOLS: [&str; 3] =
    ["tool.risk == 'high'", "'exec' in tool.capabilities", "tool.effect == 'read'"];

const TOOLS: [&str; 3] = ["app:note", "app:send", "mcp:web:fetch"];

/// In an answer: the tool that is called.
const THIS_TOOL: &str = "this";

const PATTERNS: [&str; 8] = ["*", "app:*", "app:note", "send", "notes", "*e*", "mcp:?eb:*", "other"];

/// Rules a standing answer may be about: the generated ones, one that is added later, and our own.
const QUESTIONS: [&str; 12] = [
    "r0",
    "r1",
    "r2",
    "r3",
    "new",
    "default.confirmation",
    "default.destructive",
    "default.exec",
    "default.write",
    "default.egress",
    "provenance.third",
    "gone",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Roots {
    All,
    WithoutRuns,
    WithoutTools,
}

fn condition(roots: Roots) -> impl Strategy<Value = String> {
    let mut pool = ABOUT_CALLS.to_vec();
    if roots != Roots::WithoutRuns {
        pool.extend(ABOUT_RUNS);
    }
    if roots != Roots::WithoutTools {
        pool.extend(ABOUT_TOOLS);
    }
    sample::select(pool).prop_map(str::to_owned)
}

fn answerer() -> impl Strategy<Value = Answerer> {
    sample::select(vec![Answerer::Caller, Answerer::Operator])
}

fn rule_of(effect: Ruling, roots: Roots) -> impl Strategy<Value = RuleText> {
    let parts = (sample::select(PATTERNS.to_vec()), option::of(condition(roots)), option::of(answerer()));
    parts.prop_map(move |(tool, when, by)| RuleText {
        id: "new".to_owned(),
        effect,
        tool: tool.to_owned(),
        when,
        by: by.filter(|_| effect == Ruling::Ask),
        reason: None,
        matches: Vec::new(),
        not_matches: Vec::new(),
    })
}

fn rules(roots: Roots) -> impl Strategy<Value = Vec<RuleText>> {
    let effect = prop_oneof![2 => Just(Ruling::Allow), 3 => Just(Ruling::Ask), 1 => Just(Ruling::Deny)];
    let rule = effect.prop_flat_map(move |effect| rule_of(effect, roots));
    collection::vec(rule, 0..5).prop_map(|rules| {
        let named = |(n, rule)| RuleText { id: format!("r{n}"), ..rule };
        rules.into_iter().enumerate().map(named).collect()
    })
}

fn answer(roots: Roots) -> impl Strategy<Value = StandingAnswer> {
    let effect = prop_oneof![16 => Just(Ruling::Allow), 1 => Just(Ruling::Deny), 1 => Just(Ruling::Ask)];
    let when =
        prop_oneof![6 => Just(None), 2 => condition(roots).prop_map(Some), 1 => Just(Some("((".to_owned()))];
    let place = (
        sample::select(vec![THIS_TOOL, THIS_TOOL, THIS_TOOL, "app:note"]),
        sample::select(vec![None, None, Some("ann"), Some("bob")]),
        sample::select(vec![None, Some("t1"), Some("t1"), Some("t2")]),
    );
    let definition = sample::select(vec![None, Some("d1"), Some("d2")]);
    let lifts = option::weighted(0.9, sample::select(QUESTIONS.to_vec()));
    (effect, when, place, definition, lifts, answerer()).prop_map(
        |(effect, when, (tool, user, thread), definition, lifts, by)| StandingAnswer {
            scope: Scope { user: user.map(UserId::new), ..Scope::default() },
            effect,
            tool: tool.into(),
            when,
            lifts: lifts.map(str::to_owned),
            definition: definition.map(Into::into),
            thread: thread.map(Into::into),
            by,
            ..yes("")
        },
    )
}

fn answers(roots: Roots) -> impl Strategy<Value = Vec<StandingAnswer>> {
    collection::vec(answer(roots), 0..12).prop_map(|answers| {
        let named = |(n, answer)| StandingAnswer { id: AnswerId::new(&format!("ans_{n}")), ..answer };
        answers.into_iter().enumerate().map(named).collect()
    })
}

fn capabilities() -> impl Strategy<Value = Capabilities> {
    sample::subsequence(Capability::ALL.to_vec(), 0..=4).prop_map(|list| Capabilities::of(&list))
}

fn spec() -> impl Strategy<Value = ToolSpec> {
    let mut effects = Effect::ALL.to_vec();
    effects.extend([Effect::Pure, Effect::Read, Effect::Read]);
    let declared = (
        option::weighted(0.8, sample::select(effects)),
        option::weighted(0.8, capabilities()),
        sample::select(vec![Risk::Low, Risk::Medium, Risk::High]),
    );
    let names = (sample::select(TOOLS.to_vec()), any::<bool>());
    (names, declared, weighted(0.2)).prop_map(|((id, in_family), (effect, capabilities, risk), confirm)| {
        let spec = ToolSpec::new(id, "").unwrap().risk(risk);
        let mut spec = if in_family { spec.family("notes", true) } else { spec };
        spec.effect = effect;
        spec.capabilities = capabilities;
        spec.requires_confirmation = confirm;
        spec
    })
}

fn arguments() -> impl Strategy<Value = Arguments> {
    let n = prop_oneof![4 => (0..4_i64).prop_map(Value::from), 1 => Just(json!("two"))];
    let flag = prop_oneof![4 => any::<bool>().prop_map(Value::from), 1 => Just(Value::Null)];
    let text = prop_oneof![4 => "[xy]{0,3}".prop_map(Value::from), 1 => Just(json!(3))];
    let present = |value| option::weighted(0.9, value);
    (present(n.boxed()), present(flag.boxed()), present(text.boxed())).prop_map(|(n, flag, text)| {
        let named = [("n", n), ("flag", flag), ("text", text)];
        named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    })
}

fn provenance() -> impl Strategy<Value = Provenance> {
    let known = |[private, untrusted, outward]: [bool; 3]| Provenance {
        private,
        untrusted,
        outward,
        ..Provenance::NONE
    };
    any::<[bool; 3]>().prop_map(known)
}

fn preset() -> impl Strategy<Value = Preset> {
    sample::select(Preset::ALL.to_vec())
}

fn scene(roots: Roots) -> impl Strategy<Value = Scene> {
    let call = (spec(), arguments(), option::of(sample::select(vec!["ann", "bob"])), provenance());
    let thread = option::weighted(0.8, Just("t1"));
    (preset(), rules(roots), answers(roots), call, thread).prop_map(
        |(preset, rules, mut answers, (spec, arguments, user, provenance), thread)| {
            for answer in answers.iter_mut().filter(|answer| &*answer.tool == THIS_TOOL) {
                answer.tool = spec.id.shared();
            }
            Scene {
                preset,
                rules,
                answers,
                arguments,
                scope: Scope { user: user.map(UserId::new), ..Scope::default() },
                thread,
                provenance,
                ..Scene::new(spec)
            }
        },
    )
}

/// What a call is allowed, from most to least.
fn strictness(verdict: &Verdict) -> u8 {
    match (verdict.ruling, verdict.by) {
        (Ruling::Allow, _) => 0,
        (Ruling::Ask, Answerer::Caller) => 1,
        (Ruling::Ask, Answerer::Operator) => 2,
        (Ruling::Ask, Answerer::Client) => unreachable!("a policy asks people"),
        (Ruling::Deny, _) => 3,
    }
}

macro_rules! never_allows_more {
    ($before:expr, $after:expr) => {{
        let (before, after): (Verdict, Verdict) = ($before, $after);
        prop_assert!(strictness(&after) >= strictness(&before), "{:?} became {:?}", before, after);
    }};
}

/// A yes to a preset's question is about one definition, as the call path writes it. Only so can another definition
/// not profit from it.
fn bound_to_definition(mut scene: Scene) -> Scene {
    let about_preset =
        |answer: &&mut StandingAnswer| answer.lifts.as_ref().is_some_and(|rule| rule.starts_with("default."));
    for answer in scene.answers.iter_mut().filter(about_preset) {
        answer.definition = Some("d1".into());
    }
    scene
}

/// The same call of another definition of the tool.
fn redefined(scene: &Scene, change: impl FnOnce(&mut ToolSpec)) -> Scene {
    let mut scene = Scene { definition: "d3", ..scene.clone() };
    change(&mut scene.spec);
    scene
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn another_rule_that_denies_or_asks_never_allows_more(
        scene in scene(Roots::All),
        rule in prop_oneof![rule_of(Ruling::Deny, Roots::All), rule_of(Ruling::Ask, Roots::All)],
        place in any::<sample::Index>(),
    ) {
        let mut more = scene.clone();
        more.rules.insert(place.index(scene.rules.len() + 1), rule);
        never_allows_more!(scene.verdict(), more.verdict());
    }

    #[test]
    fn without_a_rule_that_allows_never_allows_more(
        scene in scene(Roots::All), rule in rule_of(Ruling::Allow, Roots::All), place in any::<sample::Index>(),
    ) {
        let mut more = scene.clone();
        more.rules.insert(place.index(scene.rules.len() + 1), rule);
        let (before, after) = (more.verdict(), scene.verdict());
        // A rule that cannot be evaluated denies, so that without it there may be more.
        if before.rule != "new" || before.ruling != Ruling::Deny {
            never_allows_more!(before, after);
        }
    }

    #[test]
    fn a_tool_that_says_less_is_never_allowed_more(scene in scene(Roots::WithoutTools)) {
        let scene = bound_to_definition(scene);
        let before = scene.verdict();
        never_allows_more!(before.clone(), redefined(&scene, |spec| spec.effect = None).verdict());
        never_allows_more!(before, redefined(&scene, |spec| spec.capabilities = None).verdict());
    }

    #[test]
    fn a_tool_that_can_do_more_is_never_allowed_more(
        scene in scene(Roots::WithoutTools), added in sample::select(Capability::ALL.to_vec()),
    ) {
        let scene = bound_to_definition(scene);
        let more = redefined(&scene, |spec| {
            let list: Vec<_> = spec.effective_capabilities().iter().chain([added]).collect();
            spec.capabilities = Some(Capabilities::of(&list));
        });
        never_allows_more!(scene.verdict(), more.verdict());
    }

    #[test]
    fn a_stricter_preset_never_allows_more(scene in scene(Roots::All), other in preset()) {
        let (lax, strict) = (scene.preset.min(other), scene.preset.max(other));
        let with = |preset| Scene { preset, ..scene.clone() };
        never_allows_more!(with(lax).verdict(), with(strict).verdict());
    }

    #[test]
    fn a_run_that_has_been_to_more_places_is_never_allowed_more(
        scene in scene(Roots::WithoutRuns), more in provenance(),
    ) {
        let after = scene.provenance.and(more);
        never_allows_more!(scene.verdict(), scene.clone().provenance(after).verdict());
    }

    #[test]
    fn the_guard_asks_about_outward_calls_alone(spec in spec(), provenance in provenance()) {
        let sends = spec.effective_capabilities().has(Capability::Egress);
        let trace = Scene { provenance, ..Scene::new(spec) }.trace();
        let guard = trace.tried.iter().find(|tried| tried.rule == "provenance.third").unwrap();
        let asks = guard.finding != Finding::ConditionFalse;
        prop_assert_eq!(asks, sends && provenance.private && provenance.untrusted);
    }

    #[test]
    fn who_may_only_narrow_never_allows_more(
        scene in scene(Roots::All), preset in option::of(preset()), theirs in rules(Roots::All),
    ) {
        let theirs: Vec<Rule> = theirs.into_iter().map(|text| Rule::new(text).unwrap()).collect();
        let allowing = theirs.iter().filter(|rule| rule.text().effect == Ruling::Allow).count();
        let taken = theirs.len() - allowing;
        let (policy, ignored) = scene.policy().narrowed_by(preset, theirs);
        never_allows_more!(scene.verdict(), scene.verdict_by(&policy));
        prop_assert_eq!((ignored.len(), policy.rules().len()), (allowing, scene.rules.len() + taken));
        let ids: BTreeSet<&str> = policy.rules().iter().map(Rule::id).collect();
        prop_assert_eq!(ids.len(), policy.rules().len(), "names stay apart");
    }

    #[test]
    fn the_preview_is_the_verdict_where_nothing_depends_on_arguments(scene in scene(Roots::All)) {
        let answers = Answers::new(scene.answers.clone());
        let blind = Scene { arguments: Arguments::new(), ..scene.clone() };
        let preview = scene.policy().preview(&blind.facts(), &answers);
        let verdict = scene.verdict();
        match preview.verdict.ruling {
            Ruling::Deny => prop_assert_eq!(verdict.ruling, Ruling::Deny),
            _ if preview.depends_on.is_empty() => prop_assert_eq!(verdict, preview.verdict),
            _ => {}
        }
    }

    #[test]
    fn without_a_yes_never_allows_more(scene in scene(Roots::All)) {
        for place in 0..scene.answers.len() {
            let mut less = scene.clone();
            if less.answers.remove(place).effect == Ruling::Allow {
                never_allows_more!(scene.verdict(), less.verdict());
            }
        }
    }

    #[test]
    fn a_never_always_wins(scene in scene(Roots::All)) {
        let id = scene.spec.id.shared();
        let denied = scene.answer(StandingAnswer { tool: id, scope: Scope::default(), ..never() });
        prop_assert_eq!(denied.verdict().ruling, Ruling::Deny);
    }

    #[test]
    fn a_trace_ends_in_the_verdict(scene in scene(Roots::All)) {
        let (verdict, trace) = (scene.verdict(), scene.trace());
        prop_assert_eq!(&verdict, &trace.verdict);
        let decided = trace.tried.iter().filter(|tried| tried.rule == verdict.rule);
        let decided: Vec<&Finding> = decided.map(|tried| &tried.finding).collect();
        let is_right = matches!(decided[..], [Finding::Fired | Finding::Failed(_) | Finding::Lifts(_)]);
        prop_assert!(is_right, "{:?} by {:?}", verdict, decided);
        let fired = trace.tried.iter().filter(|tried| tried.finding == Finding::Fired);
        prop_assert!(fired.count() <= 1);
    }
}

/// Or the properties would say little.
#[test]
fn the_generated_scenes_see_everything_there_is() {
    let mut runner = TestRunner::deterministic();
    let mut seen = BTreeSet::new();
    let scenes = scene(Roots::All);
    for _ in 0..2_000 {
        let scene = scenes.new_tree(&mut runner).unwrap().current();
        let trace = scene.trace();
        seen.insert(format!("{}-{}", trace.verdict.ruling.as_str(), strictness(&trace.verdict)));
        for tried in trace.tried {
            let finding = format!("{:?}", tried.finding);
            seen.insert(finding.split('(').next().unwrap().to_owned());
            let lifted = matches!(tried.finding, Finding::LiftedBy(_));
            seen.extend(lifted.then(|| format!("lifted {}", tried.rule.trim_matches(char::is_numeric))));
        }
    }
    let wanted = [
        "allow-0",
        "ask-1",
        "ask-2",
        "deny-3",
        "OtherTool",
        "OtherCaller",
        "OtherConversation",
        "OtherDefinition",
        "ConditionFalse",
        "Fired",
        "BeatenBy",
        "LiftedBy",
        "Lifts",
        "Unneeded",
        "MayNotLift",
        "Failed",
        "lifted r",
        "lifted default.confirmation",
        "lifted default.destructive",
        "lifted default.exec",
        "lifted default.write",
        "lifted default.egress",
        "lifted provenance.third",
    ];
    let missing: Vec<_> = wanted.into_iter().filter(|wanted| !seen.contains(*wanted)).collect();
    assert!(missing.is_empty(), "{missing:?} of {seen:?}");
}
