//! Background programs: their rows outlive the process that started them.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::BoxFuture;
use toolroom::background::{
    BackgroundProgram, BackgroundPrograms, MOST_PROGRAMS, PROGRAM_KEPT_FOR, ProgramEnd, ProgramState,
};
use toolroom::ledger::LedgerError;
use toolroom::scope::Scope;

use crate::sqlite::instance::{Instance, read_instance_option};
use crate::sqlite::row::{count, size, timestamp, user, without_nul};
use crate::sqlite::writer::{Outcome, Work};
use crate::statements::{Bound, Statement};
use crate::{Store, StoreError, statements};

/// The column `state`.
const RUNNING: &str = "running";
const FINISHED: &str = "finished";
const KILLED: &str = "killed";

/// A change of a program. Rare, so each is a few statements of its own.
#[derive(Debug)]
pub(crate) enum ProgramChange {
    Begin { scope: Scope, thread: Option<String>, command: String },
    End { number: u64, end: ProgramEnd },
    Delete { scope: Scope, number: u64 },
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
                // Impossible.
                Ok(_) => Err(StoreError::Closed),
                Err(refusal) => Err(refusal.into()),
            };
            number.map_err(|error| LedgerError::new("write the program", error))
        })
    }

    fn end_program(&self, number: u64, end: ProgramEnd) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            let ended = self.submit(Work::Program(ProgramChange::End { number, end })).await;
            ended.map(drop).map_err(|error| LedgerError::new("write the end of the program", error))
        })
    }

    fn forget_program<'a>(
        &'a self,
        scope: &'a Scope,
        number: u64,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        Box::pin(async move {
            let deletion = ProgramChange::Delete { scope: scope.clone(), number };
            let deleted = self.submit(Work::Program(deletion)).await;
            deleted
                .map(|outcome| outcome == Outcome::Changed(1))
                .map_err(|error| LedgerError::new("delete the program", error))
        })
    }

    fn programs<'a>(
        &'a self,
        scope: &'a Scope,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<BackgroundProgram>, LedgerError>> {
        Box::pin(async move {
            let rows =
                self.reader().rows(bind_scope(statements::PROGRAMS, scope, thread.map(without_nul))).await;
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
        let exit_code = row.try_get("exit_code")?;
        let state = match row.try_get::<&str, _>("state")? {
            RUNNING => self.state(row)?,
            state => ProgramState::Ended(ProgramEnd { exit_code, was_killed: state == KILLED }),
        };
        Ok(BackgroundProgram {
            number: size(row, "number")?,
            command: row.try_get("command")?,
            began_at: timestamp(row, "began_at")?,
            state,
        })
    }

    /// The state of a program whose end was not recorded.
    fn state(&self, row: &SqliteRow) -> Result<ProgramState, sqlx::Error> {
        // Without a row, its process has signed off or was found dead.
        let Some(instance) = read_instance_option(row)? else { return Ok(ProgramState::Lost) };
        let process = self.process();
        Ok(if process.is_self(&instance) {
            ProgramState::RunningHere
        } else if process.is_dead(&instance, self.now()) {
            ProgramState::Lost
        } else {
            ProgramState::RunningElsewhere
        })
    }
}

impl ProgramChange {
    /// Writes the change inside the open transaction.
    pub(crate) async fn write(
        &self,
        connection: &mut SqliteConnection,
        instance: &Instance,
    ) -> Result<Outcome, sqlx::Error> {
        match self {
            Self::Begin { scope, thread, command } => {
                let row = statements::NEXT_PROGRAM.query().fetch_one(&mut *connection).await?;
                let number = size(&row, "value")?;
                let now = instance.now();
                bind_scope(statements::INSERT_PROGRAM, scope, thread.clone())
                    .bind(count(number))
                    .bind(command.clone())
                    .bind(instance.id.clone())
                    .bind(now.as_micros())
                    .execute(&mut *connection)
                    .await?;
                let trim = bind_scope(statements::TRIM_PROGRAMS, scope, thread.clone())
                    .bind(i64::from(MOST_PROGRAMS));
                trim.execute(&mut *connection).await?;
                let old = now.before(PROGRAM_KEPT_FOR).as_micros();
                statements::DELETE_OLD_PROGRAMS.query().bind(old).execute(connection).await?;
                Ok(Outcome::Numbered(number))
            }
            Self::End { number, end } => {
                let state = if end.was_killed { KILLED } else { FINISHED };
                let query = statements::END_PROGRAM.query().bind(count(*number)).bind(state);
                let changed = query.bind(i64::from(end.exit_code)).execute(connection).await?;
                Ok(Outcome::Changed(changed.rows_affected()))
            }
            Self::Delete { scope, number } => {
                let query = statements::DELETE_PROGRAM.query().bind(scope.project.as_str().to_owned());
                let query = query.bind(user(scope)).bind(count(*number));
                Ok(Outcome::Changed(query.execute(connection).await?.rows_affected()))
            }
        }
    }

    /// Whether a program of this process runs afterwards.
    pub(crate) fn is_begin(&self) -> bool {
        matches!(self, Self::Begin { .. })
    }

    /// The program that no longer runs afterwards.
    pub(crate) fn ends(&self) -> Option<u64> {
        match self {
            Self::Begin { .. } => None,
            Self::End { number, .. } | Self::Delete { number, .. } => Some(*number),
        }
    }
}

/// Binds $1 project, $2 user, $3 conversation.
fn bind_scope(statement: Statement, scope: &Scope, thread: Option<String>) -> Bound {
    statement.query().bind(scope.project.as_str().to_owned()).bind(user(scope)).bind(thread)
}
