//! Features that gate several tools at once, and toggles of single tools.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::Toolroom;
use toolroom::ledger::{LedgerError, SwitchState};
use toolroom::scope::ProjectId;

/// A feature.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Feature")]
pub(crate) struct FeatureDocument {
    /// Its name.
    pub(crate) feature: &'static str,
    /// Whether it is on.
    pub(crate) state: SwitchState,
    /// What it is about.
    pub(crate) description: &'static str,
    /// The tools that hang on it, by id.
    pub(crate) tools: Vec<String>,
}

/// Every feature of a project.
pub(crate) async fn features(
    room: &Toolroom,
    project: &ProjectId,
) -> Result<Vec<FeatureDocument>, LedgerError> {
    let standing = room.switchboard().standing(project).await?;
    let tools = room.catalog().list(project);
    let features = room.catalog().features().into_iter().map(|feature| {
        let default = if feature.on_by_default { SwitchState::On } else { SwitchState::Off };
        let gated =
            tools.iter().filter(|entry| entry.spec().enablement.feature.as_deref() == Some(feature.name));
        FeatureDocument {
            feature: feature.name,
            state: standing.switches.feature(feature.name).unwrap_or(default),
            description: feature.description,
            tools: gated.map(|entry| entry.spec().id.to_string()).collect(),
        }
    });
    Ok(features.collect())
}

/// A feature that was switched.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FeatureState {
    /// Its name.
    pub(crate) feature: &'static str,
    /// What it is now; absent where nobody says, and its default counts.
    pub(crate) state: Option<SwitchState>,
}

/// A tool that was switched.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToggleState {
    /// The name that is switched: that of the tool, or of its family.
    pub(crate) toggle: String,
    /// What it is now; absent where nobody says, and its default counts.
    pub(crate) state: Option<SwitchState>,
}
