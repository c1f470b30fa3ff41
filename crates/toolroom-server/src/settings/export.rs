//! Exports the settings.

use toolroom::agent::Agents;
use toolroom::foreign::ForeignServers;
use toolroom::ledger::{StandingAnswer, SwitchState, Switchboard};

use super::document::{ProjectSettings, SettingsDocument};
use crate::app::App;
use crate::identity::{Project, projects};

/// The settings of all projects, without standing answers of single conversations, which exist only here.
pub(crate) async fn export_settings(app: &App) -> anyhow::Result<SettingsDocument> {
    let mut all = Vec::new();
    for project in projects(&app.store).await? {
        all.push(project_settings(app, project).await?);
    }
    Ok(SettingsDocument::new(all))
}

pub(super) async fn project_settings(app: &App, project: Project) -> anyhow::Result<ProjectSettings> {
    let Project { id, name, host_tools, .. } = project;
    let standing = app.store.standing(&id).await?;
    let owned = |(name, state): (&str, SwitchState)| (name.to_owned(), state);
    let mut answers: Vec<StandingAnswer> =
        standing.answers.iter().filter(|answer| answer.thread.is_none()).cloned().collect();
    answers.sort_by(|one, other| one.id.cmp(&other.id));
    Ok(ProjectSettings {
        tools: standing.switches.tools().into_iter().map(owned).collect(),
        features: standing.switches.features().into_iter().map(owned).collect(),
        answers,
        agents: app.store.agents(&id).await?,
        servers: app.store.servers(&id).await?,
        secrets: app.store.secrets(&id).await?.into_iter().map(|secret| secret.name).collect(),
        id,
        name,
        host_tools,
    })
}
