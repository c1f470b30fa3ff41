//! Who works on a run: taking one over, giving it back, and deleting a conversation nobody works in. Rare, so each looks
//! for itself, inside the open transaction.

use std::collections::HashSet;

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::clock::Timestamp;
use toolroom::conversation::{ConversationId, Run, RunId, RunState, StepError, TakeRunError};
use toolroom::scope::Scope;

use super::read::read_run;
use crate::instance::Instance;
use crate::presence::Seen;
use crate::row::{ReadError, read_scope};
use crate::writer::{Outcome, Refusal};
use crate::{StoreError, statements};

/// What is asked for.
#[derive(Debug)]
pub(crate) enum Hold {
    Take(Scope, RunId),
    /// Of this process: there is nobody to be asked whose it is.
    LetGo(RunId),
    Delete(Scope, ConversationId),
}

/// Does it. An error of the database undoes the unit; everything else is an answer.
pub(crate) async fn settle(
    connection: &mut SqliteConnection,
    instance: &Instance,
    ours: &HashSet<RunId>,
    hold: &Hold,
) -> Result<Result<Outcome, Refusal>, sqlx::Error> {
    let us = Us { instance, ours };
    let settled = match hold {
        Hold::Take(scope, run) => take(connection, us, scope, run).await,
        Hold::LetGo(run) => let_go(connection, instance, run).await,
        Hold::Delete(scope, conversation) => delete(connection, us, scope, conversation).await,
    };
    match settled {
        Ok(outcome) => Ok(Ok(outcome)),
        Err(Trouble::Refused(refusal)) => Ok(Err(refusal)),
        Err(Trouble::Database(error)) => Err(error),
    }
}

/// Why it was not done.
enum Trouble {
    Refused(Refusal),
    Database(sqlx::Error),
}

impl From<sqlx::Error> for Trouble {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

impl From<ReadError> for Trouble {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Database(error) => Self::Database(error),
            ReadError::Unknown(error) => Self::Refused(error.into()),
        }
    }
}

impl From<TakeRunError> for Trouble {
    fn from(error: TakeRunError) -> Self {
        Self::Refused(Refusal::NotTaken(error))
    }
}

/// This process, and the runs it works on.
#[derive(Clone, Copy)]
struct Us<'a> {
    instance: &'a Instance,
    ours: &'a HashSet<RunId>,
}

/// Who a run is held by.
enum Holder {
    Nobody,
    /// A process that lives, perhaps this one.
    Living,
    /// A process that will never go on.
    Dead(String),
}

impl Holder {
    /// From the instance in a run, and the four columns of its row from `column` on.
    fn read(
        row: &SqliteRow,
        instance: Option<&str>,
        column: usize,
        run: &RunId,
        us: Us<'_>,
    ) -> Result<Self, sqlx::Error> {
        let Some(held_by) = instance else { return Ok(Self::Nobody) };
        if held_by == us.instance.id {
            // A step that could not be written is the last one, unless somebody goes on.
            return Ok(if us.ours.contains(run) { Self::Living } else { Self::Nobody });
        }
        // Without a row it has signed off, or was found dead before.
        let Some(id) = row.try_get::<Option<String>, _>(column)? else { return Ok(Self::Nobody) };
        let seen = Seen {
            id,
            machine: row.try_get(column + 1)?,
            process: row.try_get(column + 2)?,
            heartbeat_at: Timestamp::from_micros(row.try_get(column + 3)?),
        };
        Ok(if us.instance.knows_dead(&seen) { Self::Dead(seen.id) } else { Self::Living })
    }
}

async fn take(
    connection: &mut SqliteConnection,
    us: Us<'_>,
    scope: &Scope,
    id: &RunId,
) -> Result<Outcome, Trouble> {
    let query = statements::RUN_AND_HOLDER.query().bind(id.as_str().to_owned());
    let row = query.fetch_optional(&mut *connection).await?;
    let not_found = || TakeRunError::NotFound(id.clone());
    let row = row.ok_or_else(not_found)?;
    if !scope.covers(&read_scope(&row, 3)?) {
        return Err(not_found().into());
    }
    let run: Run = read_run(id.as_str(), row.try_get(0)?)?;
    if !run.state.is_open() {
        return Err(TakeRunError::Over { run: run.id, state: run.state }.into());
    }
    match Holder::read(&row, row.try_get(2)?, 5, id, us)? {
        Holder::Nobody => {}
        Holder::Living => return Err(TakeRunError::Busy(run.id).into()),
        Holder::Dead(holder) => bury(connection, &holder).await?,
    }
    let run = Run { state: RunState::Running, ..run };
    let record = serde_json::to_string(&run)
        .map_err(|error| Trouble::Refused(StoreError::at_encoding(error).into()))?;
    statements::TAKE_RUN
        .query()
        .bind(id.as_str().to_owned())
        .bind(run.state.as_str())
        .bind(us.instance.id.clone())
        .bind(record)
        .execute(connection)
        .await?;
    Ok(Outcome::Taken(Box::new(run)))
}

async fn let_go(
    connection: &mut SqliteConnection,
    instance: &Instance,
    run: &RunId,
) -> Result<Outcome, Trouble> {
    let query = statements::LET_RUN_GO.query().bind(run.as_str().to_owned()).bind(instance.id.clone());
    let changed = query.execute(connection).await?;
    Ok(Outcome::Changed(changed.rows_affected()))
}

async fn delete(
    connection: &mut SqliteConnection,
    us: Us<'_>,
    scope: &Scope,
    id: &ConversationId,
) -> Result<Outcome, Trouble> {
    let query = statements::CONVERSATION_AND_HOLDER.query().bind(id.as_str().to_owned());
    let Some(row) = query.fetch_optional(&mut *connection).await? else {
        return Ok(Outcome::Changed(0));
    };
    if !scope.covers(&read_scope(&row, 0)?) {
        return Ok(Outcome::Changed(0));
    }
    if let Some(run) = row.try_get::<Option<&str>, _>(2)?.map(RunId::new) {
        match Holder::read(&row, row.try_get(3)?, 4, &run, us)? {
            Holder::Nobody => {}
            Holder::Living => {
                let busy = StepError::Busy { run };
                return Err(Trouble::Refused(Refusal::NotStepped(busy)));
            }
            Holder::Dead(holder) => bury(connection, &holder).await?,
        }
    }
    let project: String = row.try_get(0)?;
    let query = statements::FORGET_PROGRAMS_OF.query().bind(id.as_str().to_owned());
    query.bind(project).execute(&mut *connection).await?;
    let query = statements::DELETE_CONVERSATION.query().bind(id.as_str().to_owned());
    query.execute(connection).await?;
    Ok(Outcome::Changed(1))
}

/// Whoever takes a run from the dead has to find its calls as what they are: nobody knows how they ended.
async fn bury(connection: &mut SqliteConnection, instance: &str) -> Result<(), sqlx::Error> {
    let ids = serde_json::json!([instance]).to_string();
    statements::FORGET_INSTANCES.query().bind(ids).execute(&mut *connection).await?;
    statements::UNKNOWN_ORPHANS.query().execute(connection).await?;
    Ok(())
}
