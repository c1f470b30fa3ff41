//! Settings that are written together, or not at all.

use toolroom::agent::AgentRecord;
use toolroom::ledger::{StandingAnswer, SwitchState};
use toolroom::scope::ProjectId;

use crate::foreign::{ServerChange, ServerEntry};
use crate::identity::{IdentityChange, ProjectRecord};
use crate::setting::Setting;
use crate::switchboard::SwitchKind;
use crate::{Store, StoreError};

/// What is to be set.
#[derive(Debug, Default)]
pub struct SettingsBatch {
    settings: Vec<Setting>,
}

impl SettingsBatch {
    /// A project, in the place of another with its id, which keeps its age.
    pub fn project(&mut self, project: ProjectRecord) {
        self.settings.push(Setting::Identity(IdentityChange::SetProject(project)));
    }

    /// A tool, or a family of tools, on or off.
    pub fn tool_toggle(&mut self, project: &ProjectId, name: &str, state: SwitchState) {
        self.switch(SwitchKind::Tool, project, name, state);
    }

    /// A feature on or off.
    pub fn feature_switch(&mut self, project: &ProjectId, name: &str, state: SwitchState) {
        self.switch(SwitchKind::Feature, project, name, state);
    }

    fn switch(&mut self, kind: SwitchKind, project: &ProjectId, name: &str, state: SwitchState) {
        let (project, name) = (project.clone(), name.to_owned());
        self.settings.push(Setting::Switch { project, kind, name, state: Some(state) });
    }

    /// A standing answer, in the place of another with its id.
    pub fn answer(&mut self, answer: StandingAnswer) {
        self.settings.push(Setting::Answer(Box::new(answer)));
    }

    /// An agent, in the place of another with its id.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn agent(&mut self, project: &ProjectId, agent: &AgentRecord) -> Result<(), StoreError> {
        let record = Some(serde_json::to_string(agent).map_err(StoreError::at_encoding)?);
        self.settings.push(Setting::Agent { project: project.clone(), id: agent.id.clone(), record });
        Ok(())
    }

    /// A server, in the place of another with its name, one for each name. What was accepted of its tools stays, so that a
    /// person sees what is different about those that come.
    pub fn server(&mut self, project: &ProjectId, entry: ServerEntry) {
        let (project, name) = (project.clone(), entry.record.name.clone());
        self.settings.push(Setting::Server { project, name, change: ServerChange::Enter(Box::new(entry)) });
    }
}

impl Store {
    /// Sets all of it, or nothing.
    ///
    /// # Errors
    /// When the database fails, an answer has the id of one in another project, or a server is not what it was when somebody
    /// decided on it ([`StoreError::ServerChanged`]); nothing is set then.
    pub async fn set_all(&self, batch: SettingsBatch) -> Result<(), StoreError> {
        self.set(Setting::Several(batch.settings)).await.map(drop)
    }
}
