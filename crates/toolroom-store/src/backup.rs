//! Copies: made while the database is in use, and looked at before they are relied upon.

use std::path::Path;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};

use crate::connect::{Purpose, connect};
use crate::error::is_damage;
use crate::migrate::Schema;
use crate::row::size;
use crate::{Store, StoreError, statements};

/// The schema that brought secrets and standing answers.
const WITH_SETTINGS: i64 = 2;

/// The schema that brought conversations and memories.
const WITH_CONVERSATIONS: i64 = 3;

/// What is in a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackupFacts {
    /// The newest migration it has seen.
    pub schema: i64,
    /// Calls.
    pub calls: u64,
    /// Questions to people, answered or not.
    pub approvals: u64,
    /// Sealed secrets.
    pub secrets: u64,
    /// Standing answers.
    pub answers: u64,
    /// Whole results.
    pub artifacts: u64,
    /// Conversations.
    pub conversations: u64,
    /// What agents remember.
    pub memories: u64,
}

impl Store {
    /// Copies the database, as it is at one instant, into a file with the permissions of the database. Others go
    /// on reading and writing meanwhile. A copy that fails may leave a part of the file behind.
    ///
    /// # Errors
    /// When there is something in the file already, when it cannot be made, or when the disk is full.
    pub async fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        self.reader().ensure_open().await?;
        copy(self.path(), target).await
    }
}

/// Copies the database at `source` into the file `target`. By SQLite itself: a copy of the file alone would miss
/// what is still in the write-ahead log.
pub(crate) async fn copy(source: &Path, target: &Path) -> Result<(), StoreError> {
    let mut connection = connect(source, Purpose::Copy).await?;
    // From here on whatever is wrong with a file is wrong with the other one.
    Schema::of(&mut connection, source).await?.check(source)?;
    let copied = statements::COPY.query().bind(copy_uri(source, target)).execute(&mut connection).await;
    let copied = copied.map_err(|error| {
        let exists = error.to_string().contains("already exists");
        match StoreError::at(target, error) {
            // There is something, and it is no database.
            StoreError::NotOurs { path } => StoreError::Exists { path },
            _ if exists => StoreError::Exists { path: target.to_owned() },
            error => error,
        }
    });
    // Nothing of the database was changed through it, so nothing can be lost.
    drop(connection.close().await);
    copied.map(drop)
}

/// What names the file to SQLite. As a URI, because only a URI can ask for the permissions of another file: what
/// is private in the database must not be readable for everybody in its copy.
fn copy_uri(source: &Path, target: &Path) -> String {
    format!("file:{}?modeof={}", percent_encoded(target), percent_encoded(source))
}

fn percent_encoded(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    bytes.fold(String::new(), |encoded, byte| match byte.is_ascii_alphanumeric() {
        true => encoded + char::from(*byte).encode_utf8(&mut [0]),
        false => encoded + "%" + &hex::encode([*byte]),
    })
}

/// Looks at a copy that nobody uses: whether it is ours, not too new, and whole. Writes nothing, not even beside it.
///
/// # Errors
/// When the file cannot be opened, is no database of ours, is newer than this version, or is damaged.
pub async fn inspect(path: &Path) -> Result<BackupFacts, StoreError> {
    let mut connection = connect(path, Purpose::Inspect).await?;
    let facts = look_at(&mut connection, path).await;
    // Nothing was written through it, so nothing can be lost.
    drop(connection.close().await);
    facts
}

async fn look_at(connection: &mut SqliteConnection, path: &Path) -> Result<BackupFacts, StoreError> {
    let failed = |error| StoreError::at(path, error);
    let schema = Schema::of(connection, path).await?;
    schema.check(path)?;
    let problems = problems(connection, statements::INTEGRITY_CHECK).await.map_err(failed)?;
    if let Some(problem) = problems.into_iter().next() {
        return Err(StoreError::FailsCheck { path: path.to_owned(), problem });
    }
    let orphan = statements::FOREIGN_KEY_CHECK.query().fetch_optional(&mut *connection).await;
    if let Some(orphan) = orphan.map_err(failed)? {
        let problem = orphan_text(&orphan).map_err(failed)?;
        return Err(StoreError::FailsCheck { path: path.to_owned(), problem });
    }
    count_rows(connection, schema.version).await.map_err(failed)
}

/// What a check of SQLite complains about; nothing if all is well.
pub(crate) async fn problems(
    connection: &mut SqliteConnection,
    check: statements::Statement,
) -> Result<Vec<String>, sqlx::Error> {
    let rows = match check.query().fetch_all(connection).await {
        // Some damage keeps the check itself from going on.
        Err(error) if is_damage(&error) => return Ok(vec![error.to_string()]),
        rows => rows?,
    };
    let lines = rows.iter().map(|row| row.try_get::<String, _>(0)).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

fn orphan_text(row: &SqliteRow) -> Result<String, sqlx::Error> {
    let (table, parent): (&str, &str) = (row.try_get(0)?, row.try_get(2)?);
    Ok(format!("a row of `{table}` refers to a row of `{parent}` that is not there"))
}

async fn count_rows(connection: &mut SqliteConnection, schema: i64) -> Result<BackupFacts, sqlx::Error> {
    let rows = statements::COUNT_ROWS.query().fetch_one(&mut *connection).await?;
    let (secrets, answers) = if schema < WITH_SETTINGS {
        (0, 0)
    } else {
        let settings = statements::COUNT_SETTINGS.query().fetch_one(&mut *connection).await?;
        (size(&settings, 0)?, size(&settings, 1)?)
    };
    let (conversations, memories) = if schema < WITH_CONVERSATIONS {
        (0, 0)
    } else {
        let said = statements::COUNT_CONVERSATIONS.query().fetch_one(connection).await?;
        (size(&said, 0)?, size(&said, 1)?)
    };
    Ok(BackupFacts {
        schema,
        calls: size(&rows, 0)?,
        approvals: size(&rows, 1)?,
        artifacts: size(&rows, 2)?,
        secrets,
        answers,
        conversations,
        memories,
    })
}
