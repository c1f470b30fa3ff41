//! SQLite's result codes, and the [`StoreError`] that each becomes.

use std::path::Path;
use std::sync::Arc;

use crate::StoreError;

/// SQLite's primary result codes, <https://sqlite.org/rescode.html>.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const TOOBIG: i32 = 18;
    pub(super) const CONSTRAINT: i32 = 19;
    pub(super) const MISMATCH: i32 = 20;
    pub(super) const NOTADB: i32 = 26;
    /// Extended: no room to extend the shared-memory file.
    pub(super) const IOERR_SHMSIZE: i32 = 4874;
    /// Extended: NOT NULL constraint.
    pub(super) const CONSTRAINT_NOTNULL: i32 = 1299;
    /// Extended: UNIQUE constraint.
    pub(super) const CONSTRAINT_UNIQUE: i32 = 2067;
}

/// The extended result code, if SQLite reported the error.
fn sqlite_code(error: &sqlx::Error) -> Option<i32> {
    error.as_database_error()?.code()?.parse().ok()
}

/// Extended codes carry the primary one in their low byte.
fn primary(extended: i32) -> i32 {
    extended & 0xff
}

/// Whether SQLite found the file damaged.
pub(crate) fn is_damage(error: &sqlx::Error) -> bool {
    sqlite_code(error).map(primary) == Some(code::CORRUPT)
}

impl StoreError {
    /// The error of the database at `path`.
    pub(crate) fn at(path: &Path, error: sqlx::Error) -> Self {
        let code = sqlite_code(&error);
        let source = Arc::new(error);
        if code == Some(code::IOERR_SHMSIZE) {
            return Self::Full { path: path.to_owned(), source };
        }
        match code.map(primary) {
            Some(code::BUSY | code::LOCKED) => Self::Locked(source),
            Some(code::READONLY) => Self::ReadOnly(source),
            Some(code::CORRUPT) => Self::Damaged(source),
            Some(code::FULL) => Self::Full { path: path.to_owned(), source },
            Some(code::IOERR) => Self::Disk { path: path.to_owned(), source },
            Some(code::CANTOPEN) => Self::CannotOpen { path: path.to_owned(), source },
            Some(code::NOTADB) => Self::NotOurs { path: path.to_owned() },
            _ => Self::Database(source),
        }
    }

    /// The error of a record that cannot be encoded.
    pub(crate) fn at_encoding(error: serde_json::Error) -> Self {
        Self::Unwritable(Arc::new(error))
    }

    /// Whether one unit of a batch may have caused it, so that its units are retried one by one. Errors of the file or
    /// its lock concern all of them.
    pub(crate) fn may_be_one_unit(&self) -> bool {
        matches!(self, Self::Database(source) if source.as_database_error().is_some())
    }

    /// Whether the row itself was rejected, so that a retry would fail again.
    pub(crate) fn is_about_the_row(&self) -> bool {
        let is_row = matches!(
            self,
            Self::AlreadyRecorded(_)
                | Self::CalledBefore { .. }
                | Self::Unwritable(_)
                | Self::WrongStatus { .. }
        );
        let code = match self {
            Self::Database(source) => sqlite_code(source).map(primary),
            _ => None,
        };
        is_row || matches!(code, Some(code::TOOBIG | code::CONSTRAINT | code::MISMATCH))
    }

    /// Whether the connection cannot be used again.
    pub(crate) fn lost_connection(&self) -> bool {
        matches!(self, Self::Database(source) if source.as_database_error().is_none())
            || matches!(self, Self::Damaged(_))
    }

    /// Whether the statement failed because a final status never changes; see `statements::UPSERT_CALLS`.
    pub(crate) fn is_final_status(&self) -> bool {
        matches!(self, Self::Database(source) if sqlite_code(source) == Some(code::CONSTRAINT_NOTNULL))
    }

    /// Whether the statement failed because a run makes each call of its model once.
    pub(crate) fn is_called_before(&self) -> bool {
        matches!(self, Self::Database(source) if sqlite_code(source) == Some(code::CONSTRAINT_UNIQUE)
            && source.to_string().contains("calls.model_call"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
    use sqlx::{ConnectOptions, Executor};
    use tempfile::TempDir;

    use super::*;

    struct Database {
        folder: TempDir,
    }

    impl Database {
        async fn new() -> Self {
            let database = Self { folder: tempfile::tempdir().unwrap() };
            let mut connection = database.connect(|options| options.create_if_missing(true)).await;
            connection.execute("CREATE TABLE t (c TEXT NOT NULL UNIQUE)").await.unwrap();
            database
        }

        async fn connect(&self, set: fn(SqliteConnectOptions) -> SqliteConnectOptions) -> SqliteConnection {
            let options = SqliteConnectOptions::new().filename(self.folder.path().join("t.db"));
            set(options).busy_timeout(Duration::ZERO).connect().await.unwrap()
        }

        async fn error(&self, connection: &mut SqliteConnection, sql: &'static str) -> StoreError {
            let error = connection.execute(sql).await.expect_err("it should fail");
            StoreError::at(self.folder.path(), error)
        }
    }

    #[tokio::test]
    async fn errors_of_the_file_have_their_own_variants() {
        let database = Database::new().await;
        let mut first = database.connect(|options| options).await;
        let mut second = database.connect(|options| options).await;
        first.execute("BEGIN IMMEDIATE").await.unwrap();
        let locked = database.error(&mut second, "BEGIN IMMEDIATE").await;
        assert!(matches!(locked, StoreError::Locked(_)), "{locked:?}");
        first.execute("COMMIT").await.unwrap();

        let mut reader = database.connect(|options| options.read_only(true)).await;
        let read_only = database.error(&mut reader, "INSERT INTO t VALUES ('a')").await;
        assert!(matches!(read_only, StoreError::ReadOnly(_)), "{read_only:?}");

        first.execute("PRAGMA max_page_count = 1").await.unwrap();
        let full = database.error(&mut first, "INSERT INTO t VALUES (hex(zeroblob(100000)))").await;
        assert!(matches!(full, StoreError::Full { .. }), "{full:?}");

        for error in [locked, read_only, full] {
            assert!(!error.may_be_one_unit(), "{error:?}");
            assert!(!error.lost_connection(), "{error:?}");
        }
    }

    #[tokio::test]
    async fn errors_of_a_row_concern_one_unit() {
        let database = Database::new().await;
        let mut connection = database.connect(|options| options).await;
        let null = database.error(&mut connection, "INSERT INTO t VALUES (NULL)").await;
        assert!(null.may_be_one_unit() && null.is_final_status(), "{null:?}");
        let twice = database.error(&mut connection, "INSERT INTO t VALUES ('a'), ('a')").await;
        assert!(twice.may_be_one_unit() && !twice.is_final_status(), "{twice:?}");
    }

    #[test]
    fn a_connection_without_its_thread_is_lost() {
        let crashed = StoreError::at("t.db".as_ref(), sqlx::Error::WorkerCrashed);
        assert!(crashed.lost_connection() && !crashed.may_be_one_unit(), "{crashed:?}");
    }
}
