//! Imports MCP servers from the configuration files of other programs. Pure: parses text into entries.

mod entry;
mod json_text;
mod rules;
mod source;
mod yaml_text;

pub use entry::{ImportTarget, ImportedServer, ImportedValue, TemplatePart};
pub use rules::SuggestedRule;
pub use source::{ConfigLocation, ImportSource};

use serde_json::Value;

/// Further servers of a file are ignored.
const MAX_SERVERS: usize = 200;

/// The contents of a configuration file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ImportedFile {
    /// Servers that can be imported.
    pub servers: Vec<ImportedServer>,
    /// Names of servers that cannot be imported, and why.
    pub skipped: Vec<(String, String)>,
    /// Rules equivalent to the file's permissions.
    pub rules: Vec<SuggestedRule>,
    /// Settings that are not imported.
    pub ignored: Vec<String>,
}

/// Parses a configuration file of another program. `folder` is the working folder, for settings that depend on it.
///
/// # Errors
/// If the text cannot be parsed.
pub fn parse(source: ImportSource, text: &str, folder: &str) -> Result<ImportedFile, String> {
    let document: Value = match source {
        ImportSource::Codex => {
            let table: toml::Table =
                text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
            serde_json::to_value(table).map_err(|error| error.to_string())?
        }
        ImportSource::Goose => yaml_text::parse(text)?,
        _ => json_text::parse(text)?,
    };
    let mut contents = ImportedFile::default();
    let mut groups = vec![(None, document.get(source.key()))];
    if source == ImportSource::ClaudeCode {
        let of_folder = document.get("projects").and_then(|all| all.get(folder));
        groups.push((Some(folder), of_folder.and_then(|one| one.get(source.key()))));
        rules::from_claude_code(&document, &mut contents);
    }
    let servers = groups.into_iter().filter_map(|(folder, group)| Some((folder, group?.as_object()?)));
    let servers =
        servers.flat_map(|(folder, group)| group.iter().map(move |(name, server)| (folder, name, server)));
    for (folder, name, server) in servers.take(MAX_SERVERS) {
        match entry::parse(source, name, folder, server) {
            Ok(imported) => {
                contents.rules.extend(rules::from_entry(name, server));
                contents.ignored.extend(rules::ignored_settings(name, server));
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
