//! Tests of the policy.

mod answering;
mod costs;
mod presets;
mod properties;
mod refusals;
mod ruling;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answers, Facts, Policy, Preset, Provenance, Rule, RuleText, Ruling, Trace, Verdict};
use crate::clock::Timestamp;
use crate::ledger::{AnswerId, Answerer, CallId, StandingAnswer};
use crate::scope::Scope;
use crate::tool::{Arguments, Capability, Effect, ToolSpec};

/// A call with policy and standing answers.
#[derive(Debug, Clone)]
struct Scene {
    preset: Preset,
    rules: Vec<RuleText>,
    answers: Vec<StandingAnswer>,
    spec: ToolSpec,
    arguments: Arguments,
    scope: Scope,
    thread: Option<&'static str>,
    provenance: Provenance,
    definition: &'static str,
}

impl Scene {
    /// A call of a tool by user `ann` in conversation `t1` of a balanced room without rules.
    fn new(spec: ToolSpec) -> Self {
        Self {
            preset: Preset::Balanced,
            rules: Vec::new(),
            answers: Vec::new(),
            spec,
            arguments: Arguments::new(),
            scope: Scope::user("local", "ann"),
            thread: Some("t1"),
            provenance: Provenance::NONE,
            definition: "d1",
        }
    }

    fn rule(mut self, text: Value) -> Self {
        self.rules.push(rule(text));
        self
    }

    fn answer(mut self, answer: StandingAnswer) -> Self {
        self.answers.push(answer);
        self
    }

    fn argument(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.arguments.insert(name.to_owned(), value.into());
        self
    }

    fn provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    fn rules(&self) -> Vec<Rule> {
        self.rules.iter().map(|text| Rule::new(text.clone()).unwrap()).collect()
    }

    fn policy(&self) -> Policy {
        Policy::new(self.preset, self.rules()).unwrap()
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            spec: &self.spec,
            arguments: &self.arguments,
            scope: &self.scope,
            entrance: "cli",
            thread: self.thread,
            provenance: self.provenance,
            origin: None,
            destination: None,
            definition: self.definition,
        }
    }

    fn verdict(&self) -> Verdict {
        self.verdict_by(&self.policy())
    }

    fn verdict_by(&self, policy: &Policy) -> Verdict {
        policy.verdict(&self.facts(), &Answers::new(self.answers.clone()))
    }

    fn trace(&self) -> Trace {
        self.policy().trace(&self.facts(), &Answers::new(self.answers.clone()))
    }

    /// Ruling and rule.
    fn summary(&self) -> String {
        let verdict = self.verdict();
        format!("{} {}", verdict.ruling.as_str(), verdict.rule)
    }
}

fn rule(text: Value) -> RuleText {
    serde_json::from_value(text).unwrap()
}

/// A yes for the whole project to a question about `app:note`.
fn yes(lifts: &str) -> StandingAnswer {
    StandingAnswer {
        id: AnswerId::new(&format!("ans_yes_{lifts}")),
        scope: Scope::project("local"),
        effect: Ruling::Allow,
        tool: "app:note".into(),
        when: None,
        lifts: Some(lifts.to_owned()),
        definition: Some("d1".into()),
        thread: None,
        destination: None,
        call: CallId::new("call_1"),
        by: Answerer::Caller,
        at: Timestamp::from_micros(0),
    }
}

/// A yes for the conversation `t1`.
fn yes_here(lifts: &str) -> StandingAnswer {
    StandingAnswer { thread: Some("t1".into()), ..yes(lifts) }
}

/// A no for good.
fn never() -> StandingAnswer {
    StandingAnswer {
        id: AnswerId::new("ans_never"),
        effect: Ruling::Deny,
        lifts: None,
        definition: None,
        ..yes("")
    }
}

/// A harmless tool, so that nothing asks but the rules.
fn note() -> ToolSpec {
    ToolSpec::new("app:note", "").unwrap().effect(Effect::Pure)
}

/// A tool about which a balanced room asks.
fn shell() -> ToolSpec {
    ToolSpec::new("app:note", "").unwrap().effect(Effect::Read).capabilities(&[Capability::Exec])
}

/// A rule about `app:note` without a condition.
fn plain(id: &str, effect: &str) -> Value {
    json!({"id": id, "effect": effect, "tool": "app:note"})
}

/// A rule about `app:note` with a condition.
fn when(id: &str, effect: &str, condition: &str) -> Value {
    json!({"id": id, "effect": effect, "tool": "app:note", "when": condition})
}

fn shared(text: &str) -> Arc<str> {
    text.into()
}
