//! Programs in the background: what a later process has to know of them.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::background::{
    BackgroundProgram, BackgroundPrograms, MOST_PROGRAMS, PROGRAM_KEPT_FOR, ProgramEnd, ProgramState,
};
use toolroom::clock::Timestamp;
use toolroom::ledger::LedgerError;
use toolroom::scope::Scope;

use crate::instance::Instance;
use crate::journal::user;
use crate::presence::Seen;
use crate::row::{count, size, without_nul};
use crate::statements::{Bound, Statement};
use crate::writer::{Outcome, Work};
use crate::{Store, StoreError, statements};

/// What is written of a program that has ended, and of one that has not.
const RUNNING: &str = "running";
const FINISHED: &str = "finished";
const KILLED: &str = "killed";

/// A change of what is kept. Rare, so each is a few statements of its own.
#[derive(Debug)]
pub(crate) enum ProgramChange {
    Begin { scope: Scope, thread: Option<String>, command: String },
    End { number: u64, end: ProgramEnd },
    Forget { scope: Scope, number: u64 },
}

impl BackgroundPrograms for Store {
    fn begin_program<'a>(
        &'a self,
        scope: &'a Scope,
        thread: Option<&'a str>,
        command: &'a str,
    ) -> BoxFuture<'a, Result<u64, LedgerError>> {
        let begin = ProgramChange::Begin {
            scope: scope.clone(),
            thread: thread.map(without_nul),
            command: without_nul(command),
        };
        Box::pin(async move {
            let number = match self.submit(Work::Program(begin)).await {
                Ok(Outcome::Numbered(number)) => Ok(number),
                // Nothing else comes of it.
                Ok(_) => Err(StoreError::Closed),
                Err(refusal) => Err(refusal.into()),
            };
            number.map_err(|error| LedgerError::new("keep the program", error))
        })
    }

    fn end_program(&self, number: u64, end: ProgramEnd) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            let ended = self.submit(Work::Program(ProgramChange::End { number, end })).await;
            ended.map(drop).map_err(|error| LedgerError::new("keep the end of the program", error))
        })
    }

    fn forget_program<'a>(
        &'a self,
        scope: &'a Scope,
        number: u64,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            let forget = ProgramChange::Forget { scope: scope.clone(), number };
            let forgotten = self.submit(Work::Program(forget)).await;
            forgotten
                .map(|outcome| outcome == Outcome::Changed(1))
                .map_err(|error| LedgerError::new("forget the program", error))
        })
    }

    fn programs<'a>(
        &'a self,
        scope: &'a Scope,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<BackgroundProgram>, LedgerError>> {
        Box::pin(async move {
            let rows = self.reader().rows(of(statements::PROGRAMS, scope, thread.map(without_nul))).await;
            let programs = rows.and_then(|rows| {
                let read = |row| self.read_program(row).map_err(|error| self.reader().failed(error));
                rows.iter().map(read).collect()
            });
            programs.map_err(|error| LedgerError::new("list programs", error))
        })
    }
}

impl Store {
    fn read_program(&self, row: &SqliteRow) -> Result<BackgroundProgram, sqlx::Error> {
        let exit_code = row.try_get(4)?;
        let state = match row.try_get::<&str, _>(3)? {
            RUNNING => self.state(row)?,
            state => ProgramState::Ended(ProgramEnd { exit_code, was_killed: state == KILLED }),
        };
        Ok(BackgroundProgram {
            number: size(row, 0)?,
            command: row.try_get(1)?,
            began_at: Timestamp::from_micros(row.try_get(2)?),
            state,
        })
    }

    /// What became of one that nobody has seen end.
    fn state(&self, row: &SqliteRow) -> Result<ProgramState, sqlx::Error> {
        // Without a row its process has signed off, or was found dead before.
        let Some(id) = row.try_get::<Option<String>, _>(5)? else { return Ok(ProgramState::Lost) };
        let seen = Seen {
            id,
            machine: row.try_get(6)?,
            process: row.try_get(7)?,
            heartbeat_at: Timestamp::from_micros(row.try_get(8)?),
        };
        let us = self.presence();
        Ok(if seen.machine == us.machine && seen.process == us.process {
            ProgramState::RunningHere
        } else if us.knows_dead(&seen, self.now()) {
            ProgramState::Lost
        } else {
            ProgramState::RunningElsewhere
        })
    }
}

impl ProgramChange {
    /// Writes it inside the open transaction.
    pub(crate) async fn write(
        &self,
        connection: &mut SqliteConnection,
        instance: &Instance,
    ) -> Result<Outcome, sqlx::Error> {
        match self {
            Self::Begin { scope, thread, command } => {
                let row = statements::NEXT_PROGRAM.query().fetch_one(&mut *connection).await?;
                let number = size(&row, 0)?;
                let now = instance.now();
                of(statements::INSERT_PROGRAM, scope, thread.clone())
                    .bind(count(number))
                    .bind(command.clone())
                    .bind(instance.id.clone())
                    .bind(now.as_micros())
                    .execute(&mut *connection)
                    .await?;
                let trim =
                    of(statements::TRIM_PROGRAMS, scope, thread.clone()).bind(i64::from(MOST_PROGRAMS));
                trim.execute(&mut *connection).await?;
                let old = now.before(PROGRAM_KEPT_FOR).as_micros();
                statements::FORGET_OLD_PROGRAMS.query().bind(old).execute(connection).await?;
                Ok(Outcome::Numbered(number))
            }
            Self::End { number, end } => {
                let state = if end.was_killed { KILLED } else { FINISHED };
                let query = statements::END_PROGRAM.query().bind(count(*number)).bind(state);
                let changed = query.bind(i64::from(end.exit_code)).execute(connection).await?;
                Ok(Outcome::Changed(changed.rows_affected()))
            }
            Self::Forget { scope, number } => {
                let query = statements::FORGET_PROGRAM.query().bind(scope.project.as_str().to_owned());
                let query = query.bind(user(scope)).bind(count(*number));
                Ok(Outcome::Changed(query.execute(connection).await?.rows_affected()))
            }
        }
    }

    /// Whether a program of ours runs from then on.
    pub(crate) fn is_begin(&self) -> bool {
        matches!(self, Self::Begin { .. })
    }

    /// The program that runs no longer.
    pub(crate) fn ends(&self) -> Option<u64> {
        match self {
            Self::Begin { .. } => None,
            Self::End { number, .. } | Self::Forget { number, .. } => Some(*number),
        }
    }
}

/// A statement whose first parameters are project, user and conversation.
fn of(statement: Statement, scope: &Scope, thread: Option<String>) -> Bound {
    statement.query().bind(scope.project.as_str().to_owned()).bind(user(scope)).bind(thread)
}
