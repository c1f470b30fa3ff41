//! The values in effect with their origins, for `config show`.

use serde::Serialize;
use serde_json::{Value, to_value};
use toolroom::catalog::LimitMode;

use crate::config::check::shape::Key;
use crate::config::keys::{agents, vendors};
use crate::config::text::toml::{joined, value_text};
use crate::config::{ConfigLimits, IgnoredSetting, LoadedConfig, Origin};

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The full key; rules by id: `rule.no-mail`.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The origin.
    pub origin: Origin,
}

impl Setting {
    /// The value as TOML on one line.
    #[must_use]
    pub fn toml(&self) -> String {
        value_text(&self.value)
    }

    /// The lines of a file that set it: one line, or a table for a rule.
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

    pub(in crate::config) fn is_ignored(&self, ignored: &[IgnoredSetting]) -> bool {
        ignored.iter().any(|ignored| ignored.key == self.key && ignored.origin == self.origin)
    }
}

impl LoadedConfig {
    /// Origin of a key.
    #[must_use]
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// All keys in the order of the reference, then vendors, agents, limits and rules in the order in which they apply.
    /// Without replaced limits and ignored settings.
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

/// A setting for each limit of a section.
pub(in crate::config) fn limits(section: &ConfigLimits) -> Vec<Setting> {
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
