//! Everything that holds, and where it came from.

use serde::Serialize;
use serde_json::{Value, to_value};
use toolroom::catalog::LimitMode;

use super::shape::Key;
use super::toml_text::{joined, value_text};
use super::{ConfigLimits, Ignored, Loaded, Origin, agents, vendors};

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// Its whole path; rules are named by their id: `rule.no-mail`.
    pub key: String,
    /// Its value.
    pub value: Value,
    /// Where it was set.
    pub origin: Origin,
}

impl Setting {
    /// Its value as TOML, on one line.
    #[must_use]
    pub fn toml(&self) -> String {
        value_text(&self.value)
    }

    /// How it stands in a file: a line, or a table of several for a rule.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        match &self.value {
            Value::Object(rule) => {
                let key = |(name, value): (&String, &Value)| format!("{name} = {}", value_text(value));
                std::iter::once("[[rule]]".to_owned()).chain(rule.iter().map(key)).collect()
            }
            _ => vec![format!("{} = {}", self.key, self.toml())],
        }
    }

    pub(super) fn is_ignored(&self, ignored: &[Ignored]) -> bool {
        ignored.iter().any(|ignored| ignored.key == self.key && ignored.origin == self.origin)
    }
}

impl Loaded {
    /// Where a key was set.
    #[must_use]
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// Every key in the order of the reference, then what is said of vendors and agents, the limits of tools and the
    /// rules in the order in which they apply. Left out are limits that a later section about the same name replaces, and what is ignored.
    #[must_use]
    pub fn effective(&self) -> Vec<Setting> {
        let config = to_value(&self.config).ok();
        let at = |path: &[&str]| path.iter().try_fold(config.as_ref()?, |value, step| value.get(step));
        let settings = Key::root().settings().into_iter().filter_map(|(path, _)| {
            let key = path.join(".");
            Some(Setting { value: at(&path)?.clone(), origin: self.origin(&key).clone(), key })
        });
        let limits = self.config.tools.iter().enumerate().flat_map(|(position, section)| {
            let later = self.config.tools.get(position + 1..).unwrap_or_default();
            limits(section).into_iter().filter(|limit| !is_replaced(limit, section, later))
        });
        let rules = self.config.rules.iter().filter_map(|rule| {
            let value = to_value(&rule.text).ok()?;
            Some(Setting { key: joined("rule", &rule.text.id), value, origin: rule.origin.clone() })
        });
        let vendors = vendors::settings(&self.config.vendors);
        let agents = agents::settings(&self.config.agents);
        let all = settings.chain(vendors).chain(agents).chain(limits).chain(rules);
        all.filter(|setting| !setting.is_ignored(&self.ignored)).collect()
    }
}

/// What a section says, a setting for each limit.
pub(super) fn limits(section: &ConfigLimits) -> Vec<Setting> {
    let Ok(Value::Object(keys)) = to_value(&section.keys) else { return Vec::new() };
    let path = joined("tool", &section.tool);
    let setting = |(name, value): (&String, &Value)| Setting {
        key: joined(&path, name),
        value: value.clone(),
        origin: section.origin.clone(),
    };
    keys.iter().map(setting).collect()
}

fn is_replaced(limit: &Setting, section: &ConfigLimits, later: &[ConfigLimits]) -> bool {
    let replaces = |other: &&ConfigLimits| other.mode == LimitMode::Replace && other.tool == section.tool;
    later.iter().filter(replaces).any(|other| limits(other).iter().any(|other| other.key == limit.key))
}
