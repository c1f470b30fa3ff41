//! Commits units of work: all in one transaction, or each in a savepoint after a failure.

use super::task::Writer;
use super::transaction::{Frame, TransactionResult, WriterContext, run};
use super::unit::{Durability, Refusal, Unit, WorkResult};
use crate::sqlite::connection::{Purpose, connect};
use crate::{StoreError, statements};

/// Attempts to lock the database. SQLite waits ten seconds in each.
const LOCK_TRIES: u32 = 3;

impl Writer {
    /// Writes the units, with retries.
    pub(super) async fn results(&mut self, units: &[Unit], durability: Durability) -> Vec<WorkResult> {
        let mut tries = 1;
        loop {
            let result = match self.write_together(units, durability).await {
                Err(error) if error.may_be_one_unit() => self.write_one_by_one(units, error).await,
                result => result,
            };
            match result {
                Ok(results) => return results,
                Err(StoreError::Locked(_)) if tries < LOCK_TRIES => tries += 1,
                Err(error) => {
                    tracing::error!(path = %self.path.display(), %error, "the batch could not be written");
                    return units.iter().map(|_| Err(error.clone().into())).collect();
                }
            }
        }
    }

    /// All units in one transaction.
    async fn write_together(
        &mut self,
        units: &[Unit],
        durability: Durability,
    ) -> Result<Vec<WorkResult>, StoreError> {
        self.prepare(durability).await?;
        self.transact(units, Frame::Transaction).await
    }

    /// All units in one transaction, each in a savepoint.
    async fn write_one_by_one(
        &mut self,
        units: &[Unit],
        first: StoreError,
    ) -> Result<Vec<WorkResult>, StoreError> {
        if let [unit] = units {
            return Ok(vec![Err(unit_error(unit, first))]);
        }
        self.execute(statements::BEGIN).await?;
        self.uncommitted_heartbeat = None;
        let mut results = Vec::with_capacity(units.len());
        for unit in units {
            match self.transact(std::slice::from_ref(unit), Frame::Savepoint).await {
                Ok(result) => results.extend(result),
                Err(error) if error.may_be_one_unit() => results.push(Err(unit_error(unit, error))),
                Err(error) => {
                    self.undo(Frame::Transaction).await;
                    return Err(error);
                }
            }
        }
        match self.execute(statements::COMMIT).await {
            Ok(()) => {
                if let Some(at) = self.uncommitted_heartbeat.take() {
                    self.instance.heartbeat_committed(at);
                }
                Ok(results)
            }
            Err(error) => {
                self.undo(Frame::Transaction).await;
                Err(error)
            }
        }
    }

    /// Runs the units inside `frame`, and undoes it after a failure.
    async fn transact(&mut self, units: &[Unit], frame: Frame) -> Result<Vec<WorkResult>, StoreError> {
        let context =
            WriterContext { instance: &self.instance, has_open_work: self.has_open_work(), runs: &self.runs };
        let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
        match run(connection, context, units, frame).await {
            Ok(TransactionResult { results, heartbeat_at }) => {
                match (frame, heartbeat_at) {
                    (Frame::Transaction, Some(at)) => self.instance.heartbeat_committed(at),
                    (Frame::Savepoint, Some(at)) => self.uncommitted_heartbeat = Some(at),
                    (Frame::Transaction | Frame::Savepoint, None) => {}
                }
                Ok(results)
            }
            Err(error) => {
                self.undo(frame).await;
                Err(self.failed(error))
            }
        }
    }

    /// Opens the connection if needed, and sets its durability.
    async fn prepare(&mut self, durability: Durability) -> Result<(), StoreError> {
        if self.connection.is_none() {
            self.connection = Some(connect(&self.path, Purpose::Write).await?);
            self.durability = Durability::Process;
        }
        if self.durability != durability {
            let setting = match durability {
                Durability::Process => statements::NORMAL_SYNC,
                Durability::Power => statements::FULL_SYNC,
            };
            let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
            let result = setting.setting().execute(connection).await;
            result.map_err(|error| self.failed(error))?;
            self.durability = durability;
        }
        Ok(())
    }

    async fn execute(&mut self, statement: statements::Statement) -> Result<(), StoreError> {
        let connection = self.connection.as_mut().ok_or(StoreError::Closed)?;
        let result = statement.query().execute(connection).await;
        result.map(drop).map_err(|error| self.failed(error))
    }

    /// Rolls back. Ignores the error of a transaction that has ended by itself.
    pub(super) async fn undo(&mut self, frame: Frame) {
        let statement = match frame {
            Frame::Transaction => statements::ROLLBACK,
            Frame::Savepoint => statements::UNDO_UNIT,
        };
        drop(self.execute(statement).await);
    }

    pub(super) fn failed(&mut self, error: sqlx::Error) -> StoreError {
        let error = StoreError::at(&self.path, error);
        if error.lost_connection() {
            self.connection = None;
        }
        error
    }
}

/// The error of a unit that failed alone.
fn unit_error(unit: &Unit, error: StoreError) -> Refusal {
    match (unit.work.calls().next(), unit.work.record()) {
        (Some(call), _) if error.is_final_status() => StoreError::AlreadyRecorded(call.clone()).into(),
        (_, Some(record)) if error.is_called_before() => StoreError::CalledBefore {
            call: record.id.clone(),
            run: record.run.as_deref().unwrap_or_default().to_owned(),
            model_call: record.model_call.as_deref().unwrap_or_default().to_owned(),
        }
        .into(),
        _ => error.into(),
    }
}
