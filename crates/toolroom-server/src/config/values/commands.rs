//! Values about commands: allowed commands and sandbox profiles.

use std::borrow::Cow;
use std::cmp::Ordering;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom_host::sandbox::NamedProfile;
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

/// A sandbox profile: `workspace`, `read-only`, `network:HOST[:PORT],…` or `off`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SandboxProfile(pub NamedProfile);

impl SandboxProfile {
    /// Compares strictness; `None` if not comparable.
    pub(in crate::config) fn compare(&self, other: &Self) -> Option<Ordering> {
        let tightness = |profile: &NamedProfile| match profile {
            NamedProfile::Off => 0,
            NamedProfile::Network(_) => 1,
            NamedProfile::Workspace => 2,
            NamedProfile::ReadOnly => 3,
        };
        match (&self.0, &other.0) {
            (ours, theirs) if ours == theirs => Some(Ordering::Equal),
            // Different hosts are not comparable.
            (NamedProfile::Network(_), NamedProfile::Network(_)) => None,
            (ours, theirs) => Some(tightness(ours).cmp(&tightness(theirs))),
        }
    }
}

impl Default for SandboxProfile {
    fn default() -> Self {
        Self(NamedProfile::Workspace)
    }
}

impl TryFrom<String> for SandboxProfile {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error| format!("{:#}", anyhow::Error::from(error)))
    }
}

impl From<SandboxProfile> for String {
    fn from(profile: SandboxProfile) -> Self {
        profile.0.to_string()
    }
}

impl JsonSchema for SandboxProfile {
    fn schema_name() -> Cow<'static, str> {
        "SandboxProfile".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "sandbox-profile" })
    }
}
