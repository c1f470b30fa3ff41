//! Merges layers into a checked configuration.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, from_value, to_value};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toolroom::catalog::LimitMode;

use crate::config::check::check;
use crate::config::check::problem::{Problem, Problems, escaped, shortened, shown};
use crate::config::check::shape::Key;
use crate::config::keys::agents;
use crate::config::narrowing::{IgnoredSetting, Narrowing, narrow};
use crate::config::text::document::{Document, entries_in_order};
use crate::config::text::toml::{joined, value_text};
use crate::config::values::{insecure_services, insecure_vendor};
use crate::config::{
    AgentKeys, Config, ConfigAgent, ConfigError, ConfigLimits, ConfigRule, ConfigVendor, Layer, Origin,
    Rates, ToolKeys, VendorKeys,
};

/// Length limit of a tool name.
const MAX_TOOL_BYTES: usize = 256;

/// A merged configuration with origins and warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// The values in effect.
    pub config: Config,
    /// Settings of an untrusted project file that have no effect.
    pub ignored: Vec<IgnoredSetting>,
    /// Warnings.
    pub warnings: Vec<Problem>,
    /// Origin of every key that is set.
    pub(in crate::config) origins: BTreeMap<String, Origin>,
}

/// Merges layers, given in any order. Reports all problems of all layers at once.
pub fn load(layers: &[Layer]) -> Result<LoadedConfig, ConfigError> {
    let mut problems = Problems::default();
    let mut warnings = Vec::new();
    let mut layers: Vec<&Layer> = layers.iter().collect();
    layers.sort_by_key(|layer| layer.rank());
    let mut merge = Merge::default();
    for layer in layers {
        for document in layer.documents(&mut problems, &mut warnings) {
            let known = problems.len();
            check(&document, &mut problems);
            if problems.len() == known {
                merge.add(&document, &mut problems);
            }
        }
    }
    merge.finish(problems, warnings)
}

/// The parts of a key.
type Path = Vec<&'static str>;

/// The layers merged so far.
#[derive(Default)]
struct Merge {
    settings: BTreeMap<Path, (Value, Origin)>,
    rules: Vec<ConfigRule>,
    tools: Vec<ConfigLimits>,
    vendors: Vec<ConfigVendor>,
    agents: Vec<ConfigAgent>,
    ignored: Vec<IgnoredSetting>,
}

impl Merge {
    /// Adds a valid document.
    fn add(&mut self, document: &Document<'_>, problems: &mut Problems) {
        for (path, key) in Key::root().settings() {
            if let Some(value) = at(&document.root, &path) {
                self.set(path, key, value, document, problems);
            }
        }
        if let Some(DeValue::Array(rules)) = document.root.get("rule").map(Spanned::get_ref) {
            rules.iter().for_each(|rule| self.rule(rule, document, problems));
        }
        if let Some(DeValue::Table(tools)) = document.root.get("tool").map(Spanned::get_ref) {
            for (tool, section) in entries_in_order(tools) {
                self.limits(tool.get_ref(), section, document, problems);
            }
        }
        if let Some(DeValue::Table(vendors)) = document.root.get("vendor").map(Spanned::get_ref) {
            for (vendor, section) in entries_in_order(vendors) {
                self.vendor(vendor.get_ref(), section, document, problems);
            }
        }
        if let Some(DeValue::Table(agents)) = document.root.get("agent").map(Spanned::get_ref) {
            for (agent, section) in entries_in_order(agents) {
                self.agent(agent.get_ref(), section, document, problems);
            }
        }
    }

    fn set(
        &mut self,
        path: Path,
        key: &Key,
        value: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
        problems: &mut Problems,
    ) {
        let name = path.join(".");
        let origin = document.origin.clone();
        let Some(wanted) = typed::<Value>(value, &name, document, problems) else { return };
        if !origin.is_trusted() {
            let current = self.settings.get(&path).map(|(value, _)| value).or(key.default.as_ref());
            match narrow(key, current, &wanted) {
                Narrowing::Stricter => {}
                Narrowing::Same => return,
                Narrowing::Refused(why) => {
                    let (line, wanted) = (document.line(&value.span()), value_text(&wanted));
                    self.ignored.push(IgnoredSetting { origin, line, key: name, wanted, why });
                    return;
                }
            }
        }
        self.settings.insert(path, (wanted, origin));
    }

    fn rule(&mut self, rule: &Spanned<DeValue<'_>>, document: &Document<'_>, problems: &mut Problems) {
        let line = document.line(&rule.span());
        let Some(text) = typed(rule, "rule", document, problems) else { return };
        let added = ConfigRule { text, origin: document.origin.clone(), line };
        if let Some(other) = self.rules.iter().find(|other| other.text.id == added.text.id) {
            let place = other.origin.place(other.line);
            let message = format!("\"{}\" is already the id of the rule at {place}", shown(&added.text.id));
            problems.push(document.problem(&rule.span(), "rule.id", message));
            return;
        }
        self.ignored.extend(IgnoredSetting::for_rule(&added));
        self.rules.push(added);
    }

    fn limits(
        &mut self,
        tool: &str,
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
        problems: &mut Problems,
    ) {
        if tool.is_empty() || tool.len() > MAX_TOOL_BYTES || tool.contains(char::is_control) {
            let message = format!(
                "is not a tool name: it must have 1 to {MAX_TOOL_BYTES} bytes and no control characters"
            );
            problems.push(document.problem(&section.span(), &joined("tool", shortened(tool)), message));
            return;
        }
        let path = joined("tool", tool);
        let Some(mut keys) = typed::<ToolKeys>(section, &path, document, problems) else { return };
        let mode = if document.origin.is_trusted() { LimitMode::Replace } else { LimitMode::Narrow };
        if mode == LimitMode::Narrow {
            let current = self.tools.iter().rev().filter(|other| other.tool == tool);
            let current: Vec<Value> = current.filter_map(|other| to_value(&other.keys).ok()).collect();
            self.check_narrowing(["tool", tool], &current.iter().collect::<Vec<_>>(), section, document);
            keys.rate = keys.rate.filter(|rates| *rates != Rates::default());
            keys.open = None;
        }
        let (origin, line) = (document.origin.clone(), document.line(&section.span()));
        self.tools.push(ConfigLimits { tool: tool.to_owned(), keys, mode, origin, line });
    }

    /// Only trusted files may configure vendors: they could redirect keys and conversations.
    fn vendor(
        &mut self,
        vendor: &str,
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
        problems: &mut Problems,
    ) {
        let path = joined("vendor", shortened(vendor));
        if !ConfigVendor::is_name(vendor) {
            let message = "is not a vendor name: use lower-case letters, digits, `-` and `_`";
            problems.push(document.problem(&section.span(), &path, message));
            return;
        }
        let Some(keys) = typed::<VendorKeys>(section, &path, document, problems) else { return };
        let said = ConfigVendor { vendor: vendor.to_owned(), keys, origin: document.origin.clone() };
        if document.origin.is_trusted() {
            self.vendors.push(said);
            return;
        }
        let line = document.line(&section.span());
        self.ignored.extend(said.settings().into_iter().map(|setting| IgnoredSetting {
            wanted: setting.toml(),
            key: setting.key,
            origin: setting.origin,
            line,
            why: "only a trusted file may set this".to_owned(),
        }));
    }

    fn agent(
        &mut self,
        agent: &str,
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
        problems: &mut Problems,
    ) {
        let path = joined("agent", shortened(agent));
        let Some(mut keys) = typed::<AgentKeys>(section, &path, document, problems) else { return };
        if let Some(why) = ConfigAgent::first_problem(agent, &keys) {
            let message = format!("is invalid: {}", escaped(&why));
            problems.push(document.problem(&section.span(), &path, message));
            return;
        }
        let mode = if document.origin.is_trusted() { LimitMode::Replace } else { LimitMode::Narrow };
        if mode == LimitMode::Narrow {
            let current = self.agents.iter().rev().filter(|other| other.agent == agent);
            let current: Vec<Value> = current.filter_map(|other| to_value(&other.keys).ok()).collect();
            self.check_narrowing(["agent", agent], &current.iter().collect::<Vec<_>>(), section, document);
            keys = keys.narrowing();
        }
        let (origin, line) = (document.origin.clone(), document.line(&section.span()));
        self.agents.push(ConfigAgent { agent: agent.to_owned(), keys, mode, origin, line });
    }

    /// Reports keys of an untrusted section that do not restrict. `current` are the existing sections of the same name,
    /// strongest first.
    fn check_narrowing(
        &mut self,
        [table, name]: [&str; 2],
        current: &[&Value],
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
    ) {
        if let Some(each) = Key::root().find([table, name]) {
            self.check_narrowing_below(each, &joined(table, name), current, section, document);
        }
    }

    fn check_narrowing_below(
        &mut self,
        each: &Key,
        path: &str,
        current: &[&Value],
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
    ) {
        let DeValue::Table(entries) = section.get_ref() else { return };
        for (name, value) in entries_in_order(entries) {
            let name: &str = name.get_ref();
            let Some(key) = each.find([name]) else { continue };
            let current: Vec<&Value> = current.iter().filter_map(|keys| keys.get(name)).collect();
            let path = joined(path, name);
            if !key.keys().is_empty() {
                self.check_narrowing_below(key, &path, &current, value, document);
                continue;
            }
            let Ok(wanted) = read::<Value>(value) else { continue };
            if let Narrowing::Refused(why) = narrow(key, current.first().copied(), &wanted) {
                let (line, wanted) = (document.line(&value.span()), value_text(&wanted));
                self.ignored.push(IgnoredSetting {
                    origin: document.origin.clone(),
                    line,
                    key: path,
                    wanted,
                    why,
                });
            }
        }
    }

    fn finish(self, mut problems: Problems, mut warnings: Vec<Problem>) -> Result<LoadedConfig, ConfigError> {
        let mut settings = Map::new();
        let mut origins = BTreeMap::new();
        for (path, (value, origin)) in self.settings {
            put(&mut settings, &path, value);
            origins.insert(path.join("."), origin);
        }
        let config = from_value::<Config>(Value::Object(settings));
        match &config {
            Ok(config) => {
                for (key, message) in insecure_services(config) {
                    let origin = origins.get(key).cloned().unwrap_or(Origin::Default);
                    problems.push(Problem { origin, line: None, key: key.to_owned(), message });
                }
            }
            Err(error) => {
                let message = escaped(&error.to_string());
                problems.push(Problem { origin: Origin::Default, line: None, key: String::new(), message });
            }
        }
        for said in &self.vendors {
            if let Some((key, message)) = insecure_vendor(&said.vendor, &said.keys) {
                problems.push(Problem { origin: said.origin.clone(), line: None, key, message });
            }
        }
        problems.into_result()?;
        let config = Config {
            rules: self.rules,
            tools: self.tools,
            vendors: self.vendors,
            agents: self.agents,
            ..config.unwrap_or_default()
        };
        warnings.extend(agents::warnings(&config));
        Ok(LoadedConfig { config, ignored: self.ignored, warnings, origins })
    }
}

/// The value at a path.
fn at<'d, 't>(root: &'d DeTable<'t>, path: &[&str]) -> Option<&'d Spanned<DeValue<'t>>> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(root.get(*first)?, |value, step| value.get_ref().get(*step))
}

/// Sets the value at a path, creating tables.
fn put(table: &mut Map<String, Value>, path: &[&str], value: Value) {
    match path {
        [] => {}
        [name] => drop(table.insert((*name).to_owned(), value)),
        [first, rest @ ..] => {
            let inner = table.entry(*first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

fn read<T: DeserializeOwned>(value: &Spanned<DeValue<'_>>) -> Result<T, toml::de::Error> {
    T::deserialize(ValueDeserializer::from(value.clone()))
}

/// Deserializes a value that passed the checks.
fn typed<T: DeserializeOwned>(
    value: &Spanned<DeValue<'_>>,
    path: &str,
    document: &Document<'_>,
    problems: &mut Problems,
) -> Option<T> {
    let tell = |error: toml::de::Error| {
        let span = error.span().unwrap_or_else(|| value.span());
        problems.push(document.problem(&span, path, format!("is invalid: {}", escaped(error.message()))));
    };
    read(value).map_err(tell).ok()
}
