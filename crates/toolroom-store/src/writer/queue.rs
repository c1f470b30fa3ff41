//! The way to the writer.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Notify, mpsc, oneshot};

use super::promises::Promises;
use super::task::Writer;
use super::unit::{Answer, Haste, Outcome, Unit, Work};
use crate::StoreError;
use crate::instance::Instance;

/// How long a reader waits for what was promised before.
const CATCH_UP: Duration = Duration::from_secs(1);

/// What waits in the queue.
#[derive(Debug)]
pub(super) enum Entry {
    Unit(Unit),
    /// Says when everything that was promised before it is written.
    Tell(oneshot::Sender<()>),
    /// Ends the writer once everything before it is written.
    Stop(oneshot::Sender<Result<(), StoreError>>),
}

/// The queue's open end. The writer ends with the last of them, after it has written what is queued.
#[derive(Debug)]
pub(crate) struct Queue {
    entries: mpsc::UnboundedSender<Entry>,
    /// What is promised; nothing is without an inbox.
    promises: Option<Arc<Promises>>,
    /// Somebody waits.
    hurry: Arc<Notify>,
}

impl Queue {
    /// Starts the writer.
    pub(crate) fn start(connection: SqliteConnection, path: PathBuf, instance: Instance) -> Self {
        let (entries, queued) = mpsc::unbounded_channel();
        let hurry = Arc::new(Notify::new());
        let promises = instance.inbox().map(|inbox| Arc::new(Promises::new(inbox, Arc::clone(&hurry))));
        let writer = Writer::new(connection, path, instance, promises.clone(), Arc::clone(&hurry));
        tokio::spawn(writer.run(queued));
        Self { entries, promises, hurry }
    }

    /// No writer: whatever is queued is refused.
    pub(crate) fn closed() -> Self {
        Self { entries: mpsc::unbounded_channel().0, promises: None, hurry: Arc::default() }
    }

    /// Queues work now; the future brings the answer. Dropping it gives up the answer, not the work.
    pub(crate) fn submit(&self, work: Work) -> impl Future<Output = Answer> + Send + use<> {
        let queued = work.check().map(|()| self.send(work));
        async move {
            match queued? {
                Some(answered) => answered.await.map_err(|_| StoreError::Closed)?,
                None => Ok(Outcome::Written),
            }
        }
    }

    /// Nobody has to wait for what is promised.
    fn send(&self, work: Work) -> Option<oneshot::Receiver<Answer>> {
        let promised =
            self.promises.as_ref().and_then(|promises| work.promisable().and_then(|row| promises.make(&row)));
        let haste = match promised {
            Some(promise) => Haste::Promised(promise),
            None if work.must_be_awaited() => Haste::Now,
            None => Haste::Soon,
        };
        let (answer, answered) = match promised {
            Some(_) => (None, None),
            None => {
                let (answer, answered) = oneshot::channel();
                (Some(answer), Some(answered))
            }
        };
        // If nobody is there any more, the unit is dropped and with it `answer`: that is the answer. What was promised is
        // in the inbox.
        drop(self.entries.send(Entry::Unit(Unit { work, haste, answer })));
        if haste == Haste::Now {
            self.hurry.notify_one();
        }
        answered
    }

    /// Waits until everything that is promised so far is written.
    pub(crate) async fn catch_up(&self) {
        let Some(promises) = self.promises.as_ref().filter(|promises| promises.are_open()) else { return };
        let (told, done) = oneshot::channel();
        if self.entries.send(Entry::Tell(told)).is_ok() {
            self.hurry.notify_one();
            // A writer that has ended has written everything before.
            if tokio::time::timeout(CATCH_UP, done).await.is_err() {
                promises.are_stuck();
            }
        }
    }

    /// Writes what is queued and ends the writer.
    pub(crate) async fn stop(&self) -> Result<(), StoreError> {
        let (stopped, result) = oneshot::channel();
        if let Some(promises) = &self.promises {
            promises.stop();
        }
        if self.entries.send(Entry::Stop(stopped)).is_err() {
            return Ok(());
        }
        self.hurry.notify_one();
        result.await.unwrap_or(Ok(()))
    }
}
