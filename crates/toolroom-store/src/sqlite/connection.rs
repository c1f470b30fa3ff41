//! How connections are set up.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::StoreError;

/// How long SQLite itself waits for a lock. Other processes hold it for milliseconds; the writer retries after it.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The same for [`Purpose::TryLock`].
const TRY_LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// `cache_size` is in KiB (negative for SQLite) per connection; the kernel's page cache holds the rest. A checkpoint runs
/// after 500 pages (2 MiB), inside a commit: a longer log means fewer but longer pauses; at this length the slowest calls
/// under load wait half as long.
const WRITER: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -2048; PRAGMA synchronous = NORMAL; \
    PRAGMA wal_autocheckpoint = 500;";
const COPIER: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -2048; PRAGMA synchronous = FULL;";
const READER: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -512; PRAGMA query_only = ON;";
const INSPECTOR: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -512;";

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Writes; creates the file if it is missing.
    Write,
    /// Reads, and cannot write.
    Read,
    /// Copies the database into another file, with a full sync.
    Copy,
    /// Reads a file that no process uses, and creates no files next to it.
    Inspect,
    /// Takes the write lock if it is free within a second, and writes nothing.
    TryLock,
}

/// Opens the database at `path`.
///
/// If the setup fails, the connection is closed before the error is returned: closing removes the log files next to the
/// database by name, and the caller may be about to put another database there.
pub(crate) async fn connect(path: &Path, purpose: Purpose) -> Result<SqliteConnection, StoreError> {
    let busy_timeout = match purpose {
        Purpose::Write | Purpose::Read | Purpose::Copy | Purpose::Inspect => BUSY_TIMEOUT,
        Purpose::TryLock => TRY_LOCK_TIMEOUT,
    };
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(busy_timeout)
        .foreign_keys(true)
        .disable_statement_logging();
    let (options, settings) = match purpose {
        Purpose::Write => (options.create_if_missing(true), WRITER),
        Purpose::Read => (options, READER),
        Purpose::Copy => (options, COPIER),
        Purpose::Inspect => (options.read_only(true).immutable(true), INSPECTOR),
        Purpose::TryLock => (options, INSPECTOR),
    };
    let mut connection = options.connect().await.map_err(|error| StoreError::at(path, error))?;
    match connection.execute(settings).await {
        Ok(_) => Ok(connection),
        Err(error) => {
            // Nothing was written through it, so nothing can be lost.
            drop(connection.close().await);
            Err(StoreError::at(path, error))
        }
    }
}
