//! The way to the writer.

use std::future::Future;
use std::path::PathBuf;

use sqlx::sqlite::SqliteConnection;
use tokio::sync::{mpsc, oneshot};

use super::task::Writer;
use super::unit::{Answer, Unit, Work};
use crate::StoreError;
use crate::instance::Instance;

/// What waits in the queue.
#[derive(Debug)]
pub(super) enum Entry {
    Unit(Unit),
    /// Ends the writer once everything before it is written.
    Stop(oneshot::Sender<Result<(), StoreError>>),
}

/// The queue's open end. The writer ends with the last of them, after it has written what is queued.
#[derive(Debug)]
pub(crate) struct Queue {
    entries: mpsc::UnboundedSender<Entry>,
}

impl Queue {
    /// Starts the writer.
    pub(crate) fn start(connection: SqliteConnection, path: PathBuf, instance: Instance) -> Self {
        let (entries, queued) = mpsc::unbounded_channel();
        tokio::spawn(Writer::new(connection, path, instance).run(queued));
        Self { entries }
    }

    /// No writer: whatever is queued is refused.
    pub(crate) fn closed() -> Self {
        Self { entries: mpsc::unbounded_channel().0 }
    }

    /// Queues work now; the future brings the answer. Dropping it gives up the answer, not the work.
    pub(crate) fn submit(&self, work: Work) -> impl Future<Output = Answer> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        // If the writer has ended, the entry is dropped and with it `answer`: that is the answer.
        let queued = work.check().map(|()| self.entries.send(Entry::Unit(Unit { work, answer })));
        async move {
            drop(queued?);
            answered.await.map_err(|_| StoreError::Closed)?
        }
    }

    /// Writes what is queued and ends the writer.
    pub(crate) async fn stop(&self) -> Result<(), StoreError> {
        let (stopped, result) = oneshot::channel();
        if self.entries.send(Entry::Stop(stopped)).is_err() {
            return Ok(());
        }
        result.await.unwrap_or(Ok(()))
    }
}
