//! One transaction: read preconditions, decide, write, commit, in as few trips to the connection's thread as possible.

use std::collections::HashSet;
use std::future::poll_fn;

use sqlx::Executor as _;
use sqlx::sqlite::SqliteConnection;
use toolroom::clock::Timestamp;
use toolroom::conversation::RunId;

use super::plan::{Plan, bind_chunk, rows};
use super::preconditions::{PreconditionQuery, Preconditions};
use super::unit::{Outcome, Refusal, Unit, WorkResult};
use crate::sqlite::artifacts::write_artifact;
use crate::sqlite::conversation::apply_lease;
use crate::sqlite::instance::Instance;
use crate::sqlite::journal::write_offers;
use crate::sqlite::prune::prune_chunk;
use crate::sqlite::tracks::write_track;
use crate::statements::{self, Bound};

/// What the units run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// A transaction of their own.
    Transaction,
    /// A savepoint inside an open transaction, for one unit.
    Savepoint,
}

/// The state of the writer that a transaction needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct WriterContext<'a> {
    pub(super) instance: &'a Instance,
    /// Whether this process has open calls, runs or programs, so that a due heartbeat is written.
    pub(super) has_open_work: bool,
    /// The runs this process holds.
    pub(super) runs: &'a HashSet<RunId>,
}

#[derive(Debug)]
pub(super) struct TransactionResult {
    pub(super) results: Vec<WorkResult>,
    /// When the heartbeat was written, if it was.
    pub(super) heartbeat_at: Option<Timestamp>,
}

/// Writes the units. After an error the frame is still open, and the caller has to undo it.
pub(super) async fn run(
    connection: &mut SqliteConnection,
    context: WriterContext<'_>,
    units: &[Unit],
    frame: Frame,
) -> Result<TransactionResult, sqlx::Error> {
    let now = context.instance.now();
    if frame == Frame::Savepoint {
        statements::SAVEPOINT_UNIT.query().execute(&mut *connection).await?;
    }
    let query = PreconditionQuery::new(units);
    let preconditions = read_preconditions(connection, &query, frame).await?;
    let plan = Plan::new(units, &query, &preconditions, context.instance, context.has_open_work);
    let outcomes = write(connection, &plan, frame, !query.is_empty(), context).await?;
    let heartbeat_at = plan.writes_heartbeat().then_some(now);
    let mut results: Vec<WorkResult> =
        plan.verdicts.into_iter().map(|verdict| verdict.map(|()| Outcome::Written)).collect();
    for (index, outcome) in outcomes {
        if let Some(result) = results.get_mut(index) {
            *result = outcome;
        }
    }
    Ok(TransactionResult { results, heartbeat_at })
}

async fn read_preconditions(
    connection: &mut SqliteConnection,
    query: &PreconditionQuery<'_>,
    frame: Frame,
) -> Result<Preconditions, sqlx::Error> {
    if query.is_empty() {
        return Ok(Preconditions::default());
    }
    let statement = match frame {
        Frame::Transaction => statements::BEGIN_AND_READ_PRECONDITIONS,
        Frame::Savepoint => statements::READ_PRECONDITIONS,
    };
    Preconditions::read(&query.bind(statement)?.fetch_all(connection).await?)
}

/// The results of units that return more than success, with the index of the unit.
type Outcomes = Vec<(usize, WorkResult)>;

async fn write(
    connection: &mut SqliteConnection,
    plan: &Plan<'_>,
    frame: Frame,
    is_open: bool,
    context: WriterContext<'_>,
) -> Result<Outcomes, sqlx::Error> {
    if frame == Frame::Transaction && plan.has_runs() && !plan.has_single_statements() {
        // Changes of runs have preconditions, so the transaction is open.
        if !plan.is_runs_alone() {
            plan.bind(statements::WRITE)?.execute(&mut *connection).await?;
        }
        plan.bind_runs(statements::WRITE_RUNS_AND_COMMIT)?.execute(connection).await?;
        return Ok(Vec::new());
    }
    if frame == Frame::Transaction && !plan.has_single_statements() {
        if !is_open && plan.is_calls_alone() {
            return write_calls(connection, plan).await.map(|()| Vec::new());
        }
        let bound = match is_open {
            false => plan.bind(statements::BEGIN_WRITE_COMMIT)?,
            true => plan.bind(statements::WRITE_AND_COMMIT)?,
        };
        bound.execute(connection).await?;
        return Ok(Vec::new());
    }
    let opens = frame == Frame::Transaction && !is_open;
    let script = if opens { statements::BEGIN_AND_WRITE } else { statements::WRITE };
    plan.bind(script)?.execute(&mut *connection).await?;
    if plan.has_runs() {
        plan.bind_runs(statements::WRITE_RUNS)?.execute(&mut *connection).await?;
    }
    let outcomes = write_single_statements(connection, plan, context).await?;
    let end = match frame {
        Frame::Transaction => statements::COMMIT,
        Frame::Savepoint => statements::RELEASE_UNIT,
    };
    end.query().execute(connection).await?;
    Ok(outcomes)
}

/// Writes a transaction that consists of rows of calls.
async fn write_calls(connection: &mut SqliteConnection, plan: &Plan<'_>) -> Result<(), sqlx::Error> {
    let (chunks, rest) = plan.call_chunks();
    let rest = rows(rest)?;
    if chunks.is_empty() {
        return execute_alone(connection, statements::UPSERT_CALLS.query().bind(rest)).await;
    }
    for (index, calls) in chunks.iter().enumerate() {
        let statement = match index {
            0 => statements::BEGIN_AND_UPSERT_CALL_CHUNK,
            _ => statements::UPSERT_CALL_CHUNK,
        };
        bind_chunk(statement, calls)?.execute(&mut *connection).await?;
    }
    statements::UPSERT_CALLS_AND_COMMIT.query().bind(rest).execute(connection).await.map(drop)
}

/// Executes one statement that is a transaction of its own.
///
/// Returns after its first result, which is the commit. `execute` would also wait for the end of the stream, which costs
/// two more thread switches.
async fn execute_alone(connection: &mut SqliteConnection, bound: Bound) -> Result<(), sqlx::Error> {
    let mut stream = connection.fetch_many(bound);
    match poll_fn(|context| stream.as_mut().poll_next(context)).await {
        Some(Ok(_)) => Ok(()),
        Some(Err(error)) => Err(error),
        None => Err(sqlx::Error::WorkerCrashed),
    }
}

async fn write_single_statements(
    connection: &mut SqliteConnection,
    plan: &Plan<'_>,
    context: WriterContext<'_>,
) -> Result<Outcomes, sqlx::Error> {
    for (artifact, hash) in &plan.artifacts {
        write_artifact(connection, artifact, *hash).await?;
    }
    for call in &plan.offering {
        write_offers(connection, call).await?;
    }
    let mut outcomes = Vec::new();
    for (index, lease) in &plan.leases {
        outcomes.push((*index, apply_lease(connection, context.instance, context.runs, lease).await?));
    }
    for (index, change) in &plan.memories {
        outcomes.push((*index, Ok(change.write(connection, context.instance).await?)));
    }
    for (index, change) in &plan.tracks {
        outcomes.push((*index, Ok(write_track(connection, change).await?)));
    }
    for (index, change) in &plan.programs {
        outcomes.push((*index, Ok(change.write(connection, context.instance).await?)));
    }
    for (index, setting) in &plan.settings {
        let changed = setting.write(connection, context.instance.now()).await?;
        outcomes.push((*index, changed.map(Outcome::Changed).map_err(Refusal::from)));
    }
    for (index, chunk) in &plan.prunes {
        outcomes.push((*index, Ok(Outcome::Pruned(prune_chunk(connection, chunk).await?))));
    }
    Ok(outcomes)
}
