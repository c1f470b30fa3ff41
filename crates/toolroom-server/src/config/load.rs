//! From layers to a checked configuration.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, from_value, to_value};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toolroom::catalog::LimitMode;

use super::check::check;
use super::document::{Document, in_order};
use super::narrow::{Ignored, Step, step};
use super::overheard::{overheard, overheard_vendor};
use super::problem::{Problem, Problems, escaped, shortened, shown};
use super::shape::Key;
use super::toml_text::{joined, value_text};
use super::{
    AgentKeys, Config, ConfigAgent, ConfigError, ConfigLimits, ConfigRule, ConfigVendor, Layer, Origin,
    Rates, ToolKeys, VendorKeys, agents,
};

/// The longest name a tool can have.
const MAX_TOOL_BYTES: usize = 256;

/// A configuration, and how it came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// What holds.
    pub config: Config,
    /// What a project's file wanted and may not have until it is trusted.
    pub ignored: Vec<Ignored>,
    /// What is odd and changes nothing.
    pub warnings: Vec<Problem>,
    /// Where each key was set that was set at all.
    pub(super) origins: BTreeMap<String, Origin>,
}

/// Puts layers together, whatever their order. Tells everything that is wrong in any of them at once.
pub fn load(layers: &[Layer]) -> Result<Loaded, ConfigError> {
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

/// The steps of a key's path.
type Path = Vec<&'static str>;

/// What the layers say so far.
#[derive(Default)]
struct Merge {
    settings: BTreeMap<Path, (Value, Origin)>,
    rules: Vec<ConfigRule>,
    tools: Vec<ConfigLimits>,
    vendors: Vec<ConfigVendor>,
    agents: Vec<ConfigAgent>,
    ignored: Vec<Ignored>,
}

impl Merge {
    /// Adds a document that fits the keys there are.
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
            for (tool, section) in in_order(tools) {
                self.limits(tool.get_ref(), section, document, problems);
            }
        }
        if let Some(DeValue::Table(vendors)) = document.root.get("vendor").map(Spanned::get_ref) {
            for (vendor, section) in in_order(vendors) {
                self.vendor(vendor.get_ref(), section, document, problems);
            }
        }
        if let Some(DeValue::Table(agents)) = document.root.get("agent").map(Spanned::get_ref) {
            for (agent, section) in in_order(agents) {
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
            let holds = self.settings.get(&path).map(|(value, _)| value).or(key.default.as_ref());
            match step(key, holds, &wanted) {
                Step::Stricter => {}
                Step::Same => return,
                Step::Refused(why) => {
                    let (line, wanted) = (document.line(&value.span()), value_text(&wanted));
                    self.ignored.push(Ignored { origin, line, key: name, wanted, why });
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
        self.ignored.extend(Ignored::rule(&added));
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
            let message =
                format!("is no tool: a name has 1 to {MAX_TOOL_BYTES} bytes and no control characters");
            problems.push(document.problem(&section.span(), &joined("tool", shortened(tool)), message));
            return;
        }
        let path = joined("tool", tool);
        let Some(mut keys) = typed::<ToolKeys>(section, &path, document, problems) else { return };
        let mode = if document.origin.is_trusted() { LimitMode::Replace } else { LimitMode::Narrow };
        if mode == LimitMode::Narrow {
            let holding = self.tools.iter().rev().filter(|other| other.tool == tool);
            let holding: Vec<Value> = holding.filter_map(|other| to_value(&other.keys).ok()).collect();
            self.narrow(["tool", tool], &holding.iter().collect::<Vec<_>>(), section, document);
            keys.rate = keys.rate.filter(|rates| *rates != Rates::default());
            keys.open = None;
        }
        let (origin, line) = (document.origin.clone(), document.line(&section.span()));
        self.tools.push(ConfigLimits { tool: tool.to_owned(), keys, mode, origin, line });
    }

    /// Only a trusted file may say anything about a vendor: it could send keys and conversations elsewhere.
    fn vendor(
        &mut self,
        vendor: &str,
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
        problems: &mut Problems,
    ) {
        let path = joined("vendor", shortened(vendor));
        if !ConfigVendor::is_name(vendor) {
            let message = "is no vendor: a name is made of small letters, digits, `-` and `_`";
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
        self.ignored.extend(said.settings().into_iter().map(|setting| Ignored {
            wanted: setting.toml(),
            key: setting.key,
            origin: setting.origin,
            line,
            why: "only a trusted file may set it".to_owned(),
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
        if let Some(why) = ConfigAgent::wrong(agent, &keys) {
            let message = format!("cannot be used: {}", escaped(&why));
            problems.push(document.problem(&section.span(), &path, message));
            return;
        }
        let mode = if document.origin.is_trusted() { LimitMode::Replace } else { LimitMode::Narrow };
        if mode == LimitMode::Narrow {
            let holding = self.agents.iter().rev().filter(|other| other.agent == agent);
            let holding: Vec<Value> = holding.filter_map(|other| to_value(&other.keys).ok()).collect();
            self.narrow(["agent", agent], &holding.iter().collect::<Vec<_>>(), section, document);
            keys = keys.narrowing();
        }
        let (origin, line) = (document.origin.clone(), document.line(&section.span()));
        self.agents.push(ConfigAgent { agent: agent.to_owned(), keys, mode, origin, line });
    }

    /// Tells which keys of an untrusted section cannot have been meant to make anything stricter. `holding` is what is
    /// said about the same thing already, the strongest first.
    fn narrow(
        &mut self,
        [table, name]: [&str; 2],
        holding: &[&Value],
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
    ) {
        if let Some(each) = Key::root().find([table, name]) {
            self.narrow_below(each, &joined(table, name), holding, section, document);
        }
    }

    fn narrow_below(
        &mut self,
        each: &Key,
        path: &str,
        holding: &[&Value],
        section: &Spanned<DeValue<'_>>,
        document: &Document<'_>,
    ) {
        let DeValue::Table(entries) = section.get_ref() else { return };
        for (name, value) in in_order(entries) {
            let name: &str = name.get_ref();
            let Some(key) = each.find([name]) else { continue };
            let holding: Vec<&Value> = holding.iter().filter_map(|keys| keys.get(name)).collect();
            let path = joined(path, name);
            if !key.keys().is_empty() {
                self.narrow_below(key, &path, &holding, value, document);
                continue;
            }
            let Ok(wanted) = read::<Value>(value) else { continue };
            if let Step::Refused(why) = step(key, holding.first().copied(), &wanted) {
                let (line, wanted) = (document.line(&value.span()), value_text(&wanted));
                self.ignored.push(Ignored { origin: document.origin.clone(), line, key: path, wanted, why });
            }
        }
    }

    fn finish(self, mut problems: Problems, mut warnings: Vec<Problem>) -> Result<Loaded, ConfigError> {
        let mut settings = Map::new();
        let mut origins = BTreeMap::new();
        for (path, (value, origin)) in self.settings {
            put(&mut settings, &path, value);
            origins.insert(path.join("."), origin);
        }
        let config = from_value::<Config>(Value::Object(settings));
        match &config {
            Ok(config) => {
                for (key, message) in overheard(config) {
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
            if let Some((key, message)) = overheard_vendor(&said.vendor, &said.keys) {
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
        Ok(Loaded { config, ignored: self.ignored, warnings, origins })
    }
}

/// The value at a path, if the document sets it.
fn at<'d, 't>(root: &'d DeTable<'t>, path: &[&str]) -> Option<&'d Spanned<DeValue<'t>>> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(root.get(*first)?, |value, step| value.get_ref().get(*step))
}

/// Sets the value at a path, with the tables on its way.
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

/// The value as its type; the check before has told nearly everything that could be wrong with it.
fn typed<T: DeserializeOwned>(
    value: &Spanned<DeValue<'_>>,
    path: &str,
    document: &Document<'_>,
    problems: &mut Problems,
) -> Option<T> {
    let tell = |error: toml::de::Error| {
        let span = error.span().unwrap_or_else(|| value.span());
        problems.push(document.problem(&span, path, format!("cannot be used: {}", escaped(error.message()))));
    };
    read(value).map_err(tell).ok()
}
