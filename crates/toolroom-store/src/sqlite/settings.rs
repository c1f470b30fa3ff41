//! Settings: switches, standing answers, secrets, trusted files, agents, foreign servers, identity; and batches of them.

use sqlx::sqlite::SqliteConnection;
use toolroom::agent::AgentRecord;
use toolroom::clock::Timestamp;
use toolroom::conversation::AgentId;
use toolroom::ledger::{AnswerId, StandingAnswer, SwitchState};
use toolroom::scope::ProjectId;

use crate::sqlite::foreign::ServerChange;
use crate::sqlite::identity::IdentityChange;
use crate::sqlite::row::user;
use crate::sqlite::secrets::{reseal, write_secret};
use crate::sqlite::switchboard::SwitchKind;
use crate::statements::Bound;
use crate::{ProjectRecord, ResealedValue, ServerEntry, Store, StoreError, statements};

/// A change of one setting. Rare, so each is a statement of its own.
#[derive(Debug)]
pub(crate) enum Setting {
    /// `None` deletes the switch.
    Switch {
        project: ProjectId,
        kind: SwitchKind,
        name: String,
        state: Option<SwitchState>,
    },
    /// Creates or replaces a standing answer.
    Answer(Box<StandingAnswer>),
    DeleteAnswer {
        project: ProjectId,
        id: AnswerId,
    },
    /// `None` deletes the secret.
    Secret {
        project: ProjectId,
        name: String,
        sealed: Option<Vec<u8>>,
    },
    /// Replaces all sealed values.
    Reseal(Vec<ResealedValue>),
    /// `None` ends the trust.
    Trust {
        path: String,
        sha256: Option<String>,
    },
    /// `None` deletes the agent.
    Agent {
        project: ProjectId,
        id: AgentId,
        record: Option<String>,
    },
    Server {
        project: ProjectId,
        name: String,
        change: ServerChange,
    },
    Identity(IdentityChange),
    /// All or nothing.
    Batch(Vec<Setting>),
}

/// The number of changed rows, or why nothing was changed.
pub(crate) type Changed = Result<u64, StoreError>;

impl Setting {
    /// Writes the setting inside the open transaction.
    pub(crate) async fn write(
        &self,
        connection: &mut SqliteConnection,
        now: Timestamp,
    ) -> Result<Changed, sqlx::Error> {
        let changed = match self {
            Self::Switch { project, kind, name, state } => {
                run(connection, switch(project, *kind, name, *state, now)).await?
            }
            Self::Answer(given) => run(connection, answer(given)).await?,
            Self::DeleteAnswer { project, id } => {
                let query = statements::DELETE_ANSWER.query().bind(project.as_str().to_owned());
                run(connection, query.bind(id.as_str().to_owned())).await?
            }
            Self::Secret { project, name, sealed: Some(sealed) } => {
                write_secret(connection, project, name, sealed, now).await?
            }
            Self::Secret { project, name, sealed: None } => {
                let query = statements::DELETE_SECRET.query().bind(project.as_str().to_owned());
                run(connection, query.bind(name.clone())).await?
            }
            Self::Reseal(values) => reseal(connection, values).await?,
            Self::Trust { path, sha256 } => run(connection, trust(path, sha256.as_deref(), now)).await?,
            Self::Agent { project, id, record } => {
                run(connection, agent(project, id, record.as_deref(), now)).await?
            }
            Self::Server { project, name, change } => {
                Ok(change.write(connection, project, name, now).await?)
            }
            Self::Identity(change) => Ok(change.write(connection, now).await?),
            Self::Batch(settings) => return write_all(connection, settings, now).await,
        };
        if self.is_standing() && changed.as_ref().is_ok_and(|rows| *rows > 0) {
            statements::BUMP_REVISION.query().execute(connection).await?;
        }
        Ok(changed)
    }

    /// Whether cached settings become stale. Trusted files, agents and servers are read when a toolroom or run is created, and
    /// are not cached.
    pub(crate) fn is_standing(&self) -> bool {
        match self {
            Self::Trust { .. } | Self::Agent { .. } => false,
            Self::Server { change, .. } => change.is_standing(),
            Self::Identity(change) => change.is_standing(),
            Self::Batch(settings) => settings.iter().any(Self::is_standing),
            Self::Switch { .. }
            | Self::Answer(_)
            | Self::DeleteAnswer { .. }
            | Self::Secret { .. }
            | Self::Reseal(_) => true,
        }
    }
}

/// Writes the settings in order. An error undoes the whole transaction.
async fn write_all(
    connection: &mut SqliteConnection,
    settings: &[Setting],
    now: Timestamp,
) -> Result<Changed, sqlx::Error> {
    for setting in settings {
        if let Setting::Server { project, change, .. } = setting
            && let Some(refusal) = change.refusal(connection, project).await?
        {
            return Ok(Err(refusal));
        }
    }
    let mut rows = 0;
    for setting in settings {
        match Box::pin(setting.write(connection, now)).await? {
            // An answer of another project has this id.
            Ok(0) if matches!(setting, Setting::Answer(_)) => return Err(sqlx::Error::RowNotFound),
            Ok(changed) => rows += changed,
            // Undoes the settings before it.
            Err(refused) => return Err(sqlx::Error::Encode(Box::new(refused))),
        }
    }
    Ok(Ok(rows))
}

async fn run(connection: &mut SqliteConnection, query: Bound) -> Result<Changed, sqlx::Error> {
    Ok(Ok(query.execute(connection).await?.rows_affected()))
}

fn switch(
    project: &ProjectId,
    kind: SwitchKind,
    name: &str,
    state: Option<SwitchState>,
    now: Timestamp,
) -> Bound {
    let statement = match state {
        Some(_) => statements::SET_SWITCH,
        None => statements::CLEAR_SWITCH,
    };
    let query = statement.query().bind(project.as_str().to_owned()).bind(kind.as_str()).bind(name.to_owned());
    match state {
        Some(state) => query.bind(state.as_str()).bind(now.as_micros()),
        None => query,
    }
}

/// Binds the columns in order.
fn answer(answer: &StandingAnswer) -> Bound {
    let StandingAnswer {
        id,
        scope,
        effect,
        tool,
        when,
        lifts,
        definition,
        thread,
        destination,
        call,
        by,
        at,
    } = answer;
    statements::SET_ANSWER
        .query()
        .bind(id.as_str().to_owned())
        .bind(scope.project.as_str().to_owned())
        .bind(user(scope))
        .bind(effect.as_str())
        .bind(tool.to_string())
        .bind(when.clone())
        .bind(lifts.clone())
        .bind(definition.as_deref().map(str::to_owned))
        .bind(thread.as_deref().map(str::to_owned))
        .bind(call.as_str().to_owned())
        .bind(by.as_str())
        .bind(at.as_micros())
        .bind(destination.as_deref().map(str::to_owned))
}

fn agent(project: &ProjectId, id: &AgentId, record: Option<&str>, now: Timestamp) -> Bound {
    let statement = match record {
        Some(_) => statements::SET_AGENT,
        None => statements::DELETE_AGENT,
    };
    let query = statement.query().bind(project.as_str().to_owned()).bind(id.as_str().to_owned());
    match record {
        Some(record) => query.bind(record.to_owned()).bind(now.as_micros()),
        None => query,
    }
}

fn trust(path: &str, sha256: Option<&str>, now: Timestamp) -> Bound {
    match sha256 {
        Some(sha256) => {
            statements::TRUST_FILE.query().bind(path.to_owned()).bind(sha256.to_owned()).bind(now.as_micros())
        }
        None => statements::DISTRUST_FILE.query().bind(path.to_owned()),
    }
}

/// Settings that are written together, all or nothing.
#[derive(Debug, Default)]
pub struct SettingsBatch {
    settings: Vec<Setting>,
}

impl SettingsBatch {
    /// Creates or replaces a project; a replaced one keeps its time of creation.
    pub fn project(&mut self, project: ProjectRecord) {
        self.settings.push(Setting::Identity(IdentityChange::SetProject(project)));
    }

    /// Switches a tool, or a family of tools, on or off.
    pub fn tool_toggle(&mut self, project: &ProjectId, name: &str, state: SwitchState) {
        self.switch(SwitchKind::Tool, project, name, state);
    }

    /// Switches a feature on or off.
    pub fn feature_switch(&mut self, project: &ProjectId, name: &str, state: SwitchState) {
        self.switch(SwitchKind::Feature, project, name, state);
    }

    fn switch(&mut self, kind: SwitchKind, project: &ProjectId, name: &str, state: SwitchState) {
        let (project, name) = (project.clone(), name.to_owned());
        self.settings.push(Setting::Switch { project, kind, name, state: Some(state) });
    }

    /// Creates or replaces a standing answer.
    pub fn answer(&mut self, answer: StandingAnswer) {
        self.settings.push(Setting::Answer(Box::new(answer)));
    }

    /// Creates or replaces an agent.
    ///
    /// # Errors
    /// When it cannot be written as JSON.
    pub fn agent(&mut self, project: &ProjectId, agent: &AgentRecord) -> Result<(), StoreError> {
        let record = Some(serde_json::to_string(agent).map_err(StoreError::at_encoding)?);
        self.settings.push(Setting::Agent { project: project.clone(), id: agent.id.clone(), record });
        Ok(())
    }

    /// Creates or replaces a server; at most one entry per name. Accepted definitions of its tools stay, so that a user sees
    /// how new ones differ.
    pub fn server(&mut self, project: &ProjectId, entry: ServerEntry) {
        let (project, name) = (project.clone(), entry.record.name.clone());
        self.settings.push(Setting::Server { project, name, change: ServerChange::Enter(Box::new(entry)) });
    }
}

impl Store {
    /// Writes all settings, or none.
    ///
    /// # Errors
    /// When the database fails, an answer has the id of one in another project, or a server was changed after the entry was
    /// decided ([`StoreError::ServerChanged`]).
    pub async fn set_all(&self, batch: SettingsBatch) -> Result<(), StoreError> {
        self.set(Setting::Batch(batch.settings)).await.map(drop)
    }
}
