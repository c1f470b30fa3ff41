//! Commands that an operator allows.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom_tools::shell::judge::AllowlistEntry;

/// A program with patterns for its arguments: `git log *`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AllowedCommand {
    text: String,
    /// The parsed pattern.
    pub entry: AllowlistEntry,
}

impl TryFrom<String> for AllowedCommand {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.parse() {
            Ok(entry) => Ok(Self { text, entry }),
            Err(error) => Err(format!("{error}")),
        }
    }
}

impl From<AllowedCommand> for String {
    fn from(command: AllowedCommand) -> Self {
        command.text
    }
}

impl JsonSchema for AllowedCommand {
    fn schema_name() -> Cow<'static, str> {
        "AllowedCommand".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "command" })
    }
}
