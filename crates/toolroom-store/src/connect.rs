//! How a connection is set up.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection, Executor};

use crate::StoreError;

/// How long SQLite itself waits for a lock. Other processes hold it for milliseconds; the writer asks again
/// (see `writer`), so this is not the end of patience.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long somebody waits who only wants to know whether there is a lock to be had.
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// How connections that write are set up. `cache_size` is in KiB (negative for SQLite) per connection; the kernel's page
/// cache holds the rest. The write-ahead log moves to the file after 500 pages, 2 MiB: moving them happens inside a
/// commit, so a longer log means fewer but longer pauses; at this length the slowest calls of a crowd wait half as long.
const WRITER: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -2048; PRAGMA synchronous = NORMAL; \
    PRAGMA wal_autocheckpoint = 500;";
const COPIER: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -2048; PRAGMA synchronous = FULL;";
const READER: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -512; PRAGMA query_only = ON;";
const VISITOR: &str = "PRAGMA temp_store = memory; PRAGMA cache_size = -512;";

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The one that writes; makes the file when there is none.
    Write,
    /// Reads, and cannot write.
    Read,
    /// Reads, and writes what it has read into another file, which is there for good once that is done.
    Copy,
    /// Reads a file that nobody uses, and leaves no trace beside it.
    Inspect,
    /// Takes the write lock, if it is soon to be had, and writes nothing.
    Try,
}

/// Opens the database at `path`.
///
/// A connection that cannot be set up is closed before the error is told: closing removes the logs beside the file, by
/// name, and whoever hears of the error may be about to put another database there.
pub(crate) async fn connect(path: &Path, purpose: Purpose) -> Result<SqliteConnection, StoreError> {
    let patience = match purpose {
        Purpose::Write | Purpose::Read | Purpose::Copy | Purpose::Inspect => BUSY_TIMEOUT,
        Purpose::Try => SHORT_TIMEOUT,
    };
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(patience)
        .foreign_keys(true)
        .disable_statement_logging();
    let (options, settings) = match purpose {
        Purpose::Write => (options.create_if_missing(true), WRITER),
        Purpose::Read => (options, READER),
        Purpose::Copy => (options, COPIER),
        Purpose::Inspect => (options.read_only(true).immutable(true), VISITOR),
        Purpose::Try => (options, VISITOR),
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
