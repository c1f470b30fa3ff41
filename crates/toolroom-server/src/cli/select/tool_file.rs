//! Parses the file of `--tools`: an object of names and descriptions, or an array of objects.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toolroom::selector::ToolCard;

/// Parses the tools; errors have line and column.
pub(super) fn parse(text: &str) -> Result<Vec<ToolCard>, serde_json::Error> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map(|ToolFile(cards)| cards)
}

struct ToolFile(Vec<ToolCard>);

/// A tool in an array. Other fields are ignored.
#[derive(Deserialize)]
struct ToolEntry {
    name: String,
    description: String,
    #[serde(default)]
    when_to_use: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    usage_examples: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for ToolFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ToolFileVisitor)
    }
}

struct ToolFileVisitor;

impl<'de> Visitor<'de> for ToolFileVisitor {
    type Value = ToolFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of names and descriptions, or an array of tools")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ToolFile, A::Error> {
        let mut list = CardList::default();
        while let Some((name, description)) = map.next_entry::<String, String>()? {
            list.add(ToolEntry { name, description, when_to_use: None, tags: None, usage_examples: None })?;
        }
        Ok(ToolFile(list.cards))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ToolFile, A::Error> {
        let mut list = CardList::default();
        while let Some(tool) = seq.next_element::<ToolEntry>()? {
            list.add(tool)?;
        }
        Ok(ToolFile(list.cards))
    }
}

#[derive(Default)]
struct CardList {
    names: HashSet<String>,
    cards: Vec<ToolCard>,
}

impl CardList {
    /// Two tools with one name could not be told apart in a ranking.
    fn add<E: Error>(&mut self, tool: ToolEntry) -> Result<(), E> {
        if tool.name.trim().is_empty() {
            return Err(E::custom("a tool has an empty name"));
        }
        if !self.names.insert(tool.name.clone()) {
            return Err(E::custom(format_args!("two tools are called `{}`", tool.name)));
        }
        self.cards.push(ToolCard {
            id: tool.name.clone(),
            name: tool.name,
            when_to_use: tool.when_to_use.filter(|text| !text.trim().is_empty()),
            description: tool.description,
            tags: tool.tags.unwrap_or_default(),
            usage_examples: tool.usage_examples.unwrap_or_default(),
            ..ToolCard::default()
        });
        Ok(())
    }
}
