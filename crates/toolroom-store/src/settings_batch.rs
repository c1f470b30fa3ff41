//! Settings that are written together, or not at all.

use toolroom::agent::AgentRecord;
use toolroom::foreign::ServerRecord;
use toolroom::ledger::{StandingAnswer, SwitchState};
use toolroom::scope::ProjectId;

use crate::foreign::ServerChange;
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

    /// A server, in the place of another with its name. What was accepted of its tools stays, so that a person sees what is
    /// different about those that come.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn server(&mut self, project: &ProjectId, server: &ServerRecord) -> Result<(), StoreError> {
        let record = serde_json::to_string(server).map_err(StoreError::at_encoding)?;
        let (project, name) = (project.clone(), server.name.clone());
        self.settings.push(Setting::Server { project, name, change: ServerChange::Record(record) });
        Ok(())
    }
}

impl Store {
    /// Sets all of it, or nothing.
    ///
    /// # Errors
    /// When the database fails, or an answer has the id of one in another project; nothing is set then.
    pub async fn set_all(&self, batch: SettingsBatch) -> Result<(), StoreError> {
        self.set(Setting::Several(batch.settings)).await.map(drop)
    }
}
