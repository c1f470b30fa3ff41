//! The document: its format and versions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom::agent::AgentRecord;
use toolroom::foreign::ServerRecord;
use toolroom::ledger::{StandingAnswer, SwitchState};
use toolroom::scope::ProjectId;

const FORMAT: &str = "toolroom-settings";

/// The version of the format below.
const VERSION: u64 = 1;

/// The largest document, enough for hundreds of agents with long prompts.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// All settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsDocument {
    format: String,
    version: u64,
    pub(crate) projects: Vec<ProjectSettings>,
}

/// The settings of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectSettings {
    pub(crate) id: ProjectId,
    /// Its display name.
    pub(crate) name: String,
    /// Whether its callers may use host tools.
    pub(crate) host_tools: bool,
    /// Switches of tools and families.
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, SwitchState>,
    /// Switches of features.
    #[serde(default)]
    pub(crate) features: BTreeMap<String, SwitchState>,
    /// Standing answers.
    #[serde(default)]
    pub(crate) answers: Vec<StandingAnswer>,
    #[serde(default)]
    pub(crate) agents: Vec<AgentRecord>,
    /// MCP servers.
    #[serde(default)]
    pub(crate) servers: Vec<ServerRecord>,
    /// Names of secrets, whose values must be set by hand.
    #[serde(default)]
    pub(crate) secrets: Vec<String>,
}

impl SettingsDocument {
    pub(crate) fn new(projects: Vec<ProjectSettings>) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, projects }
    }

    /// Parses a document.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("not a JSON document: {error}"))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(format!("not a document of `toolroom export`: `format` is not `{FORMAT}`"));
        }
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                return Err(format!(
                    "these settings have version {version}, this Toolroom reads up to {VERSION}; use the newer Toolroom"
                ));
            }
            _ => return Err(format!("`version` must be {VERSION}")),
        }
        serde_json::from_value(value).map_err(|error| format!("these settings cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};

    use super::*;
    use crate::scale::cases;

    fn refusal(text: &str) -> String {
        SettingsDocument::parse(text).unwrap_err()
    }

    #[test]
    fn only_known_documents_are_read() {
        let text = r#"{"format":"toolroom-settings","version":1,"projects":[]}"#;
        assert_eq!(SettingsDocument::parse(text), Ok(SettingsDocument::new(Vec::new())));
        assert!(refusal("[]").contains("not a document of"));
        assert!(refusal("{").contains("not a JSON document"));
        assert!(refusal(&text.replace('1', "2")).contains("use the newer Toolroom"));
        assert!(refusal(&text.replace('1', "0")).contains("must be 1"));
        assert!(refusal(&text.replace("\"projects\"", "\"rules\":1,\"projects\"")).contains("unknown field"));
    }

    proptest! {
        #![proptest_config(cases(64))]

        #[test]
        fn documents_round_trip(names in proptest::collection::btree_map(any::<String>(), any::<bool>(), 0..4)) {
            let state = |on: bool| if on { SwitchState::On } else { SwitchState::Off };
            let document = SettingsDocument::new(vec![ProjectSettings {
                id: ProjectId::default(),
                name: "Here".to_owned(),
                host_tools: true,
                tools: names.iter().map(|(name, on)| (name.clone(), state(*on))).collect(),
                features: BTreeMap::new(),
                answers: Vec::new(),
                agents: vec![AgentRecord::default()],
                servers: Vec::new(),
                secrets: names.into_keys().collect(),
            }]);
            let text = serde_json::to_string(&document).unwrap();
            prop_assert_eq!(SettingsDocument::parse(&text), Ok(document));
        }
    }
}
