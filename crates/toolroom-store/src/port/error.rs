//! Errors of a store, each with what to do about it.

use std::path::PathBuf;
use std::sync::Arc;

use toolroom::conversation::RunId;
use toolroom::ledger::{CallId, CallStatus};

/// Why the store rejected a request or failed. For the operator, never for a model.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened or created.
    #[error(
        "the database `{}` cannot be opened; its folder has to exist, and both have to be writable",
        path.display()
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The file is not a Toolroom database.
    #[error("`{}` is not a Toolroom database; move it away or name another file", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The file was last written by a newer version.
    #[error(
        "the database `{}` has schema {found}, this Toolroom knows up to {known}; use the newer Toolroom, \
         or go back to the copy it made before with `toolroom migrate --back`",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema known here.
        known: i64,
    },
    /// The file was last written by an older version, and opened read-only, which migrates nothing.
    #[error(
        "the database `{}` has schema {found}, this Toolroom has {known}; the next command migrates it",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema; 0 if it is empty.
        found: i64,
        /// The schema of this version.
        known: i64,
    },
    /// The file system has no shared memory, which several processes on one file need.
    #[error("`{}` is on a file system without shared memory; put the database on a local disk", path.display())]
    NoWal {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the lock for too long.
    #[error("the database is locked by another process; end that process, then try again")]
    Locked(#[source] Arc<sqlx::Error>),
    /// The file or its folder does not allow writing.
    #[error("the database is read-only; allow writing to the file and its folder")]
    ReadOnly(#[source] Arc<sqlx::Error>),
    /// The disk is full.
    #[error(
        "the disk of the database `{}` is full; delete other files there, then try again (`toolroom log prune` deletes \
         old calls, and needs some space itself)",
        path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// Reading or writing failed.
    #[error(
        "cannot read or write the database `{}`; check whether the disk is full, over a quota or broken (`df -h`, \
         `dmesg`), then try again",
        path.display()
    )]
    Disk {
        /// The file.
        path: PathBuf,
        /// The error of the database.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The file is damaged.
    #[error("the database is damaged; restore a copy, then try again")]
    Damaged(#[source] Arc<sqlx::Error>),
    /// The server was changed after the entry was decided.
    #[error(
        "the server `{name}` was changed meanwhile, and nothing was set; look at it with `toolroom mcp show {name}`, then \
         try again"
    )]
    ServerChanged {
        /// The server.
        name: String,
    },
    /// The target of a copy has content.
    #[error("`{}` already exists; name another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A copy can be read, but is damaged.
    #[error("`{}` is damaged: {problem}; use another copy", path.display())]
    FailsCheck {
        /// The file.
        path: PathBuf,
        /// The first problem.
        problem: String,
    },
    /// The other values are sealed under another key: one key could no longer open everything.
    #[error("the other values are sealed under another key; use that key, or change the key of all values")]
    OtherKey,
    /// While values were resealed, another one was sealed under the previous key.
    #[error("a value was sealed under the previous key meanwhile; read the sealed values again, then retry")]
    SealedMeanwhile,
    /// The call exists, with a status that does not allow the change.
    #[error("call `{0}` has already been recorded with a status that cannot change so")]
    AlreadyRecorded(CallId),
    /// A run makes each call of its model once.
    #[error(
        "`{model_call}` of run `{run}` was already made, as another call than `{call}`; a call is not made twice"
    )]
    CalledBefore {
        /// The rejected call.
        call: CallId,
        /// The run.
        run: String,
        /// The model's id of the call.
        model_call: String,
    },
    /// The run could not be read again.
    #[error("run `{run}` cannot be written: {problem}")]
    WrongRun {
        /// The run.
        run: RunId,
        /// Why.
        problem: &'static str,
    },
    /// A record that JSON cannot represent.
    #[error("a record cannot be written as JSON")]
    Unwritable(#[source] Arc<serde_json::Error>),
    /// The status of the row does not belong to the method.
    #[error("a call with status `{status}` cannot be written by `{change}`")]
    WrongStatus {
        /// The method.
        change: &'static str,
        /// The status of the row.
        status: CallStatus,
    },
    /// A row holds a value that this version does not know.
    #[error("column `{column}` of `{id}` holds `{value}`, which this Toolroom does not know")]
    Unreadable {
        /// The id of the row.
        id: String,
        /// The column.
        column: &'static str,
        /// The value.
        value: String,
    },
    /// [`crate::Store::shutdown`] was called before.
    #[error("the store is closed")]
    Closed,
    /// Any other error of the database.
    #[error("the database rejected a statement")]
    Database(#[source] Arc<sqlx::Error>),
}
