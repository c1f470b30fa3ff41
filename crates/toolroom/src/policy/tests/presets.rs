//! What each preset does with each kind of tool.

use super::{Scene, note};
use crate::policy::Provenance;
use crate::policy::{Answers, Policy, Preset, Ruling};
use crate::tool::Capability::{Destructive, Egress, Exec, ReadsPrivate, ReadsUntrusted, Writes};
use crate::tool::{Capability, Effect, Risk, ToolSpec};

fn tool(effect: Effect, capabilities: &[Capability], risk: Risk) -> ToolSpec {
    note().effect(effect).capabilities(capabilities).risk(risk)
}

fn silent() -> ToolSpec {
    ToolSpec::new("app:note", "").unwrap()
}

fn confirmed(mut spec: ToolSpec) -> ToolSpec {
    spec.requires_confirmation = true;
    spec
}

#[test]
fn presets_by_kind_of_tool() {
    use Effect::{IdempotentWrite, OnceOnlyWrite, Pure, Read};
    use Risk::{High, Low, Medium};
    // `-` runs; anything else is the default rule that asks.
    #[rustfmt::skip]
    let table = [
        // kind of tool                                                          open           balanced       careful
        ("calculator",       tool(Pure, &[], Low),                              ["-",           "-",           "-"]),
        ("risky calculator", tool(Pure, &[], High),                             ["-",           "-",           "-"]),
        ("read my files",    tool(Read, &[ReadsPrivate], Low),                  ["-",           "-",           "-"]),
        ("web search",       tool(Read, &[ReadsUntrusted, Egress], Low),        ["-",           "-",           "egress"]),
        ("crawl",            tool(Read, &[ReadsUntrusted, Egress], Medium),     ["-",           "egress",      "egress"]),
        ("remember",         tool(IdempotentWrite, &[Writes], Low),             ["-",           "-",           "write"]),
        ("says it writes",   tool(Read, &[Writes], Low),                        ["-",           "-",           "write"]),
        ("effect writes",    tool(OnceOnlyWrite, &[], Low),                     ["-",           "-",           "write"]),
        ("edit a file",      tool(IdempotentWrite, &[Writes], Medium),          ["-",           "write",       "write"]),
        ("send an email",    tool(OnceOnlyWrite, &[Writes, Egress], High),      ["-",           "write",       "write"]),
        ("run a script",     tool(Read, &[Exec], Low),                          ["-",           "exec",        "exec"]),
        ("script that sends",tool(OnceOnlyWrite, &[Exec, Egress], High),        ["-",           "exec",        "exec"]),
        ("drop a table",     tool(Effect::Destructive, &[Writes], Low),         ["destructive", "destructive", "destructive"]),
        ("able to destroy",  tool(Read, &[Destructive, Exec], Low),             ["destructive", "destructive", "destructive"]),
        ("says nothing",     silent(),                                          ["destructive", "destructive", "destructive"]),
        ("no capabilities",  silent().effect(Read),                             ["destructive", "destructive", "destructive"]),
        ("no effect",        silent().capabilities(&[]),                        ["destructive", "destructive", "destructive"]),
        ("sandboxed shell",  tool(Effect::Destructive, &[Exec], High).confined(), ["-",         "-",           "destructive"]),
        ("sandboxed, seen",  confirmed(tool(Read, &[Exec], Low).confined()),    ["confirmation","confirmation","confirmation"]),
        ("wants to be seen", confirmed(tool(Pure, &[], Low)),                   ["confirmation","confirmation","confirmation"]),
        ("seen, destroys",   confirmed(silent()),                               ["confirmation","confirmation","confirmation"]),
    ];
    for (kind, spec, expected) in table {
        for (preset, expected) in Preset::ALL.into_iter().zip(expected) {
            let policy = Policy::new(preset, Vec::new()).unwrap();
            let verdict = policy.verdict(&Scene::new(spec.clone()).facts(), &Answers::default());
            let (ruling, rule) = match expected {
                "-" => (Ruling::Allow, "default".to_owned()),
                concern => (Ruling::Ask, format!("default.{concern}")),
            };
            assert_eq!((verdict.ruling, verdict.rule.as_ref()), (ruling, rule.as_str()), "{kind}, {preset}");
            assert_eq!(verdict.reason.is_empty(), ruling == Ruling::Allow, "{kind}, {preset}");
        }
    }
}

#[test]
fn a_question_tells_every_concern_in_one_sentence() {
    let check = |spec: ToolSpec, expected: &str| {
        assert_eq!(Scene::new(spec).verdict().reason, expected);
    };
    let mail = || ToolSpec::new("mcp:mail:send_email", "").unwrap().effect(Effect::Read);
    check(
        mail().capabilities(&[Egress]).risk(Risk::Medium),
        "`send_email` sends something outward and its risk is medium",
    );
    check(mail().capabilities(&[Exec]), "`send_email` starts programs");
    check(
        confirmed(mail().capabilities(&[Exec, Writes, Destructive]).risk(Risk::High)),
        "`send_email` wants to be confirmed, may destroy something, starts programs, changes something \
         and its risk is high",
    );
    check(
        mail().capabilities(&[Destructive, Exec]),
        "`send_email` may destroy something and starts programs",
    );
}

#[test]
fn a_tool_that_is_silent_about_its_effect_also_counts_as_writing() {
    let scene = Scene { preset: Preset::Careful, ..Scene::new(silent().capabilities(&[])) };
    let told = "`note` does not say what it does and so counts as destructive and changes something";
    assert_eq!(scene.verdict().reason, told);
}

#[test]
fn a_tool_that_is_silent_is_told_so_and_by_every_guard_that_minds() {
    let read_both = Provenance { private: true, untrusted: true, ..Provenance::NONE };
    let reason = Scene::new(silent()).provenance(read_both).verdict().reason;
    assert_eq!(
        reason,
        "`note` does not say what it does and so counts as destructive and starts programs; it sends something, and \
         private data and untrusted content were read before"
    );
}

#[test]
fn the_list_of_built_in_rules_says_what_they_do() {
    let risks = [Risk::Low, Risk::Medium, Risk::High];
    for preset in Preset::ALL {
        let policy = Policy::new(preset, Vec::new()).unwrap();
        for rule in preset.built_in().filter(|rule| rule.id.starts_with("default.")) {
            for risk in risks {
                let spec = match rule.id {
                    "default.confirmation" => confirmed(tool(Effect::Pure, &[], risk)),
                    "default.destructive" => tool(Effect::Read, &[Destructive], risk),
                    "default.exec" => tool(Effect::Read, &[Exec], risk),
                    "default.write" => tool(Effect::Read, &[Writes], risk),
                    "default.egress" => tool(Effect::Read, &[Egress], risk),
                    other => panic!("what is `{other}`?"),
                };
                let verdict = policy.verdict(&Scene::new(spec).facts(), &Answers::default());
                let asks = rule.minimum_risk.is_some_and(|least| risk >= least);
                assert_eq!(verdict.rule == rule.id, asks, "{} at {risk:?} under {preset}", rule.id);
            }
        }
    }
    assert_eq!(Preset::Open.built_in().last().map(|rule| rule.id), Some("provenance.third"));
}
