//! The way to the writer.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::SqliteConnection;
use tokio::sync::{Notify, mpsc, oneshot};

use super::intake::{Intake, Turn};
use super::promises::Promises;
use super::task::Writer;
use super::unit::{Answer, Haste, Unit, Work};
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
    /// Where rows are promised; nothing is without an inbox.
    intake: Option<Arc<Intake>>,
    /// Somebody waits.
    hurry: Arc<Notify>,
}

impl Queue {
    /// Starts the writer.
    pub(crate) fn start(connection: SqliteConnection, path: PathBuf, instance: Instance) -> Self {
        let (entries, queued) = mpsc::unbounded_channel();
        let promises = instance.inbox().map(|inbox| Arc::new(Promises::new(inbox)));
        let hurry = Arc::new(Notify::new());
        let writer = Writer::new(connection, path, instance, promises.clone(), Arc::clone(&hurry));
        tokio::spawn(writer.run(queued));
        let intake = promises.map(|promises| Intake::new(promises, entries.clone(), Arc::clone(&hurry)));
        Self { entries, intake, hurry }
    }

    /// No writer: whatever is queued is refused.
    pub(crate) fn closed() -> Self {
        Self { entries: mpsc::unbounded_channel().0, intake: None, hurry: Arc::default() }
    }

    /// Queues work now; the future brings the answer. Dropping it gives up the answer, not the work.
    pub(crate) fn submit(&self, work: Work) -> impl Future<Output = Answer> + Send + use<> {
        let (answer, answered) = oneshot::channel();
        let queued = work.check().map(|()| self.send(work, answer));
        async move {
            if let Some(turn) = queued? {
                turn.come().await;
            }
            answered.await.map_err(|_| StoreError::Closed)?
        }
    }

    fn send(&self, work: Work, answer: oneshot::Sender<Answer>) -> Option<Turn> {
        let haste = match work.must_be_awaited() {
            true => Haste::Now,
            false => Haste::Soon,
        };
        let intake = self.intake.as_ref().filter(|_| work.promisable().is_some());
        let unit = Unit { work, haste, answer: Some(answer) };
        if let Some(intake) = intake {
            return intake.take_in(unit);
        }
        // If nobody is there any more, the unit is dropped and with it `answer`: that is the answer.
        drop(self.entries.send(Entry::Unit(unit)));
        if haste == Haste::Now {
            self.hurry.notify_one();
        }
        None
    }

    /// Waits until everything that is promised so far is written.
    pub(crate) async fn catch_up(&self) {
        let promises = self.intake.as_ref().map(|intake| intake.promises());
        let Some(promises) = promises.filter(|promises| promises.are_open()) else { return };
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
        // Behind all ends of calls.
        if let Some(intake) = &self.intake {
            intake.end();
        }
        if self.entries.send(Entry::Stop(stopped)).is_err() {
            return Ok(());
        }
        self.hurry.notify_one();
        result.await.unwrap_or(Ok(()))
    }
}
