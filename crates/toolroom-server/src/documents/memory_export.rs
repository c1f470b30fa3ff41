//! Memories as Markdown.

use toolroom::memory::{Category, Memory};

/// Sections, in the order of the system prompt.
const SECTIONS: [(Category, &str); 4] = [
    (Category::General, "Memories"),
    (Category::Preference, "Preferences"),
    (Category::Learning, "Learnings"),
    (Category::Error, "Known issues"),
];

/// One section per non-empty category, one item per memory.
pub(crate) fn memories_as_markdown(memories: &[Memory]) -> String {
    let mut text = "# Memory\n".to_owned();
    for (category, title) in SECTIONS {
        let items: Vec<String> =
            memories.iter().filter(|memory| memory.category == category).map(item).collect();
        if !items.is_empty() {
            text.push_str(&format!("\n## {title}\n\n{}\n", items.join("\n")));
        }
    }
    text.trim_end().to_owned()
}

/// Further lines are indented, so that none becomes a heading.
fn item(memory: &Memory) -> String {
    let mut notes = Vec::new();
    if memory.hits > 1 {
        notes.push(format!("reinforced {}×", memory.hits));
    }
    notes.extend(memory.source.as_ref().map(|source| format!("from {source}")));
    let notes = if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) };
    let content = memory.content.trim().lines().collect::<Vec<_>>().join("\n  ");
    format!("- **{}**{notes}: {content}", memory.key)
}

#[cfg(test)]
mod tests {
    use toolroom::clock::Timestamp;
    use toolroom::policy::Provenance;

    use super::*;

    fn memory(key: &str, content: &str, category: Category, hits: u64, source: Option<&str>) -> Memory {
        let at = Timestamp::from_micros(0);
        let (key, content, source) = (key.to_owned(), content.to_owned(), source.map(str::to_owned));
        let stored_under = Provenance::NONE;
        Memory { key, content, category, hits, source, stored_under, created_at: at, updated_at: at }
    }

    #[test]
    fn every_memory_is_an_item_of_its_category() {
        let memories = [
            memory("vpn", "Needs the VPN.\n\n# Not a heading\n", Category::Error, 1, None),
            memory("city", "Lives in Tashkent.", Category::General, 1, None),
            memory("euros", "Prices in euros.", Category::Preference, 5, Some("user correction")),
        ];
        let expected = "# Memory\n\n## Memories\n\n- **city**: Lives in Tashkent.\n\n## Preferences\n\n\
            - **euros** (reinforced 5×, from user correction): Prices in euros.\n\n## Known issues\n\n\
            - **vpn**: Needs the VPN.\n  \n  # Not a heading";
        assert_eq!(memories_as_markdown(&memories), expected);
        assert_eq!(memories_as_markdown(&[]), "# Memory");
    }
}
