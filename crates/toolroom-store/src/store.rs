//! The store: one writer, two readers, one file.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{Connection, Row, SqliteConnection};
use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::{AnswerId, SwitchState};
use toolroom::scope::ProjectId;

use crate::connect::{Purpose, connect};
use crate::instance::{Instance, look_around};
use crate::known_keys::KnownKeys;
use crate::migrate::{MIGRATIONS, Schema, migrate};
use crate::reader::Reader;
use crate::row::size;
use crate::setting::Setting;
use crate::switchboard::{StandingReader, SwitchKind};
use crate::writer::{Outcome, Queue, Refusal, Work};
use crate::{Presence, StoreError, statements};

/// A database, open. Clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    presence: Presence,
    clock: Arc<dyn Clock>,
    queue: Arc<Queue>,
    reader: Reader,
    standing: StandingReader,
    known_keys: KnownKeys,
}

/// What a person wants to know of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStatus {
    /// The file.
    pub path: PathBuf,
    /// The newest migration it has seen.
    pub schema: i64,
    /// Its size, without the write-ahead log.
    pub bytes: u64,
    /// The version of SQLite.
    pub sqlite: String,
}

impl Store {
    /// Opens the database at `path`, makes or migrates it where needed, and marks what dead processes left
    /// open as *unknown*. The folder has to exist. Needs a tokio runtime: the writer is one of its tasks.
    ///
    /// # Errors
    /// When the file cannot be opened, is no database of ours, is newer than this version, or is locked.
    pub async fn open(path: &Path, presence: Presence, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let instance = Instance::new(presence.clone(), Arc::clone(&clock));
        let mut connection = connect(path, Purpose::Write).await?;
        if let Err(error) = prepare(&mut connection, path, &instance).await {
            // Closed when the error is told, as in `connect`.
            drop(connection.close().await);
            return Err(error);
        }
        let queue = Arc::new(Queue::start(connection, path.to_owned(), instance));
        let standing = StandingReader::start(path.to_owned(), presence.notice.clone());
        Ok(Self {
            shared: Arc::new(Shared {
                path: path.to_owned(),
                presence,
                clock,
                reader: Reader::behind(Arc::clone(&queue), path.to_owned()),
                queue,
                standing,
                known_keys: KnownKeys::default(),
            }),
        })
    }

    /// Opens the database at `path` as it is, to be looked at: nothing is made, migrated, marked or answered, and every
    /// write fails with [`StoreError::Closed`]. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the file cannot be opened, is no database of ours, or has another schema than this version.
    pub async fn open_to_look(
        path: &Path,
        presence: Presence,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let mut connection = connect(path, Purpose::Read).await?;
        let schema = Schema::of(&mut connection, path).await;
        // Nothing was written through it, so nothing can be lost.
        drop(connection.close().await);
        schema?.check_readable(path)?;
        let standing = StandingReader::start(path.to_owned(), presence.notice.clone());
        Ok(Self {
            shared: Arc::new(Shared {
                path: path.to_owned(),
                presence,
                clock,
                queue: Arc::new(Queue::closed()),
                reader: Reader::new(path.to_owned()),
                standing,
                known_keys: KnownKeys::default(),
            }),
        })
    }

    /// Writes what is queued, signs off and ends all connections. Whatever is asked of the store later, through
    /// any clone, fails with [`StoreError::Closed`].
    ///
    /// # Errors
    /// When the last write fails.
    pub async fn shutdown(&self) -> Result<(), StoreError> {
        let stopped = self.shared.queue.stop().await;
        self.shared.reader.close().await;
        self.shared.standing.close().await;
        stopped
    }

    /// Switches a tool, or a family of tools, on or off; `None` gives it its default back.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_tool_toggle(
        &self,
        project: &ProjectId,
        name: &str,
        state: Option<SwitchState>,
    ) -> Result<(), StoreError> {
        self.set_switch(SwitchKind::Tool, project, name, state).await
    }

    /// Switches a feature on or off; `None` gives it its default back.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_feature_switch(
        &self,
        project: &ProjectId,
        name: &str,
        state: Option<SwitchState>,
    ) -> Result<(), StoreError> {
        self.set_switch(SwitchKind::Feature, project, name, state).await
    }

    async fn set_switch(
        &self,
        kind: SwitchKind,
        project: &ProjectId,
        name: &str,
        state: Option<SwitchState>,
    ) -> Result<(), StoreError> {
        self.set(Setting::Switch { project: project.clone(), kind, name: name.to_owned(), state }).await?;
        Ok(())
    }

    /// Takes back a standing answer. Says whether there was one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget_answer(&self, project: &ProjectId, id: &AnswerId) -> Result<bool, StoreError> {
        let forgotten = Setting::ForgetAnswer { project: project.clone(), id: id.clone() };
        Ok(self.set(forgotten).await? > 0)
    }

    /// Writes a setting; gives the number of rows it changed.
    pub(crate) async fn set(&self, setting: Setting) -> Result<u64, StoreError> {
        match self.submit(Work::Set(setting)).await? {
            Outcome::Changed(rows) => Ok(rows),
            _ => Ok(0),
        }
    }

    /// Where the database is, how large, and of which versions.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn status(&self) -> Result<StoreStatus, StoreError> {
        let reader = self.reader();
        let row = reader.row(statements::STATUS.query()).await?.ok_or(StoreError::Closed)?;
        let read = || -> Result<_, sqlx::Error> {
            Ok(StoreStatus {
                path: self.shared.path.clone(),
                sqlite: row.try_get(0)?,
                schema: row.try_get(1)?,
                bytes: size(&row, 2)?,
            })
        };
        read().map_err(|error| reader.failed(error))
    }

    /// Queues work for the writer at once; the future brings the answer.
    pub(crate) fn submit(&self, work: Work) -> impl Future<Output = Result<Outcome, Refusal>> + Send + use<> {
        self.shared.queue.submit(work)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Who this process says it is.
    pub(crate) fn presence(&self) -> &Presence {
        &self.shared.presence
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.shared.reader
    }

    pub(crate) fn known_keys(&self) -> &KnownKeys {
        &self.shared.known_keys
    }

    pub(crate) fn standing_reader(&self) -> &StandingReader {
        &self.shared.standing
    }
}

/// Migrates what is older, and buries the dead.
async fn prepare(
    connection: &mut SqliteConnection,
    path: &Path,
    instance: &Instance,
) -> Result<(), StoreError> {
    let mut seen = look_around(connection, path, instance.now()).await?;
    if seen.is_none() {
        migrate(connection, path, MIGRATIONS).await?;
        seen = look_around(connection, path, instance.now()).await?;
    }
    let Err(error) = instance.tidy_up(connection, &seen.unwrap_or_default()).await else { return Ok(()) };
    // Whoever holds the lock just now does not keep us from reading; the next start looks again.
    match StoreError::at(path, error) {
        StoreError::Locked(_) => {
            tracing::debug!("the dead are buried later: the database is locked");
            Ok(())
        }
        error => Err(error),
    }
}
