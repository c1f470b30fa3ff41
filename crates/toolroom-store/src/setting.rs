//! What people set: switches, standing answers they take back, secrets, trusted files, agents, who may come in.

use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::conversation::AgentId;
use toolroom::ledger::{AnswerId, StandingAnswer, SwitchState};
use toolroom::scope::ProjectId;

use crate::foreign::ServerChange;
use crate::identity::IdentityChange;
use crate::journal::user;
use crate::secret::{self, Resealed};
use crate::statements::Bound;
use crate::switchboard::SwitchKind;
use crate::{StoreError, statements};

/// One change. Rare, so each is a statement of its own.
#[derive(Debug)]
pub(crate) enum Setting {
    /// A switch and what it becomes; `None` removes it.
    Switch { project: ProjectId, kind: SwitchKind, name: String, state: Option<SwitchState> },
    /// A standing answer, in the place of another with its id.
    Answer(Box<StandingAnswer>),
    /// A standing answer that no longer holds.
    ForgetAnswer { project: ProjectId, id: AnswerId },
    /// A secret and what it becomes; `None` removes it.
    Secret { project: ProjectId, name: String, sealed: Option<Vec<u8>> },
    /// Everything that is sealed, under another key.
    Reseal(Vec<Resealed>),
    /// A file and the content it is trusted with; `None` for none.
    Trust { path: String, sha256: Option<String> },
    /// An agent and what it becomes; `None` removes it.
    Agent { project: ProjectId, id: AgentId, record: Option<String> },
    /// A server that brings tools, and what becomes of it.
    Server { project: ProjectId, name: String, change: ServerChange },
    /// Who may come in.
    Identity(IdentityChange),
    /// Some of these together.
    Several(Vec<Setting>),
}

/// The number of rows that were changed, or why it was refused and nothing was changed.
pub(crate) type Changed = Result<u64, StoreError>;

impl Setting {
    /// Writes it inside the open transaction.
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
            Self::ForgetAnswer { project, id } => {
                let query = statements::DELETE_ANSWER.query().bind(project.as_str().to_owned());
                run(connection, query.bind(id.as_str().to_owned())).await?
            }
            Self::Secret { project, name, sealed: Some(sealed) } => {
                secret::keep(connection, project, name, sealed, now).await?
            }
            Self::Secret { project, name, sealed: None } => {
                let query = statements::DELETE_SECRET.query().bind(project.as_str().to_owned());
                run(connection, query.bind(name.clone())).await?
            }
            Self::Reseal(values) => secret::reseal(connection, values).await?,
            Self::Trust { path, sha256 } => run(connection, trust(path, sha256.as_deref(), now)).await?,
            Self::Agent { project, id, record } => {
                run(connection, agent(project, id, record.as_deref(), now)).await?
            }
            Self::Server { project, name, change } => {
                Ok(change.write(connection, project, name, now).await?)
            }
            Self::Identity(change) => Ok(change.write(connection, now).await?),
            Self::Several(settings) => return write_all(connection, settings, now).await,
        };
        if self.is_standing() && changed.as_ref().is_ok_and(|rows| *rows > 0) {
            statements::BUMP_REVISION.query().execute(connection).await?;
        }
        Ok(changed)
    }

    /// Whether calls are judged by it. They are not by which files are trusted, nor by agents or servers: whoever makes a
    /// room or a run reads that.
    pub(crate) fn is_standing(&self) -> bool {
        match self {
            Self::Trust { .. } | Self::Agent { .. } => false,
            Self::Server { change, .. } => change.is_standing(),
            Self::Identity(change) => change.is_standing(),
            Self::Several(settings) => settings.iter().any(Self::is_standing),
            Self::Switch { .. }
            | Self::Answer(_)
            | Self::ForgetAnswer { .. }
            | Self::Secret { .. }
            | Self::Reseal(_) => true,
        }
    }
}

/// One after the other. What fails undoes the transaction they are in.
async fn write_all(
    connection: &mut SqliteConnection,
    settings: &[Setting],
    now: Timestamp,
) -> Result<Changed, sqlx::Error> {
    for setting in settings {
        if let Setting::Server { project, change, .. } = setting
            && let Some(refused) = change.refused(connection, project).await?
        {
            return Ok(Err(refused));
        }
    }
    let mut rows = 0;
    for setting in settings {
        match Box::pin(setting.write(connection, now)).await? {
            // Its id is that of an answer in another project.
            Ok(0) if matches!(setting, Setting::Answer(_)) => return Err(sqlx::Error::RowNotFound),
            Ok(changed) => rows += changed,
            // What came before it must not stay.
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

/// In the order of its columns.
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
    statements::KEEP_ANSWER
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
