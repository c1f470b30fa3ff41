//! What goes wrong with a database, and what to do about it.

use std::path::PathBuf;
use std::sync::Arc;

use toolroom::conversation::RunId;
use toolroom::ledger::{CallId, CallStatus};

/// Why the store refused or failed. For the operator, never for a model.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be opened or made.
    #[error(
        "the database `{}` cannot be opened; its folder has to exist, and both have to be writable",
        path.display()
    )]
    CannotOpen {
        /// The file.
        path: PathBuf,
        /// What the database said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The file is something else.
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
    /// The file was last written by an older version, and only looked at: opening it would migrate it.
    #[error(
        "the database `{}` has schema {found}, this Toolroom has {known}; the next command brings it there",
        path.display()
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// Its schema; 0 if there is nothing in it yet.
        found: i64,
        /// The schema it will get.
        known: i64,
    },
    /// The file system cannot do what several processes on one file need.
    #[error("`{}` lies on a file system without shared memory; put the database on a local disk", path.display())]
    NoWal {
        /// The file.
        path: PathBuf,
    },
    /// Somebody else holds the lock for longer than we wait.
    #[error("the database is locked by another process; end that process, then try again")]
    Locked(#[source] Arc<sqlx::Error>),
    /// The file or its folder does not allow writing.
    #[error("the database is read-only; allow writing to the file and its folder")]
    ReadOnly(#[source] Arc<sqlx::Error>),
    /// No room left.
    #[error(
        "the disk of the database `{}` is full; delete other files there, then try again (`toolroom log prune` deletes \
         old calls, and needs some room itself)",
        path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// What the database said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// Something could not be read from the disk, or not be written to it.
    #[error(
        "the disk does not read or write the database `{}`; look whether it is full, over a quota or broken (`df -h`, \
         `dmesg`), then try again",
        path.display()
    )]
    Disk {
        /// The file.
        path: PathBuf,
        /// What the database said.
        #[source]
        source: Arc<sqlx::Error>,
    },
    /// The file is broken.
    #[error("the database is damaged; restore a copy, then try again")]
    Damaged(#[source] Arc<sqlx::Error>),
    /// What was to take its place was made for another one.
    #[error(
        "the server `{name}` was changed by somebody else meanwhile, and nothing was set; look at it with `toolroom mcp \
         show {name}`, then do it again"
    )]
    ServerChanged {
        /// The server.
        name: String,
    },
    /// There is something in the file a copy should become.
    #[error("`{}` exists already; name another file", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A copy can be read, but not all of it is right.
    #[error("`{}` is damaged: {problem}; use another copy", path.display())]
    FailsCheck {
        /// The file.
        path: PathBuf,
        /// The first thing that is wrong.
        problem: String,
    },
    /// What else is sealed is sealed under another key, so one key alone could no longer open everything.
    #[error("everything else is sealed under another key; use that key, or change the key of everything")]
    OtherKey,
    /// While values were sealed anew, somebody sealed one under the key before.
    #[error("something was sealed under the key before; read what is sealed again, then try again")]
    SealedMeanwhile,
    /// The call is there already, and not in a state that allows the change.
    #[error("call `{0}` has already been recorded with a status that cannot change so")]
    AlreadyRecorded(CallId),
    /// A run calls each of its model's calls once.
    #[error(
        "`{model_call}` of run `{run}` was called before, as another call than `{call}`; nothing is called twice"
    )]
    CalledBefore {
        /// The call that was refused.
        call: CallId,
        /// The run.
        run: String,
        /// Which of the model's calls.
        model_call: String,
    },
    /// The caller gave a run that could not be read again.
    #[error("run `{run}` cannot be written: {problem}")]
    WrongRun {
        /// The run.
        run: RunId,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Something has no form as JSON.
    #[error("a record cannot be written as JSON")]
    Unwritable(#[source] Arc<serde_json::Error>),
    /// The caller gave a row that does not belong to the state change.
    #[error("a call with status `{status}` cannot be written by `{change}`")]
    WrongStatus {
        /// The method.
        change: &'static str,
        /// The status that was given.
        status: CallStatus,
    },
    /// A row holds something this version cannot read.
    #[error("column `{column}` of `{id}` holds `{value}`, which this Toolroom does not know")]
    Unreadable {
        /// Which row.
        id: String,
        /// Which column.
        column: &'static str,
        /// What it holds.
        value: String,
    },
    /// [`crate::Store::shutdown`] was called before.
    #[error("the store is closed")]
    Closed,
    /// Anything else the database says.
    #[error("the database refused a statement")]
    Database(#[source] Arc<sqlx::Error>),
}
