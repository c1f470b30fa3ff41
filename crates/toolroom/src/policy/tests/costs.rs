//! What a verdict may cost under any project file.

use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::{Scene, rule};
use crate::policy::{Answers, Ruling};
use crate::tool::{Effect, ToolSpec};

const RULES: usize = 1_000;

/// Far more than it takes, and far less than it took when each rule had all the steps for itself.
const BOUND: Duration = Duration::from_secs(2);

/// A call that asks nothing, under many rules with this condition.
fn scene(condition: &str) -> Scene {
    let spec = ToolSpec::new("app:note", "").unwrap().effect(Effect::Read).capabilities(&[]);
    let scene = Scene::new(spec)
        .argument("short", "a".repeat(127))
        .argument("page", "a".repeat(1023))
        .argument("wide", "a".repeat(1_000_000))
        .argument("many", vec![json!(1); 10_000])
        .argument("path", "/home/ann/notes/today.txt");
    let texts = (0..RULES).map(|number| {
        let id = format!("costly-{number}");
        rule(json!({"id": id, "effect": "ask", "tool": "*", "when": condition}))
    });
    Scene { rules: texts.collect(), ..scene }
}

/// As many of a part as a condition of ordinary length holds.
fn repeated(part: &str, by: &str, end: &str) -> String {
    let times = 600 / (part.len() + by.len());
    format!("{}{end}", vec![part; times].join(by))
}

#[test]
fn a_file_of_costly_rules_is_judged_quickly_and_denies() {
    for condition in [
        repeated("1", "+", " == 0"),
        repeated("args.page contains 'aab'", " or ", ""),
        repeated("lower(args.short) == 'b'", " or ", ""),
        repeated("replace(args.page,'a','b') == 'b'", " or ", ""),
        repeated("tool.capabilities == [1]", " or ", ""),
        "args.wide contains 'aaaaaaaab'".to_owned(),
        "2 in args.many".to_owned(),
        format!("concat({}) == 'b'", repeated("args.short", ",", "")),
    ] {
        let scene = scene(&condition);
        let policy = scene.policy();
        let started = Instant::now();
        let verdict = policy.verdict(&scene.facts(), &Answers::default());
        let took = started.elapsed();
        assert_eq!(verdict.ruling, Ruling::Deny, "{condition}");
        assert!(verdict.rule.starts_with("costly-"), "{verdict:?}");
        let why = format!("rule `{}` cannot be evaluated: the steps that all", verdict.rule);
        assert!(verdict.reason.starts_with(&why), "{verdict:?}");
        assert!(took < BOUND, "{condition} took {took:?}");
        // A trace evaluates every rule and takes no longer.
        let started = Instant::now();
        let trace = policy.trace(&scene.facts(), &Answers::default());
        let took = started.elapsed();
        assert_eq!(trace.verdict.rule, verdict.rule);
        assert!(took < BOUND, "{condition} took {took:?} to explain");
    }
}

#[test]
fn a_thousand_ordinary_rules_are_judged_to_the_end() {
    for condition in [
        "args.path == '/etc/passwd' or args.path contains '/.ssh/' or starts_with(args.path, '/proc')",
        "caller.user != 'ann' and args.amount > 100 and tool.effect == 'destructive'",
        "lower(args.path) in ['/a', '/b', '/c'] or len(args.path) > 200",
        "args.short contains 'rm -rf' or args.short contains 'sudo'",
    ] {
        let scene = scene(condition);
        assert_eq!(scene.summary(), "allow default", "{condition}");
    }
}
