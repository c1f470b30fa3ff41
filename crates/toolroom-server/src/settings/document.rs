//! The document: its shape, and which ones can be read here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolroom::agent::AgentRecord;
use toolroom::foreign::ServerRecord;
use toolroom::ledger::{StandingAnswer, SwitchState};
use toolroom::scope::ProjectId;

/// What a document says it is.
const FORMAT: &str = "toolroom-settings";

/// The version of the shape below.
const VERSION: u64 = 1;

/// The longest document that is read: room for hundreds of agents with long prompts.
pub(crate) const MAX_BYTES: usize = 4 << 20;

/// Everything that people have set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsDocument {
    /// What this is.
    format: String,
    /// In which shape.
    version: u64,
    /// What was set in each project, by id.
    pub(crate) projects: Vec<ProjectSettings>,
}

/// What was set in a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProjectSettings {
    /// Its id.
    pub(crate) id: ProjectId,
    /// What people call it.
    pub(crate) name: String,
    /// Whether its callers may use the tools that reach into the machine.
    pub(crate) host_tools: bool,
    /// Tools and families that were switched.
    #[serde(default)]
    pub(crate) tools: BTreeMap<String, SwitchState>,
    /// Features that were switched.
    #[serde(default)]
    pub(crate) features: BTreeMap<String, SwitchState>,
    /// Answers that outlive their question.
    #[serde(default)]
    pub(crate) answers: Vec<StandingAnswer>,
    /// Agents.
    #[serde(default)]
    pub(crate) agents: Vec<AgentRecord>,
    /// Servers that bring tools of their own.
    #[serde(default)]
    pub(crate) servers: Vec<ServerRecord>,
    /// The names of secrets, which have to be set by hand.
    #[serde(default)]
    pub(crate) secrets: Vec<String>,
}

impl SettingsDocument {
    pub(crate) fn new(projects: Vec<ProjectSettings>) -> Self {
        Self { format: FORMAT.to_owned(), version: VERSION, projects }
    }

    /// The document in a text, or why it is none that can be read here.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("this is no JSON document: {error}"))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(format!("these are no settings of `toolroom export`: `format` is not `{FORMAT}`"));
        }
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                return Err(format!(
                    "these settings have version {version}, this Toolroom reads up to {VERSION}; use the newer Toolroom"
                ));
            }
            _ => return Err(format!("`version` has to be {VERSION}")),
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
    fn only_what_is_known_is_read() {
        let text = r#"{"format":"toolroom-settings","version":1,"projects":[]}"#;
        assert_eq!(SettingsDocument::parse(text), Ok(SettingsDocument::new(Vec::new())));
        assert!(refusal("[]").contains("no settings"));
        assert!(refusal("{").contains("no JSON document"));
        assert!(refusal(&text.replace('1', "2")).contains("use the newer Toolroom"));
        assert!(refusal(&text.replace('1', "0")).contains("has to be 1"));
        assert!(refusal(&text.replace("\"projects\"", "\"rules\":1,\"projects\"")).contains("unknown field"));
    }

    proptest! {
        #![proptest_config(cases(64))]

        #[test]
        fn whatever_was_written_is_read_again(names in proptest::collection::btree_map(any::<String>(), any::<bool>(), 0..4)) {
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
