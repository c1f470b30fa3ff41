//! Leases on runs: a running run belongs to one process. Taking a run over, releasing it, and deleting a conversation that no
//! process works on. Rare, so each reads for itself inside the open transaction.

use std::collections::HashSet;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::conversation::{ConversationId, Run, RunId, RunState, StepError, TakeRunError};
use toolroom::scope::Scope;

use super::read::read_run;
use crate::sqlite::instance::{Instance, read_instance_option};
use crate::sqlite::row::{ReadError, read_scope};
use crate::sqlite::writer::{Outcome, Refusal};
use crate::{StoreError, statements};

#[derive(Debug)]
pub(crate) enum LeaseChange {
    Take(Scope, RunId),
    /// Without a scope: it affects only a lease of this process.
    Release(RunId),
    DeleteConversation(Scope, ConversationId),
}

/// Applies the change. An error of the database undoes the unit; a refusal is its result.
pub(crate) async fn apply_lease(
    connection: &mut SqliteConnection,
    instance: &Instance,
    own_runs: &HashSet<RunId>,
    change: &LeaseChange,
) -> Result<Result<Outcome, Refusal>, sqlx::Error> {
    let context = Context { instance, own_runs };
    let applied = match change {
        LeaseChange::Take(scope, run) => take(connection, context, scope, run).await,
        LeaseChange::Release(run) => release(connection, instance, run).await,
        LeaseChange::DeleteConversation(scope, conversation) => {
            delete_conversation(connection, context, scope, conversation).await
        }
    };
    match applied {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(LeaseError::Refused(refusal)) => Ok(Err(refusal)),
        Err(LeaseError::Database(error)) => Err(error),
    }
}

enum LeaseError {
    Refused(Refusal),
    Database(sqlx::Error),
}

impl From<sqlx::Error> for LeaseError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<ReadError> for LeaseError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Database(error) => Self::Database(error),
            ReadError::Unknown(error) => Self::Refused(error.into()),
        }
    }
}

impl From<TakeRunError> for LeaseError {
    fn from(error: TakeRunError) -> Self {
        Self::Refused(Refusal::NotTaken(error))
    }
}

/// This process, and the runs it holds.
#[derive(Clone, Copy)]
struct Context<'a> {
    instance: &'a Instance,
    own_runs: &'a HashSet<RunId>,
}

/// The holder of a run.
enum Holder {
    None,
    /// A living process, perhaps this one.
    Alive,
    /// A dead process, with the id of its instance.
    Dead(String),
}

impl Holder {
    /// From a row with the `holder` of a run and `instance_columns!`.
    fn read(row: &SqliteRow, run: &RunId, context: Context<'_>) -> Result<Self, sqlx::Error> {
        let Some(holder) = row.try_get::<Option<&str>, _>("holder")? else { return Ok(Self::None) };
        if holder == context.instance.id {
            // After a step that could not be written, this process no longer holds the run.
            return Ok(if context.own_runs.contains(run) { Self::Alive } else { Self::None });
        }
        // Without a row, the process has signed off or was found dead.
        let Some(instance) = read_instance_option(row)? else { return Ok(Self::None) };
        Ok(if context.instance.is_dead(&instance) { Self::Dead(instance.id) } else { Self::Alive })
    }
}

async fn take(
    connection: &mut SqliteConnection,
    context: Context<'_>,
    scope: &Scope,
    id: &RunId,
) -> Result<Outcome, LeaseError> {
    let query = statements::RUN_AND_HOLDER.query().bind(id.as_str().to_owned());
    let row = query.fetch_optional(&mut *connection).await?;
    let not_found = || TakeRunError::NotFound(id.clone());
    let row = row.ok_or_else(not_found)?;
    if !scope.covers(&read_scope(&row, "project", "user_id")?) {
        return Err(not_found().into());
    }
    let run: Run = read_run(id.as_str(), row.try_get("record")?)?;
    if !run.state.is_open() {
        return Err(TakeRunError::Over { run: run.id, state: run.state }.into());
    }
    match Holder::read(&row, id, context)? {
        Holder::None => {}
        Holder::Alive => return Err(TakeRunError::Busy(run.id).into()),
        Holder::Dead(instance) => recover_instance(connection, &instance).await?,
    }
    let run = Run { state: RunState::Running, ..run };
    let record = serde_json::to_string(&run)
        .map_err(|error| LeaseError::Refused(StoreError::at_encoding(error).into()))?;
    statements::TAKE_RUN
        .query()
        .bind(id.as_str().to_owned())
        .bind(run.state.as_str())
        .bind(context.instance.id.clone())
        .bind(record)
        .execute(connection)
        .await?;
    Ok(Outcome::Taken(Box::new(run)))
}

async fn release(
    connection: &mut SqliteConnection,
    instance: &Instance,
    run: &RunId,
) -> Result<Outcome, LeaseError> {
    let query = statements::RELEASE_RUN.query().bind(run.as_str().to_owned()).bind(instance.id.clone());
    let changed = query.execute(connection).await?;
    Ok(Outcome::Changed(changed.rows_affected()))
}

async fn delete_conversation(
    connection: &mut SqliteConnection,
    context: Context<'_>,
    scope: &Scope,
    id: &ConversationId,
) -> Result<Outcome, LeaseError> {
    let query = statements::CONVERSATION_AND_HOLDER.query().bind(id.as_str().to_owned());
    let Some(row) = query.fetch_optional(&mut *connection).await? else {
        return Ok(Outcome::Changed(0));
    };
    if !scope.covers(&read_scope(&row, "project", "user_id")?) {
        return Ok(Outcome::Changed(0));
    }
    if let Some(run) = row.try_get::<Option<&str>, _>("run")?.map(RunId::new) {
        match Holder::read(&row, &run, context)? {
            Holder::None => {}
            Holder::Alive => {
                let busy = StepError::Busy { run };
                return Err(LeaseError::Refused(Refusal::NotStepped(busy)));
            }
            Holder::Dead(instance) => recover_instance(connection, &instance).await?,
        }
    }
    let project: String = row.try_get("project")?;
    let query = statements::DELETE_PROGRAMS_OF_CONVERSATION.query().bind(id.as_str().to_owned());
    query.bind(project).execute(&mut *connection).await?;
    let query = statements::DELETE_CONVERSATION.query().bind(id.as_str().to_owned());
    query.execute(connection).await?;
    Ok(Outcome::Changed(1))
}

/// Marks the calls of a dead process as *unknown*, before its run is taken over.
async fn recover_instance(connection: &mut SqliteConnection, instance: &str) -> Result<(), sqlx::Error> {
    let ids = serde_json::json!([instance]).to_string();
    statements::DELETE_INSTANCES.query().bind(ids).execute(&mut *connection).await?;
    statements::MARK_ORPHANS_UNKNOWN.query().execute(connection).await?;
    Ok(())
}
