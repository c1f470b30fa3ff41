//! How a connection is set up.

use std::path::Path;
use std::time::Duration;

use sqlx::ConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

use crate::StoreError;

/// How long SQLite itself waits for a lock. Other processes hold it for milliseconds; the writer asks again
/// (see `writer`), so this is not the end of patience.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// How long somebody waits who only wants to know whether there is a lock to be had.
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// Pages kept per connection, in KiB (negative for SQLite). The kernel's page cache holds the rest.
const WRITER_CACHE: &str = "-2048";
const READER_CACHE: &str = "-512";

/// Pages in the write-ahead log before they move to the file: 2 MiB. Moving them happens inside a commit, so a
/// longer log means fewer but longer pauses; at this length the slowest calls of a crowd wait half as long.
const CHECKPOINT_PAGES: &str = "500";

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
pub(crate) async fn connect(path: &Path, purpose: Purpose) -> Result<SqliteConnection, StoreError> {
    let patience = match purpose {
        Purpose::Write | Purpose::Read | Purpose::Copy | Purpose::Inspect => BUSY_TIMEOUT,
        Purpose::Try => SHORT_TIMEOUT,
    };
    let options = SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(patience)
        .foreign_keys(true)
        .pragma("temp_store", "memory")
        .disable_statement_logging();
    let options = match purpose {
        Purpose::Write => options
            .create_if_missing(true)
            .pragma("cache_size", WRITER_CACHE)
            .pragma("synchronous", "NORMAL")
            .pragma("wal_autocheckpoint", CHECKPOINT_PAGES),
        Purpose::Read => options.pragma("cache_size", READER_CACHE).pragma("query_only", "ON"),
        Purpose::Try => options.pragma("cache_size", READER_CACHE),
        Purpose::Copy => options.pragma("cache_size", WRITER_CACHE).pragma("synchronous", "FULL"),
        Purpose::Inspect => options.pragma("cache_size", READER_CACHE).read_only(true).immutable(true),
    };
    options.connect().await.map_err(|error| StoreError::at(path, error))
}
