//! A file with tools to rank: an object of names and descriptions, or an array of small objects.

use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use toolroom::selector::ToolCard;

/// The tools of a file, with the place of what is wrong in it.
pub(super) fn parse(text: &str) -> Result<Vec<ToolCard>, serde_json::Error> {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).map(|Tools(cards)| cards)
}

struct Tools(Vec<ToolCard>);

/// A tool in an array. What else is said about it is not looked at.
#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
    #[serde(default)]
    when_to_use: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    usage_examples: Option<Vec<String>>,
}

impl<'de> Deserialize<'de> for Tools {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Either)
    }
}

struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Tools;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of names and descriptions, or an array of tools")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tools, A::Error> {
        let mut list = List::default();
        while let Some((name, description)) = map.next_entry::<String, String>()? {
            list.add(Tool { name, description, when_to_use: None, tags: None, usage_examples: None })?;
        }
        Ok(Tools(list.cards))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tools, A::Error> {
        let mut list = List::default();
        while let Some(tool) = seq.next_element::<Tool>()? {
            list.add(tool)?;
        }
        Ok(Tools(list.cards))
    }
}

#[derive(Default)]
struct List {
    names: HashSet<String>,
    cards: Vec<ToolCard>,
}

impl List {
    /// Two tools with one name could not be told apart in a ranking.
    fn add<E: Error>(&mut self, tool: Tool) -> Result<(), E> {
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
