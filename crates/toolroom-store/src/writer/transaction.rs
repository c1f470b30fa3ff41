//! One transaction: look, decide, write, commit, in as few trips to the connection's thread as it takes.

use std::collections::HashSet;
use std::future::poll_fn;

use sqlx::Executor as _;
use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::conversation::RunId;

use super::look::{Questions, Replies};
use super::plan::{Plan, crowd, rows};
use super::unit::{Answer, Outcome, Refusal, Unit};
use crate::instance::Instance;
use crate::statements::Bound;
use crate::{artifact, conversation, offer, prune, statements, track};

/// What encloses the units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// A transaction of their own.
    Transaction,
    /// One unit inside an open transaction.
    Savepoint,
}

/// Who writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Us<'a> {
    pub(super) instance: &'a Instance,
    /// Whether we have calls, runs or programs open, so that the heartbeat should be written along when it is due.
    pub(super) at_work: bool,
    /// The runs we work on.
    pub(super) runs: &'a HashSet<RunId>,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) answers: Vec<Answer>,
    /// When the heartbeat was written along.
    pub(super) heartbeat_at: Option<Timestamp>,
}

/// Writes the units. After an error the frame is still open, and has to be undone by the caller.
pub(super) async fn run(
    connection: &mut SqliteConnection,
    us: Us<'_>,
    units: &[Unit],
    frame: Frame,
) -> Result<Written, sqlx::Error> {
    let now = us.instance.now();
    if frame == Frame::Savepoint {
        statements::SAVEPOINT_UNIT.query().execute(&mut *connection).await?;
    }
    let questions = Questions::of(units);
    let replies = ask(connection, &questions, frame).await?;
    let plan = Plan::new(units, &questions, &replies, us.instance, us.at_work);
    let outcomes = write(connection, &plan, frame, !questions.is_empty(), us).await?;
    let heartbeat_at = plan.is_present().then_some(now);
    let mut answers: Vec<Answer> =
        plan.verdicts.into_iter().map(|verdict| verdict.map(|()| Outcome::Written)).collect();
    for (place, outcome) in outcomes {
        if let Some(answer) = answers.get_mut(place) {
            *answer = outcome;
        }
    }
    Ok(Written { answers, heartbeat_at })
}

async fn ask(
    connection: &mut SqliteConnection,
    questions: &Questions<'_>,
    frame: Frame,
) -> Result<Replies, sqlx::Error> {
    if questions.is_empty() {
        return Ok(Replies::default());
    }
    let statement = match frame {
        Frame::Transaction => statements::OPEN_AND_LOOK,
        Frame::Savepoint => statements::LOOK,
    };
    Replies::read(&questions.bind(statement)?.fetch_all(connection).await?)
}

/// What came of units that have more to tell than that they were written, by their place.
type Outcomes = Vec<(usize, Answer)>;

async fn write(
    connection: &mut SqliteConnection,
    plan: &Plan<'_>,
    frame: Frame,
    is_open: bool,
    us: Us<'_>,
) -> Result<Outcomes, sqlx::Error> {
    if frame == Frame::Transaction && plan.has_runs() && !plan.has_single_statements() {
        // Whoever changes runs has looked first, so the transaction is open.
        if !plan.is_runs_alone() {
            plan.bind(statements::WRITE)?.execute(&mut *connection).await?;
        }
        plan.bind_runs(statements::COMMIT_RUNS)?.execute(connection).await?;
        return Ok(Vec::new());
    }
    if frame == Frame::Transaction && !plan.has_single_statements() {
        if !is_open && plan.is_calls_alone() {
            return write_calls(connection, plan).await.map(|()| Vec::new());
        }
        let bound = match is_open {
            false => plan.bind(statements::OPEN_WRITE_COMMIT)?,
            true => plan.bind(statements::COMMIT_WRITES)?,
        };
        bound.execute(connection).await?;
        return Ok(Vec::new());
    }
    let opens = frame == Frame::Transaction && !is_open;
    let script = if opens { statements::OPEN_AND_WRITE } else { statements::WRITE };
    plan.bind(script)?.execute(&mut *connection).await?;
    if plan.has_runs() {
        plan.bind_runs(statements::WRITE_RUNS)?.execute(&mut *connection).await?;
    }
    let outcomes = write_singly(connection, plan, us).await?;
    let end = match frame {
        Frame::Transaction => statements::COMMIT,
        Frame::Savepoint => statements::RELEASE_UNIT,
    };
    end.query().execute(connection).await?;
    Ok(outcomes)
}

/// Rows of calls are the whole transaction.
async fn write_calls(connection: &mut SqliteConnection, plan: &Plan<'_>) -> Result<(), sqlx::Error> {
    let (crowds, others) = plan.crowds();
    let others = rows(others)?;
    if crowds.is_empty() {
        return execute_alone(connection, statements::UPSERT_CALLS.query().bind(others)).await;
    }
    for (place, calls) in crowds.iter().enumerate() {
        let statement = match place {
            0 => statements::OPEN_AND_UPSERT_CROWD,
            _ => statements::UPSERT_CROWD,
        };
        crowd(statement, calls)?.execute(&mut *connection).await?;
    }
    statements::COMMIT_CALLS.query().bind(others).execute(connection).await.map(drop)
}

/// Executes one statement that is a transaction of its own.
///
/// Its first word is its last one: committed, or not. Whoever waits for the silence after it, as `execute` does, changes
/// threads twice more.
async fn execute_alone(connection: &mut SqliteConnection, bound: Bound) -> Result<(), sqlx::Error> {
    let mut words = connection.fetch_many(bound);
    match poll_fn(|context| words.as_mut().poll_next(context)).await {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(error),
        None => Err(sqlx::Error::WorkerCrashed),
    }
}

async fn write_singly(
    connection: &mut SqliteConnection,
    plan: &Plan<'_>,
    us: Us<'_>,
) -> Result<Outcomes, sqlx::Error> {
    for (artifact, hash) in &plan.artifacts {
        artifact::keep(connection, artifact, *hash).await?;
    }
    for call in &plan.offering {
        offer::keep(connection, call).await?;
    }
    let mut outcomes = Vec::new();
    for (place, hold) in &plan.holds {
        outcomes.push((*place, conversation::settle(connection, us.instance, us.runs, hold).await?));
    }
    for (place, change) in &plan.memories {
        outcomes.push((*place, Ok(change.write(connection, us.instance).await?)));
    }
    for (place, change) in &plan.tracks {
        outcomes.push((*place, Ok(track::add(connection, change).await?)));
    }
    for (place, change) in &plan.programs {
        outcomes.push((*place, Ok(change.write(connection, us.instance).await?)));
    }
    for (place, setting) in &plan.settings {
        let changed = setting.write(connection, us.instance.now()).await?;
        outcomes.push((*place, changed.map(Outcome::Changed).map_err(Refusal::from)));
    }
    for (place, chunk) in &plan.prunes {
        outcomes.push((*place, Ok(Outcome::Pruned(prune::forget(connection, chunk).await?))));
    }
    Ok(outcomes)
}
