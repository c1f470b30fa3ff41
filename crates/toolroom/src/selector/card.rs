//! Cards: the texts of a tool that the selector indexes.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::conversation::PastRequest;
use crate::tool::ToolSpec;

/// Requests of a tool that count, including usage examples; the newest ones.
pub const REQUESTS: usize = 64;

/// The cards of tools, with the requests that chose them before, oldest first.
#[must_use]
pub fn cards<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>, past: Vec<PastRequest>) -> Vec<ToolCard> {
    let mut requests: HashMap<Arc<str>, Vec<String>> = HashMap::new();
    for PastRequest { tool, message } in past {
        requests.entry(tool).or_default().push(message.to_string());
    }
    let card = |spec: &ToolSpec| {
        ToolCard::from_spec(spec).with_requests(requests.remove(spec.id.as_str()).unwrap_or_default())
    };
    specs.into_iter().map(card).collect()
}

/// The texts of a tool that the selector indexes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ToolCard {
    /// Its id in rankings.
    pub id: String,
    /// Its name; words are found in `snake_case`, `kebab-case` and `camelCase`.
    pub name: String,
    /// When to pick it. Without this, the first line of the description counts as much.
    pub when_to_use: Option<String>,
    /// What it does.
    pub description: String,
    /// Names of its parameters.
    pub parameters: Vec<String>,
    /// Words it is found by.
    pub tags: Vec<String>,
    /// Requests it answers, as its author wrote them.
    pub usage_examples: Vec<String>,
    /// Requests that chose it, oldest first.
    pub requests: Vec<String>,
}

impl ToolCard {
    /// A tool's definition as a card, without past requests.
    #[must_use]
    pub fn from_spec(spec: &ToolSpec) -> Self {
        let properties = spec.parameters.get("properties").and_then(Value::as_object);
        let title = std::iter::once(&spec.title);
        Self {
            id: spec.id.as_str().to_owned(),
            name: spec.id.bare().to_owned(),
            when_to_use: spec.when_to_use.clone(),
            description: spec.description.clone(),
            parameters: properties.into_iter().flat_map(|object| object.keys().cloned()).collect(),
            tags: title.chain(&spec.tags).chain(&spec.aliases).chain(&spec.category).cloned().collect(),
            usage_examples: spec.usage_examples.clone(),
            requests: Vec::new(),
        }
    }

    /// Adds requests that chose the tool.
    #[must_use]
    pub fn with_requests(mut self, requests: impl IntoIterator<Item = String>) -> Self {
        self.requests.extend(requests);
        self
    }

    /// The text that says when to pick the tool, and the rest of its description.
    pub(super) fn described(&self) -> (&str, &str) {
        match &self.when_to_use {
            Some(when) => (when, &self.description),
            None => {
                let text = self.description.trim_start();
                text.split_once('\n').unwrap_or((text, ""))
            }
        }
    }

    /// The requests that count.
    pub(super) fn counted_requests(&self) -> impl Iterator<Item = &str> {
        let all = self.usage_examples.len() + self.requests.len();
        self.usage_examples
            .iter()
            .chain(&self.requests)
            .skip(all.saturating_sub(REQUESTS))
            .map(String::as_str)
    }
}
