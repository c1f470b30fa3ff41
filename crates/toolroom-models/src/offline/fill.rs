//! A tool's arguments from what a sentence holds.

use serde_json::{Map, Value};
use toolroom::schema::{ArgumentWords, choices, parameter_allows};

use super::evidence::Evidence;
use super::on_offer::Tool;

/// What a parameter wants, as far as its name and type tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    Expression,
    Url,
    Path,
    Zone,
    Number,
    Choice,
    Text,
    /// Something no sentence says.
    Other,
}

/// The arguments for a call of this tool. Nothing if something is missing that the tool requires, or something was found
/// that it has no place for: then another tool is meant.
pub(super) fn arguments(tool: &Tool<'_>, evidence: &Evidence) -> Option<Map<String, Value>> {
    let mut pieces = Pieces::of(evidence);
    let mut words = ArgumentWords::new(tool.schema());
    let required = tool.required();
    for key in &required {
        let text = pieces.take(wants(tool, key), tool, key)?;
        words.text(key, &text).ok()?;
    }
    for (key, _) in tool.parameters().filter(|(key, _)| !required.contains(key)) {
        let wants = wants(tool, key);
        if matches!(wants, Wants::Url | Wants::Path | Wants::Zone)
            && let Some(text) = pieces.take(wants, tool, key)
        {
            words.text(key, &text).ok()?;
        }
    }
    pieces.are_used().then(|| words.finish())
}

/// Whether an expression is all that the tool requires.
pub(super) fn calculates(tool: &Tool<'_>) -> bool {
    matches!(tool.required().as_slice(), [only] if wants(tool, only) == Wants::Expression)
}

fn wants(tool: &Tool<'_>, key: &str) -> Wants {
    let schema = tool.schema();
    if parameter_allows(schema, key, "boolean") {
        return Wants::Other;
    }
    if !choices(schema, key).is_empty() {
        return Wants::Choice;
    }
    if !parameter_allows(schema, key, "string") {
        let is_number = parameter_allows(schema, key, "number") || parameter_allows(schema, key, "integer");
        return if is_number { Wants::Number } else { Wants::Other };
    }
    let name = key.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    if has(&["expression", "formula", "equation"]) {
        Wants::Expression
    } else if has(&["url", "uri", "link", "href"]) {
        Wants::Url
    } else if has(&["path", "file", "folder", "directory"]) || name == "dir" {
        Wants::Path
    } else if has(&["timezone", "time_zone", "time-zone"]) || matches!(name.as_str(), "tz" | "zone") {
        Wants::Zone
    } else {
        Wants::Text
    }
}

/// What is left of the evidence while arguments are made of it.
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
    fn of(evidence: &'e Evidence) -> Self {
        let Evidence { expression, urls, paths, quoted, numbers, zone, rest } = evidence;
        // The numbers of an expression are in it.
        let numbers = if expression.is_some() { &[][..] } else { numbers };
        Self { expression: expression.as_deref(), urls, paths, quoted, numbers, zone: *zone, rest }
    }

    fn take(&mut self, wants: Wants, tool: &Tool<'_>, key: &str) -> Option<String> {
        let first = |pieces: &mut &'e [String]| {
            let (first, others) = pieces.split_first()?;
            *pieces = others;
            Some(first.clone())
        };
        match wants {
            Wants::Expression => self.expression.take().map(str::to_owned),
            Wants::Url => first(&mut self.urls),
            Wants::Path => first(&mut self.paths).or_else(|| first(&mut self.quoted)),
            Wants::Zone => self.zone.take().map(str::to_owned),
            Wants::Number => first(&mut self.numbers),
            Wants::Choice => self.choice(tool, key),
            Wants::Text => first(&mut self.quoted),
            Wants::Other => None,
        }
    }

    /// The one choice that the sentence names.
    fn choice(&self, tool: &Tool<'_>, key: &str) -> Option<String> {
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
