//! What a project file may say before anybody has trusted it: only what makes things stricter.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;
use serde_json::Value;
use toolroom::catalog::LimitMode;
use toolroom::policy::Ruling;

use super::effective::{Setting, limits};
use super::problem::escaped;
use super::sandbox_profile::SandboxProfile;
use super::shape::{Key, Shape};
use super::span::parse_span;
use super::toml_text::{joined, value_text};
use super::{ConfigAgent, ConfigRule, Loaded, Origin};

/// Which of two values of a key is the stricter one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stricter {
    /// The choice that comes later in the list.
    Later,
    /// The shorter span.
    Shorter,
    /// The smaller number.
    Smaller,
    /// True.
    On,
    /// All of them hold beside each other, so only an empty list asks for less.
    Beside,
    /// The list that lacks something and adds nothing.
    Fewer,
    /// The profile that lets programs touch less.
    Tighter,
}

impl Stricter {
    const ALL: [Self; 7] =
        [Self::Later, Self::Shorter, Self::Smaller, Self::On, Self::Beside, Self::Fewer, Self::Tighter];

    /// The name used in the schema.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Later => "later",
            Self::Shorter => "shorter",
            Self::Smaller => "smaller",
            Self::On => "on",
            Self::Beside => "beside",
            Self::Fewer => "fewer",
            Self::Tighter => "tighter",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stricter| stricter.as_str() == name)
    }
}

/// What an untrusted value amounts to.
pub(super) enum Step {
    /// It is stricter than what holds, and counts.
    Stricter,
    /// It changes nothing.
    Same,
    /// It would loosen, or nobody can say that it does not.
    Refused(String),
}

/// Whether an untrusted file may put `wanted` in the place of what holds now.
pub(super) fn step(key: &Key, holds: Option<&Value>, wanted: &Value) -> Step {
    let Some(stricter) = key.stricter else {
        return match holds == Some(wanted) {
            true => Step::Same,
            false => Step::Refused("only a trusted file may set it".to_owned()),
        };
    };
    if stricter == Stricter::Beside {
        return match wanted.as_array().is_some_and(Vec::is_empty) {
            true => Step::Refused("only a trusted file may take a limit away".to_owned()),
            false => Step::Stricter,
        };
    }
    let Some(holds) = holds else { return Step::Stricter };
    match strictness(stricter, key, wanted, holds) {
        Some(Ordering::Greater) => Step::Stricter,
        Some(Ordering::Equal) => Step::Same,
        Some(Ordering::Less) | None => Step::Refused(format!("looser than {}", value_text(holds))),
    }
}

/// How strict `wanted` is beside `holds`.
fn strictness(stricter: Stricter, key: &Key, wanted: &Value, holds: &Value) -> Option<Ordering> {
    match stricter {
        Stricter::Later => {
            let Shape::Choice(choices) = &key.shape else { return None };
            let position =
                |value: &Value| choices.iter().position(|choice| Some(choice.as_str()) == value.as_str());
            Some(position(wanted)?.cmp(&position(holds)?))
        }
        Stricter::Shorter => {
            let span = |value: &Value| parse_span(value.as_str()?).ok();
            Some(span(holds)?.cmp(&span(wanted)?))
        }
        Stricter::Smaller => holds.as_f64()?.partial_cmp(&wanted.as_f64()?),
        Stricter::On => Some(wanted.as_bool()?.cmp(&holds.as_bool()?)),
        Stricter::Fewer => {
            let (wanted, holds) = (wanted.as_array()?, holds.as_array()?);
            let adds = wanted.iter().any(|entry| !holds.contains(entry));
            let lacks = holds.iter().any(|entry| !wanted.contains(entry));
            match (adds, lacks) {
                (true, _) => Some(Ordering::Less),
                (false, true) => Some(Ordering::Greater),
                (false, false) => Some(Ordering::Equal),
            }
        }
        Stricter::Tighter => {
            let profile = |value: &Value| SandboxProfile::try_from(value.as_str()?.to_owned()).ok();
            profile(wanted)?.compare(&profile(holds)?)
        }
        Stricter::Beside => None,
    }
}

/// Something that a project file wanted and may not have until it is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ignored {
    /// The file.
    pub origin: Origin,
    /// The line.
    pub line: Option<usize>,
    /// The key.
    pub key: String,
    /// What it was to be: its value as TOML, a rule in words.
    pub wanted: String,
    /// Why it does not count.
    pub why: String,
}

impl Ignored {
    /// A rule that allows: the kernel leaves it out, and people are told.
    pub(super) fn rule(rule: &ConfigRule) -> Option<Self> {
        let allows = rule.text.effect == Ruling::Allow && !rule.origin.is_trusted();
        // Whoever decides about trust has to see all of it, however long it is.
        let when = rule.text.when.as_ref().map(|when| format!(" when {}", escaped(when))).unwrap_or_default();
        allows.then(|| Self {
            origin: rule.origin.clone(),
            line: rule.line,
            key: joined("rule", &rule.text.id),
            wanted: format!("allow {}{when}", escaped(&rule.text.tool)),
            why: "only a trusted file may allow".to_owned(),
        })
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.origin.place(self.line);
        write!(formatter, "{place}: `{} = {}` is ignored: {}", self.key, self.wanted, self.why)
    }
}

/// What the project's file would loosen if it were trusted, a line for each thing.
#[must_use]
pub fn what_trust_would_allow(loaded: &Loaded) -> Vec<String> {
    let line = |key: &str, wanted: &str, why: &str| format!("{key} = {wanted} ({why})");
    let refused = loaded.ignored.iter().map(|ignored| line(&ignored.key, &ignored.wanted, &ignored.why));
    let is_told = |setting: &Setting| setting.is_ignored(&loaded.ignored);
    // Whether a limit is looser than a tool's own is for the tool to know, so all of them are told.
    let narrowed = loaded.config.tools.iter().filter(|section| section.mode == LimitMode::Narrow);
    let replaced = narrowed.flat_map(limits).filter_map(|limit| {
        let why = "in place of the limit there is, even if that is stricter";
        (!is_told(&limit)).then(|| line(&limit.key, &limit.toml(), why))
    });
    let agents = loaded.config.agents.iter().filter(|said| said.mode == LimitMode::Narrow);
    let agents = agents.flat_map(ConfigAgent::settings).filter(|setting| !is_told(setting));
    let agents = agents.map(|setting| {
        line(&setting.key, &setting.toml(), "in place of what the agent has, even if that is stricter")
    });
    refused.chain(replaced).chain(agents).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_known_to_be_stricter_counts() {
        let choices = ["a", "b", "c"].map(str::to_owned).to_vec();
        let key = |stricter| Key {
            shape: Shape::Choice(choices.clone()),
            description: String::new(),
            default: None,
            stricter,
        };
        let check = |stricter, holds: Option<Value>, wanted: Value, expected: &str| {
            let step = match step(&key(stricter), holds.as_ref(), &wanted) {
                Step::Stricter => "stricter".to_owned(),
                Step::Same => "same".to_owned(),
                Step::Refused(why) => why,
            };
            assert_eq!(step, expected, "{stricter:?}: {wanted} in place of {holds:?}");
        };
        check(None, None, json!("a"), "only a trusted file may set it");
        check(None, Some(json!("b")), json!("a"), "only a trusted file may set it");
        check(None, Some(json!("a")), json!("a"), "same");
        check(Some(Stricter::Later), Some(json!("b")), json!("c"), "stricter");
        check(Some(Stricter::Later), Some(json!("b")), json!("a"), "looser than \"b\"");
        check(Some(Stricter::Later), Some(json!("b")), json!("z"), "looser than \"b\"");
        check(Some(Stricter::Shorter), Some(json!("1h")), json!("59m"), "stricter");
        check(Some(Stricter::Shorter), Some(json!("1h")), json!("60m"), "same");
        check(Some(Stricter::Shorter), Some(json!("1h")), json!("61m"), "looser than \"1h\"");
        check(Some(Stricter::Smaller), Some(json!(5)), json!(4), "stricter");
        check(Some(Stricter::Smaller), Some(json!(5)), json!(6), "looser than 5");
        check(Some(Stricter::Smaller), None, json!(6), "stricter");
        check(Some(Stricter::On), Some(json!(false)), json!(true), "stricter");
        check(Some(Stricter::On), Some(json!(true)), json!(false), "looser than true");
        check(Some(Stricter::Beside), Some(json!("1/s")), json!("9/s"), "stricter");
        check(Some(Stricter::Fewer), Some(json!(["a", "b"])), json!(["b"]), "stricter");
        check(Some(Stricter::Fewer), Some(json!(["a", "b"])), json!(["b", "a"]), "same");
        check(Some(Stricter::Fewer), Some(json!(["a"])), json!(["b"]), "looser than [\"a\"]");
        check(Some(Stricter::Fewer), Some(json!([])), json!(["b"]), "looser than []");
        check(Some(Stricter::Tighter), Some(json!("workspace")), json!("read-only"), "stricter");
        check(Some(Stricter::Tighter), Some(json!("off")), json!("network:a.b"), "stricter");
        check(Some(Stricter::Tighter), Some(json!("workspace")), json!("off"), "looser than \"workspace\"");
        check(Some(Stricter::Tighter), Some(json!("network:a.b")), json!("network:a.b"), "same");
        check(
            Some(Stricter::Tighter),
            Some(json!("network:a.b,c.d")),
            json!("network:a.b"),
            "looser than \"network:a.b,c.d\"",
        );
        check(Some(Stricter::Beside), None, json!([]), "only a trusted file may take a limit away");
    }
}
