//! Fills a tool's arguments from the parts of a sentence.

use serde_json::{Map, Value};
use toolroom::schema::{ArgumentWords, choices, parameter_allows};

use super::evidence::Evidence;
use super::tool_list::ListedTool;

/// The kind of value a parameter takes, by its name and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParameterKind {
    Expression,
    Url,
    Path,
    Zone,
    Number,
    Choice,
    Text,
    /// A value that no sentence contains.
    Other,
}

/// The arguments for a call of this tool. `None` if a required one is missing, or a part of the sentence is left over,
/// because then another tool is meant.
pub(super) fn arguments(tool: &ListedTool<'_>, evidence: &Evidence) -> Option<Map<String, Value>> {
    let mut pieces = Pieces::new(evidence);
    let mut words = ArgumentWords::new(tool.schema());
    let required = tool.required();
    for key in &required {
        let text = pieces.take(kind_of(tool, key), tool, key)?;
        words.text(key, &text).ok()?;
    }
    for (key, _) in tool.parameters().filter(|(key, _)| !required.contains(key)) {
        let kind = kind_of(tool, key);
        if matches!(kind, ParameterKind::Url | ParameterKind::Path | ParameterKind::Zone)
            && let Some(text) = pieces.take(kind, tool, key)
        {
            words.text(key, &text).ok()?;
        }
    }
    pieces.are_used().then(|| words.finish())
}

/// Whether the tool requires only an expression.
pub(super) fn calculates(tool: &ListedTool<'_>) -> bool {
    matches!(tool.required().as_slice(), [only] if kind_of(tool, only) == ParameterKind::Expression)
}

fn kind_of(tool: &ListedTool<'_>, key: &str) -> ParameterKind {
    let schema = tool.schema();
    if parameter_allows(schema, key, "boolean") {
        return ParameterKind::Other;
    }
    if !choices(schema, key).is_empty() {
        return ParameterKind::Choice;
    }
    if !parameter_allows(schema, key, "string") {
        let is_number = parameter_allows(schema, key, "number") || parameter_allows(schema, key, "integer");
        return if is_number { ParameterKind::Number } else { ParameterKind::Other };
    }
    let name = key.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["expression", "formula", "equation"]) {
        ParameterKind::Expression
    } else if has(&["url", "uri", "link", "href"]) {
        ParameterKind::Url
    } else if has(&["path", "file", "folder", "directory"]) || name == "dir" {
        ParameterKind::Path
    } else if has(&["timezone", "time_zone", "time-zone"]) || matches!(name.as_str(), "tz" | "zone") {
        ParameterKind::Zone
    } else {
        ParameterKind::Text
    }
}

/// The unused parts of the sentence.
struct Pieces<'e> {
    expression: Option<&'e str>,
    urls: &'e [String],
    paths: &'e [String],
    quoted: &'e [String],
    numbers: &'e [String],
    zone: Option<&'e str>,
    rest: &'e str,
}

impl<'e> Pieces<'e> {
    fn new(evidence: &'e Evidence) -> Self {
        let Evidence { expression, urls, paths, quoted, numbers, zone, rest } = evidence;
        // The expression contains its numbers.
        let numbers = if expression.is_some() { &[][..] } else { numbers };
        Self { expression: expression.as_deref(), urls, paths, quoted, numbers, zone: *zone, rest }
    }

    fn take(&mut self, kind: ParameterKind, tool: &ListedTool<'_>, key: &str) -> Option<String> {
        let first = |pieces: &mut &'e [String]| {
            let (first, others) = pieces.split_first()?;
            *pieces = others;
            Some(first.clone())
        };
        match kind {
            ParameterKind::Expression => self.expression.take().map(str::to_owned),
            ParameterKind::Url => first(&mut self.urls),
            ParameterKind::Path => first(&mut self.paths).or_else(|| first(&mut self.quoted)),
            ParameterKind::Zone => self.zone.take().map(str::to_owned),
            ParameterKind::Number => first(&mut self.numbers),
            ParameterKind::Choice => self.choice(tool, key),
            ParameterKind::Text => first(&mut self.quoted),
            ParameterKind::Other => None,
        }
    }

    /// The one choice that the sentence names.
    fn choice(&self, tool: &ListedTool<'_>, key: &str) -> Option<String> {
        let words = self.rest.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        let mut named =
            choices(tool.schema(), key).into_iter().filter(|choice| words.contains(&choice.to_lowercase()));
        named.next().filter(|_| named.next().is_none())
    }

    fn are_used(&self) -> bool {
        let lists = [self.urls, self.paths, self.quoted, self.numbers];
        self.expression.is_none() && self.zone.is_none() && lists.iter().all(|pieces| pieces.is_empty())
    }
}
