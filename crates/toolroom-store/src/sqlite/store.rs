//! [`Store`]: one writer, two readers, one file.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sqlx::{Connection, Row, SqliteConnection};
use toolroom::clock::{Clock, Timestamp};
use toolroom::ledger::{AnswerId, SwitchState};
use toolroom::scope::ProjectId;

use crate::sqlite::connection::{Purpose, connect};
use crate::sqlite::instance::{Instance, startup_state};
use crate::sqlite::migrate::{MIGRATIONS, Schema, migrate};
use crate::sqlite::reader::Reader;
use crate::sqlite::row::size;
use crate::sqlite::secrets::SealingKeys;
use crate::sqlite::settings::Setting;
use crate::sqlite::switchboard::{StandingReader, SwitchKind};
use crate::sqlite::writer::{Outcome, Queue, Refusal, Work};
use crate::{ProcessIdentity, StoreError, StoreOptions, StoreStatus, statements};

/// An open database. Clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    process: ProcessIdentity,
    clock: Arc<dyn Clock>,
    queue: Arc<Queue>,
    reader: Reader,
    standing: StandingReader,
    sealing_keys: SealingKeys,
}

impl Store {
    /// Opens the database at `path`, creates or migrates it where needed, and marks calls of dead processes as *unknown*.
    /// The folder has to exist. Needs a tokio runtime: the writer is one of its tasks.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a Toolroom database, is newer than this version, or is locked.
    pub async fn open(path: &Path, options: StoreOptions, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let instance = Instance::new(options.process.clone(), Arc::clone(&clock));
        let mut connection = connect(path, Purpose::Write).await?;
        if let Err(error) = prepare(&mut connection, path, &instance).await {
            // Closed before the error is returned, as in `connect`.
            drop(connection.close().await);
            return Err(error);
        }
        let queue = Arc::new(Queue::start(connection, path.to_owned(), instance, &options));
        let reader = Reader::behind(Arc::clone(&queue), path.to_owned());
        Ok(Self::new(path, options, clock, queue, reader))
    }

    /// Opens the database at `path` read-only: nothing is created, migrated, recovered or expired, and every write fails
    /// with [`StoreError::Closed`]. Needs a tokio runtime.
    ///
    /// # Errors
    /// When the file cannot be opened, is not a Toolroom database, or has another schema than this version.
    pub async fn open_read_only(
        path: &Path,
        options: StoreOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let mut connection = connect(path, Purpose::Read).await?;
        let schema = Schema::of_file(&mut connection, path).await;
        // Nothing was written through it, so nothing can be lost.
        drop(connection.close().await);
        schema?.check_readable(path)?;
        Ok(Self::new(path, options, clock, Arc::new(Queue::closed()), Reader::new(path.to_owned())))
    }

    fn new(
        path: &Path,
        options: StoreOptions,
        clock: Arc<dyn Clock>,
        queue: Arc<Queue>,
        reader: Reader,
    ) -> Self {
        let standing = StandingReader::start(path.to_owned(), options.change_counter);
        let (path, process) = (path.to_owned(), options.process);
        let sealing_keys = SealingKeys::default();
        Self { shared: Arc::new(Shared { path, process, clock, queue, reader, standing, sealing_keys }) }
    }

    /// Writes what is queued, removes the row of this process and closes all connections. Later calls, through any clone,
    /// fail with [`StoreError::Closed`].
    ///
    /// # Errors
    /// When the last write fails.
    pub async fn shutdown(&self) -> Result<(), StoreError> {
        let stopped = self.shared.queue.stop().await;
        self.shared.reader.close().await;
        self.shared.standing.close().await;
        stopped
    }

    /// Switches a tool, or a family of tools, on or off; `None` restores its default.
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

    /// Switches a feature on or off; `None` restores its default.
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

    /// Deletes a standing answer. Returns whether it existed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn forget_answer(&self, project: &ProjectId, id: &AnswerId) -> Result<bool, StoreError> {
        let deleted = Setting::DeleteAnswer { project: project.clone(), id: id.clone() };
        Ok(self.set(deleted).await? > 0)
    }

    /// Writes a setting. Returns the number of changed rows.
    pub(crate) async fn set(&self, setting: Setting) -> Result<u64, StoreError> {
        match self.submit(Work::Set(setting)).await? {
            Outcome::Changed(rows) => Ok(rows),
            _ => Ok(0),
        }
    }

    /// Location, size and versions of the database.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn status(&self) -> Result<StoreStatus, StoreError> {
        let reader = self.reader();
        let row = reader.row(statements::STATUS.query()).await?.ok_or(StoreError::Closed)?;
        let read = || -> Result<_, sqlx::Error> {
            Ok(StoreStatus {
                path: self.shared.path.clone(),
                sqlite: row.try_get("sqlite")?,
                schema: row.try_get("schema")?,
                bytes: size(&row, "bytes")?,
            })
        };
        read().map_err(|error| reader.failed(error))
    }

    /// Queues work for the writer when called; the future resolves to its result.
    pub(crate) fn submit(&self, work: Work) -> impl Future<Output = Result<Outcome, Refusal>> + Send + use<> {
        self.shared.queue.submit(work)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    pub(crate) fn process(&self) -> &ProcessIdentity {
        &self.shared.process
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.shared.reader
    }

    pub(crate) fn sealing_keys(&self) -> &SealingKeys {
        &self.shared.sealing_keys
    }

    pub(crate) fn standing_reader(&self) -> &StandingReader {
        &self.shared.standing
    }
}

/// Migrates an older database, and recovers what dead processes left open.
async fn prepare(
    connection: &mut SqliteConnection,
    path: &Path,
    instance: &Instance,
) -> Result<(), StoreError> {
    let mut state = startup_state(connection, path, instance.now()).await?;
    if state.is_none() {
        migrate(connection, path, MIGRATIONS).await?;
        state = startup_state(connection, path, instance.now()).await?;
    }
    let Err(error) = instance.recover(connection, &state.unwrap_or_default()).await else { return Ok(()) };
    // A locked database can still be read; the next start recovers.
    match StoreError::at(path, error) {
        StoreError::Locked(_) => {
            tracing::debug!("recovery is postponed: the database is locked");
            Ok(())
        }
        error => Err(error),
    }
}
