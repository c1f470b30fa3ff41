//! The queue of the writer.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Notify, mpsc, oneshot};

use super::task::Writer;
use super::unit::{Outcome, Unit, Urgency, Work, WorkResult};
use super::write_ahead::WriteAhead;
use crate::sqlite::instance::Instance;
use crate::{StoreError, StoreOptions};

/// How long a reader waits for write-ahead rows to be committed.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) enum QueueItem {
    Unit(Unit),
    /// Replies when all write-ahead rows before it are committed.
    CatchUp(oneshot::Sender<()>),
    /// Ends the writer once everything before it is written.
    Stop(oneshot::Sender<Result<(), StoreError>>),
}

/// The sending end of the queue. The writer writes what is queued and ends with the last sender.
#[derive(Debug)]
pub(crate) struct Queue {
    items: mpsc::UnboundedSender<QueueItem>,
    write_ahead: Option<Arc<WriteAhead>>,
    /// Wakes a writer that gathers a batch.
    wakeup: Arc<Notify>,
}

impl Queue {
    /// Starts the writer.
    pub(crate) fn start(
        connection: SqliteConnection,
        path: PathBuf,
        instance: Instance,
        options: &StoreOptions,
    ) -> Self {
        let (items, queued) = mpsc::unbounded_channel();
        let wakeup = Arc::new(Notify::new());
        let write_ahead =
            options.write_ahead.clone().map(|file| Arc::new(WriteAhead::new(file, Arc::clone(&wakeup))));
        let writer = Writer::new(
            connection,
            path,
            instance,
            options.change_counter.clone(),
            write_ahead.clone(),
            Arc::clone(&wakeup),
        );
        tokio::spawn(writer.run(queued));
        Self { items, write_ahead, wakeup }
    }

    /// A queue without a writer, which rejects everything.
    pub(crate) fn closed() -> Self {
        Self { items: mpsc::unbounded_channel().0, write_ahead: None, wakeup: Arc::default() }
    }

    /// Queues work at once; the future resolves to its result. Dropping the future does not cancel the work.
    pub(crate) fn submit(&self, work: Work) -> impl Future<Output = WorkResult> + Send + use<> {
        let queued = work.check().map(|()| self.send(work));
        async move {
            match queued? {
                Some(result) => result.await.map_err(|_| StoreError::Closed)?,
                None => Ok(Outcome::Written),
            }
        }
    }

    /// Returns `None` if the row is in the write-ahead file: then there is no result to wait for.
    fn send(&self, work: Work) -> Option<oneshot::Receiver<WorkResult>> {
        let slot = self
            .write_ahead
            .as_ref()
            .and_then(|write_ahead| work.write_ahead_row().and_then(|row| write_ahead.append(&row)));
        let urgency = match slot {
            Some(slot) => Urgency::WriteAhead(slot),
            None if work.must_be_awaited() => Urgency::Awaited,
            None => Urgency::Deferred,
        };
        let (reply, result) = match slot {
            Some(_) => (None, None),
            None => {
                let (reply, result) = oneshot::channel();
                (Some(reply), Some(result))
            }
        };
        // If the writer has ended, the unit is dropped with its `reply`, and the result is `Closed`. A write-ahead row stays
        // in the file.
        drop(self.items.send(QueueItem::Unit(Unit { work, urgency, reply })));
        if urgency == Urgency::Awaited {
            self.wakeup.notify_one();
        }
        result
    }

    /// Waits until all write-ahead rows so far are committed.
    pub(crate) async fn catch_up(&self) {
        let Some(write_ahead) = self.write_ahead.as_ref().filter(|write_ahead| write_ahead.has_pending())
        else {
            return;
        };
        let (reply, done) = oneshot::channel();
        if self.items.send(QueueItem::CatchUp(reply)).is_ok() {
            self.wakeup.notify_one();
            // A writer that has ended has written everything.
            if tokio::time::timeout(CATCH_UP_TIMEOUT, done).await.is_err() {
                write_ahead.mark_stalled();
            }
        }
    }

    /// Writes what is queued and ends the writer.
    pub(crate) async fn stop(&self) -> Result<(), StoreError> {
        let (stopped, result) = oneshot::channel();
        if let Some(write_ahead) = &self.write_ahead {
            write_ahead.stop_appends();
        }
        if self.items.send(QueueItem::Stop(stopped)).is_err() {
            return Ok(());
        }
        self.wakeup.notify_one();
        result.await.unwrap_or(Ok(()))
    }
}
