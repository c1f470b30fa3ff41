//! Feature switches and tool toggles.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::Toolroom;
use toolroom::ledger::{LedgerError, SwitchState};
use toolroom::scope::ProjectId;

/// A feature.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Feature")]
pub(crate) struct FeatureDocument {
    /// Name.
    pub(crate) feature: &'static str,
    /// State.
    pub(crate) state: SwitchState,
    /// Description.
    pub(crate) description: &'static str,
    /// Ids of its tools.
    pub(crate) tools: Vec<String>,
}

/// All features of a project.
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

/// The switch of a feature.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FeatureState {
    /// Name.
    pub(crate) feature: &'static str,
    /// New state; absent if reset to the default.
    pub(crate) state: Option<SwitchState>,
}

/// The toggle of a tool.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ToggleState {
    /// Name of the tool or its family.
    pub(crate) toggle: String,
    /// New state; absent if reset to the default.
    pub(crate) state: Option<SwitchState>,
}
