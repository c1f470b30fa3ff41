//! Servers from the configurations of other programs.
//!
//! Everything here is pure: the text of a file in, entries out, each with what it says or why it is passed over. Nothing is
//! started, kept or looked up.

mod entry;
mod json_text;
mod rules;
mod source;
mod yaml_text;

pub use entry::{Given, Imported, Piece, Way};
pub use rules::SuggestedRule;
pub use source::{Place, Source};

use serde_json::Value;

/// Servers of one file are no more than this.
const MAX_SERVERS: usize = 200;

/// What a file says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// Servers that can be entered.
    pub servers: Vec<Imported>,
    /// Names of servers that cannot, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// Rules that would do here what others say there.
    pub rules: Vec<SuggestedRule>,
    /// What else the file says that is not taken over.
    pub left: Vec<String>,
}

/// Reads the file of another program. `folder` is where the person works: some files say different things for different
/// folders.
///
/// # Errors
/// When the text is not what such a file holds, in words for a person.
pub fn read(source: Source, text: &str, folder: &str) -> Result<Contents, String> {
    let document: Value = match source {
        Source::Codex => {
            let table: toml::Table =
                text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
            serde_json::to_value(table).map_err(|error| error.to_string())?
        }
        Source::Goose => yaml_text::read(text)?,
        _ => json_text::read(text)?,
    };
    let mut contents = Contents::default();
    let mut groups = vec![(None, document.get(source.key()))];
    if source == Source::ClaudeCode {
        let of_folder = document.get("projects").and_then(|all| all.get(folder));
        groups.push((Some(folder), of_folder.and_then(|one| one.get(source.key()))));
        rules::of_claude_code(&document, &mut contents);
    }
    let servers = groups.into_iter().filter_map(|(within, group)| Some((within, group?.as_object()?)));
    let servers =
        servers.flat_map(|(within, group)| group.iter().map(move |(name, server)| (within, name, server)));
    for (within, name, server) in servers.take(MAX_SERVERS) {
        match entry::read(source, name, within, server) {
            Ok(imported) => {
                contents.rules.extend(rules::of_entry(name, server));
                contents.left.extend(rules::left_of(name, server));
                contents.servers.push(imported);
            }
            Err(why) => contents.skipped.push((name.clone(), why)),
        }
    }
    Ok(contents)
}

#[cfg(test)]
#[path = "import_tests.rs"]
mod tests;
