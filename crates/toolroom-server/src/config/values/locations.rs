//! Folders, and network destinations.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom_host::environment;
use toolroom_host::net::EgressRule;

/// A folder: an absolute path, or one that begins with `~/`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Folder(String);

impl Folder {
    pub(in crate::config) fn parse(text: &str) -> Result<Self, String> {
        if text.contains('\0') {
            return Err("a path cannot contain a NUL character".to_owned());
        }
        let is_absolute = Path::new(text).is_absolute();
        match is_absolute || text == "~" || text.starts_with("~/") {
            true => Ok(Self(text.to_owned())),
            false => Err("use an absolute path, such as `/srv/data` or `~/notes`".to_owned()),
        }
    }

    /// The path; `None` if it starts with `~` and `HOME` is not set.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        match self.0.strip_prefix('~') {
            Some(rest) => Some(environment::path_variable("HOME")?.join(rest.trim_start_matches('/'))),
            None => Some(PathBuf::from(&self.0)),
        }
    }
}

impl TryFrom<String> for Folder {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Folder> for String {
    fn from(folder: Folder) -> Self {
        folder.0
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl JsonSchema for Folder {
    fn schema_name() -> Cow<'static, str> {
        "Folder".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "folder", "pattern": "^(/|~$|~/)" })
    }
}

/// A private network destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Destination(pub EgressRule);

impl TryFrom<String> for Destination {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: toolroom_host::net::EgressRuleError| error.to_string())
    }
}

impl From<Destination> for String {
    fn from(destination: Destination) -> Self {
        destination.0.to_string()
    }
}

impl JsonSchema for Destination {
    fn schema_name() -> Cow<'static, str> {
        "Destination".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "destination" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_absolute_or_below_home() {
        for text in ["/", "/srv/data", "~", "~/notes", "~/"] {
            assert_eq!(Folder::parse(text).unwrap().to_string(), text);
        }
        for text in ["", ".", "notes", "./notes", "~ann/notes", "$HOME/x", "\\srv", "/a\0b"] {
            assert!(Folder::parse(text).is_err(), "{text}");
        }
        assert_eq!(Folder::parse("/srv/data").unwrap().path(), Some("/srv/data".into()));
    }

    #[test]
    fn a_destination_is_a_name_an_address_or_a_range() {
        for text in ["printer.lan", "localhost:11434", "10.1.2.3:8080", "192.168.0.0/16", "[fd12::1]:80"] {
            let destination = Destination::try_from(text.to_owned()).unwrap();
            assert_eq!(String::from(destination), text);
        }
        for text in ["", "*", "*.lan", "http://printer.lan", "0.0.0.0/0", "a b"] {
            assert!(Destination::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
