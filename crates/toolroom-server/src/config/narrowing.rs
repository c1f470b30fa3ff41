//! Untrusted project files may only restrict: compares their settings with the current ones.

use std::cmp::Ordering;
use std::fmt;

use serde::Serialize;
use serde_json::Value;
use toolroom::catalog::LimitMode;
use toolroom::policy::Ruling;

use crate::config::check::problem::escaped;
use crate::config::check::shape::{Key, Shape};
use crate::config::effective::{Setting, limits};
use crate::config::text::toml::{joined, value_text};
use crate::config::values::SandboxProfile;
use crate::config::values::parse_span;
use crate::config::{ConfigAgent, ConfigRule, LoadedConfig, Origin};

/// Which of two values is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::config) enum Stricter {
    /// The later choice of the list.
    Later,
    /// The shorter span.
    Shorter,
    /// The smaller number.
    Smaller,
    /// True.
    On,
    /// All values apply together, so only an empty list is more lenient.
    Beside,
    /// The list with entries removed and none added.
    Fewer,
    /// The profile that allows less.
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

    pub(in crate::config) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stricter| stricter.as_str() == name)
    }
}

/// Effect of an untrusted value.
pub(in crate::config) enum Narrowing {
    /// Stricter than the current value: takes effect.
    Stricter,
    /// No change.
    Same,
    /// More lenient, or not comparable: ignored.
    Refused(String),
}

/// Whether an untrusted file may replace the current value with `wanted`.
pub(in crate::config) fn narrow(key: &Key, current: Option<&Value>, wanted: &Value) -> Narrowing {
    let Some(stricter) = key.stricter else {
        return match current == Some(wanted) {
            true => Narrowing::Same,
            false => Narrowing::Refused("only a trusted file may set this".to_owned()),
        };
    };
    if stricter == Stricter::Beside {
        return match wanted.as_array().is_some_and(Vec::is_empty) {
            true => Narrowing::Refused("only a trusted file may remove a limit".to_owned()),
            false => Narrowing::Stricter,
        };
    }
    let Some(current) = current else { return Narrowing::Stricter };
    match strictness(stricter, key, wanted, current) {
        Some(Ordering::Greater) => Narrowing::Stricter,
        Some(Ordering::Equal) => Narrowing::Same,
        Some(Ordering::Less) | None => {
            Narrowing::Refused(format!("more lenient than {}", value_text(current)))
        }
    }
}

/// Compares the strictness of `wanted` with that of `current`.
fn strictness(stricter: Stricter, key: &Key, wanted: &Value, current: &Value) -> Option<Ordering> {
    match stricter {
        Stricter::Later => {
            let Shape::Choice(choices) = &key.shape else { return None };
            let position =
                |value: &Value| choices.iter().position(|choice| Some(choice.as_str()) == value.as_str());
            Some(position(wanted)?.cmp(&position(current)?))
        }
        Stricter::Shorter => {
            let span = |value: &Value| parse_span(value.as_str()?).ok();
            Some(span(current)?.cmp(&span(wanted)?))
        }
        Stricter::Smaller => current.as_f64()?.partial_cmp(&wanted.as_f64()?),
        Stricter::On => Some(wanted.as_bool()?.cmp(&current.as_bool()?)),
        Stricter::Fewer => {
            let (wanted, current) = (wanted.as_array()?, current.as_array()?);
            let adds = wanted.iter().any(|entry| !current.contains(entry));
            let lacks = current.iter().any(|entry| !wanted.contains(entry));
            match (adds, lacks) {
                (true, _) => Some(Ordering::Less),
                (false, true) => Some(Ordering::Greater),
                (false, false) => Some(Ordering::Equal),
            }
        }
        Stricter::Tighter => {
            let profile = |value: &Value| SandboxProfile::try_from(value.as_str()?.to_owned()).ok();
            profile(wanted)?.compare(&profile(current)?)
        }
        Stricter::Beside => None,
    }
}

/// A setting of an untrusted project file that has no effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IgnoredSetting {
    /// The file.
    pub origin: Origin,
    /// The line.
    pub line: Option<usize>,
    /// The key.
    pub key: String,
    /// Its value as TOML, or a rule as text.
    pub wanted: String,
    /// Why it has no effect.
    pub why: String,
}

impl IgnoredSetting {
    /// For an untrusted rule that allows, which the kernel skips.
    pub(in crate::config) fn for_rule(rule: &ConfigRule) -> Option<Self> {
        let allows = rule.text.effect == Ruling::Allow && !rule.origin.is_trusted();
        // Not shortened: the user decides about trust based on it.
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

impl fmt::Display for IgnoredSetting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.origin.place(self.line);
        write!(formatter, "{place}: `{} = {}` is ignored: {}", self.key, self.wanted, self.why)
    }
}

/// What the project file would allow if it were trusted, one line per setting.
#[must_use]
pub fn what_trust_would_allow(loaded: &LoadedConfig) -> Vec<String> {
    let line = |key: &str, wanted: &str, why: &str| format!("{key} = {wanted} ({why})");
    let refused = loaded.ignored.iter().map(|ignored| line(&ignored.key, &ignored.wanted, &ignored.why));
    let is_listed = |setting: &Setting| setting.is_ignored(&loaded.ignored);
    // A tool's own limits are not known here, so all limits are listed.
    let narrowed = loaded.config.tools.iter().filter(|section| section.mode == LimitMode::Narrow);
    let replaced = narrowed.flat_map(limits).filter_map(|limit| {
        let why = "replaces the current limit, even if that is stricter";
        (!is_listed(&limit)).then(|| line(&limit.key, &limit.toml(), why))
    });
    let agents = loaded.config.agents.iter().filter(|said| said.mode == LimitMode::Narrow);
    let agents = agents.flat_map(ConfigAgent::settings).filter(|setting| !is_listed(setting));
    let agents = agents.map(|setting| {
        line(&setting.key, &setting.toml(), "replaces the current value, even if that is stricter")
    });
    refused.chain(replaced).chain(agents).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_stricter_values_take_effect() {
        let choices = ["a", "b", "c"].map(str::to_owned).to_vec();
        let key = |stricter| Key {
            shape: Shape::Choice(choices.clone()),
            description: String::new(),
            default: None,
            stricter,
        };
        let check = |stricter, current: Option<Value>, wanted: Value, expected: &str| {
            let effect = match narrow(&key(stricter), current.as_ref(), &wanted) {
                Narrowing::Stricter => "stricter".to_owned(),
                Narrowing::Same => "same".to_owned(),
                Narrowing::Refused(why) => why,
            };
            assert_eq!(effect, expected, "{stricter:?}: {wanted} in place of {current:?}");
        };
        check(None, None, json!("a"), "only a trusted file may set this");
        check(None, Some(json!("b")), json!("a"), "only a trusted file may set this");
        check(None, Some(json!("a")), json!("a"), "same");
        check(Some(Stricter::Later), Some(json!("b")), json!("c"), "stricter");
        check(Some(Stricter::Later), Some(json!("b")), json!("a"), "more lenient than \"b\"");
        check(Some(Stricter::Later), Some(json!("b")), json!("z"), "more lenient than \"b\"");
        check(Some(Stricter::Shorter), Some(json!("1h")), json!("59m"), "stricter");
        check(Some(Stricter::Shorter), Some(json!("1h")), json!("60m"), "same");
        check(Some(Stricter::Shorter), Some(json!("1h")), json!("61m"), "more lenient than \"1h\"");
        check(Some(Stricter::Smaller), Some(json!(5)), json!(4), "stricter");
        check(Some(Stricter::Smaller), Some(json!(5)), json!(6), "more lenient than 5");
        check(Some(Stricter::Smaller), None, json!(6), "stricter");
        check(Some(Stricter::On), Some(json!(false)), json!(true), "stricter");
        check(Some(Stricter::On), Some(json!(true)), json!(false), "more lenient than true");
        check(Some(Stricter::Beside), Some(json!("1/s")), json!("9/s"), "stricter");
        check(Some(Stricter::Fewer), Some(json!(["a", "b"])), json!(["b"]), "stricter");
        check(Some(Stricter::Fewer), Some(json!(["a", "b"])), json!(["b", "a"]), "same");
        check(Some(Stricter::Fewer), Some(json!(["a"])), json!(["b"]), "more lenient than [\"a\"]");
        check(Some(Stricter::Fewer), Some(json!([])), json!(["b"]), "more lenient than []");
        check(Some(Stricter::Tighter), Some(json!("workspace")), json!("read-only"), "stricter");
        check(Some(Stricter::Tighter), Some(json!("off")), json!("network:a.b"), "stricter");
        check(
            Some(Stricter::Tighter),
            Some(json!("workspace")),
            json!("off"),
            "more lenient than \"workspace\"",
        );
        check(Some(Stricter::Tighter), Some(json!("network:a.b")), json!("network:a.b"), "same");
        check(
            Some(Stricter::Tighter),
            Some(json!("network:a.b,c.d")),
            json!("network:a.b"),
            "more lenient than \"network:a.b,c.d\"",
        );
        check(Some(Stricter::Beside), None, json!([]), "only a trusted file may remove a limit");
    }
}
