//! The writer task.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::Connection;
use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Notify, mpsc};
use tokio::task::yield_now;
use tokio::time::Instant;
use toolroom::clock::Timestamp;
use toolroom::conversation::{RunId, StepError};
use toolroom::ledger::CallId;

use super::batch::{Batch, LargeUnits};
use super::queue::QueueItem;
use super::transaction::Frame;
use super::unit::{Durability, Outcome, Refusal, Unit, Urgency, Work, WorkResult};
use super::write_ahead::{BATCH_ROWS, WriteAhead};
use crate::port::invalidate;
use crate::sqlite::conversation::LeaseChange;
use crate::sqlite::instance::{EXPIRY_INTERVAL, HEARTBEAT_INTERVAL, Instance};
use crate::{ChangeCounter, StoreError};

/// How long write-ahead rows gather before they are committed together.
const GATHER_TIME: Duration = Duration::from_millis(100);

/// Interval of retries of write-ahead rows that could not be committed.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The state of the writer task.
#[derive(Debug)]
pub(super) struct Writer {
    /// `None` after it was lost, until the next batch.
    pub(super) connection: Option<SqliteConnection>,
    pub(super) path: PathBuf,
    pub(super) instance: Instance,
    counter: Option<Arc<dyn ChangeCounter>>,
    /// The current durability of the connection.
    pub(super) durability: Durability,
    /// A heartbeat written in a savepoint, whose transaction is not committed yet.
    pub(super) uncommitted_heartbeat: Option<Timestamp>,
    /// Open calls of this process. With any of these three, the process writes heartbeats.
    calls: HashSet<CallId>,
    /// Runs that this process holds.
    pub(super) runs: HashSet<RunId>,
    /// Background programs of this process.
    programs: HashSet<u64>,
    write_ahead: Option<Arc<WriteAhead>>,
    /// Ends the gathering of a batch.
    wakeup: Arc<Notify>,
    large: LargeUnits,
    /// Write-ahead rows that could not be committed.
    retries: Vec<Unit>,
    retry_at: Instant,
}

impl Writer {
    /// `connection` commits as [`Durability::Process`].
    pub(super) fn new(
        connection: SqliteConnection,
        path: PathBuf,
        instance: Instance,
        counter: Option<Arc<dyn ChangeCounter>>,
        write_ahead: Option<Arc<WriteAhead>>,
        wakeup: Arc<Notify>,
    ) -> Self {
        Self {
            connection: Some(connection),
            path,
            instance,
            counter,
            durability: Durability::Process,
            uncommitted_heartbeat: None,
            calls: HashSet::new(),
            runs: HashSet::new(),
            programs: HashSet::new(),
            write_ahead,
            wakeup,
            large: LargeUnits::default(),
            retries: Vec::new(),
            retry_at: Instant::now(),
        }
    }

    /// Runs until the queue ends or is stopped.
    pub(super) async fn run(mut self, mut queued: mpsc::UnboundedReceiver<QueueItem>) {
        let mut waiting = None;
        let mut stop = None;
        let mut expire_at = Instant::now() + EXPIRY_INTERVAL;
        while stop.is_none() {
            let mut next = match waiting.take() {
                Some(unit) => Some(QueueItem::Unit(unit)),
                None => tokio::select! {
                    item = queued.recv() => item,
                    () = self.large.hashed() => {
                        self.write_large().await;
                        continue;
                    }
                    () = async { tokio::time::sleep(HEARTBEAT_INTERVAL).await }, if self.has_open_work() => {
                        self.write(Batch::default()).await;
                        continue;
                    }
                    () = tokio::time::sleep_until(self.retry_at), if !self.retries.is_empty() => {
                        self.retry().await;
                        continue;
                    }
                    () = tokio::time::sleep_until(expire_at) => {
                        self.expire_overdue().await;
                        expire_at = Instant::now() + EXPIRY_INTERVAL;
                        continue;
                    }
                },
            };
            if next.is_none() {
                break;
            }
            self.gather(next.as_ref(), queued.len()).await;
            let mut batch = Batch::with_capacity(1 + queued.len());
            let mut caught_up = Vec::new();
            while let Some(item) = next.take() {
                match item {
                    QueueItem::Unit(unit) => {
                        waiting = self.large.put(unit).and_then(|unit| batch.admit(unit));
                    }
                    QueueItem::CatchUp(reply) => caught_up.push(reply),
                    QueueItem::Stop(stopped) => stop = Some(stopped),
                }
                if waiting.is_none() && stop.is_none() {
                    next = queued.try_recv().ok();
                }
            }
            // A process that only reads ends without taking the write lock.
            if !batch.is_empty() {
                self.write(batch).await;
            }
            // Readers wait for retries, too. A busy queue must not postpone them.
            if !self.retries.is_empty() && (!caught_up.is_empty() || self.retry_at <= Instant::now()) {
                self.retry().await;
            }
            for reply in caught_up {
                // The reader may have timed out.
                let _gone = reply.send(());
            }
            // Nor must it postpone large units.
            if self.large.is_hashed() {
                self.write_large().await;
            }
        }
        while self.write_large().await {}
        self.retry().await;
        let ended = self.end().await;
        if let Some(stop) = stop {
            // The caller may have gone.
            drop(stop.send(ended));
        }
    }

    /// Writes one large unit alone, so that units that arrive meanwhile wait for no other. Returns whether there was one.
    async fn write_large(&mut self) -> bool {
        let Some(unit) = self.large.take() else { return false };
        let mut batch = Batch::default();
        // An empty batch admits any unit.
        drop(batch.admit(unit));
        self.write(batch).await;
        true
    }

    /// Lets units gather: a commit of many costs as much as a commit of one.
    async fn gather(&self, first: Option<&QueueItem>, queued_behind: usize) {
        let is_awaited = !matches!(first, Some(QueueItem::Unit(unit)) if unit.urgency != Urgency::Awaited);
        if !is_awaited && self.write_ahead.is_some() && queued_behind < BATCH_ROWS {
            // An earlier notification only shortens the wait.
            drop(tokio::time::timeout(GATHER_TIME, self.wakeup.notified()).await);
        }
        // Tasks that are ready to queue a unit do so first.
        yield_now().await;
    }

    /// Commits write-ahead rows that could not be committed before.
    async fn retry(&mut self) {
        let mut batch = Batch::default();
        let retries = std::mem::take(&mut self.retries);
        self.retries.extend(retries.into_iter().filter_map(|unit| batch.admit(unit)));
        if !batch.is_empty() {
            self.write(batch).await;
        }
        self.retry_at = Instant::now() + RETRY_INTERVAL;
    }

    /// Denies expired questions.
    async fn expire_overdue(&mut self) {
        let Some(connection) = self.connection.as_mut() else { return };
        if let Err(error) = self.instance.expire_overdue(connection).await {
            let error = self.failed(error);
            self.undo(Frame::Transaction).await;
            tracing::debug!(path = %self.path.display(), %error, "expiry of questions is postponed");
        }
    }

    /// Writes a batch and replies to its units.
    pub(super) async fn write(&mut self, batch: Batch) {
        let durability = batch.durability();
        let mut units = batch.into_units();
        for unit in &mut units {
            if let Work::Close(_, hashes) = &mut unit.work {
                // Before the lock is taken.
                hashes.settle().await;
            }
        }
        let results = self.results(&units, durability).await;
        if let Some(counter) = &self.counter
            && units.iter().any(|unit| unit.work.changes_standing())
        {
            invalidate(counter.as_ref()).await;
        }
        let mut released = Vec::new();
        for (unit, result) in units.into_iter().zip(results) {
            if let Urgency::WriteAhead(slot) = unit.urgency {
                match &result {
                    Err(Refusal::Store(StoreError::AlreadyRecorded(_))) => {}
                    Err(Refusal::Store(error)) if !error.is_about_the_row() => {
                        self.retries.push(unit);
                        continue;
                    }
                    Err(error) => tracing::error!(%error, "the database rejected a write-ahead row"),
                    Ok(_) => {}
                }
                released.push(slot);
            }
            if let (Work::Begin(begin), Ok(_)) = (&unit.work, &result) {
                self.calls.insert(begin.record.id.clone());
            }
            // Also after a failure: the close is not retried, and its call must not count as running.
            if let Some(call) = unit.work.ends() {
                self.calls.remove(call);
            }
            self.track_run(&unit.work, &result);
            self.track_program(&unit.work, &result);
            // The caller may have gone.
            drop(unit.reply.map(|reply| reply.send(result)));
        }
        if let Some(write_ahead) = &self.write_ahead {
            write_ahead.release(released.into_iter());
            write_ahead.set_backpressure(!self.retries.is_empty());
        }
    }

    /// Tracks the runs that this process holds.
    fn track_run(&mut self, work: &Work, result: &WorkResult) {
        match (work, result) {
            (Work::Run(change), Ok(_)) if change.keeps_running() => {
                self.runs.insert(change.run.id.clone());
            }
            // Also after a failed step: if it is not retried, another process may take the run over.
            (Work::Run(change), Ok(_) | Err(Refusal::NotStepped(StepError::Lost(_)) | Refusal::Store(_))) => {
                self.runs.remove(&change.run.id);
            }
            (Work::Lease(LeaseChange::Release(run)), _) => {
                self.runs.remove(run);
            }
            (Work::Lease(_), Ok(Outcome::Taken(run))) => {
                self.runs.insert(run.id.clone());
            }
            _ => {}
        }
    }

    /// Tracks the background programs of this process.
    fn track_program(&mut self, work: &Work, result: &WorkResult) {
        if let Ok(Outcome::Numbered(number)) = result {
            self.programs.insert(*number);
        } else if let Work::Program(change) = work
            && let Some(number) = change.ends()
        {
            self.programs.remove(&number);
        }
    }

    /// Whether this process has to write heartbeats.
    pub(super) fn has_open_work(&self) -> bool {
        !self.calls.is_empty() || !self.runs.is_empty() || !self.programs.is_empty()
    }

    async fn end(mut self) -> Result<(), StoreError> {
        // Explicitly: a task that outlives the runtime never drops its reference.
        if let Some(write_ahead) = &self.write_ahead {
            write_ahead.close();
        }
        let Some(mut connection) = self.connection.take() else {
            return Ok(());
        };
        let signed_off = self.instance.sign_off(&mut connection).await;
        let closed = connection.close().await;
        signed_off.and(closed).map_err(|error| self.failed(error))
    }
}

#[cfg(test)]
impl Writer {
    pub(super) fn connection(&mut self) -> Option<&mut SqliteConnection> {
        self.connection.as_mut()
    }
}
