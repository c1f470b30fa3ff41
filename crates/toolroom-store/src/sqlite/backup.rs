//! Copies of a database in use, and the check of a copy.

use std::path::Path;

use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection, Row};

use crate::sqlite::connection::{Purpose, connect};
use crate::sqlite::health::read_conversation_counts;
use crate::sqlite::migrate::Schema;
use crate::sqlite::result_code::is_damage;
use crate::sqlite::row::size;
use crate::{BackupFacts, ConversationCounts, Store, StoreError, statements};

/// The schema that added secrets and standing answers.
const WITH_SETTINGS: i64 = 2;

/// The schema that added conversations and memories.
const WITH_CONVERSATIONS: i64 = 3;

impl Store {
    /// Copies a snapshot of the database into a file with the same permissions, without blocking readers and writers. A
    /// copy that fails may leave a partial file.
    ///
    /// # Errors
    /// When the file has content, when it cannot be created, or when the disk is full.
    pub async fn copy_to(&self, target: &Path) -> Result<(), StoreError> {
        self.reader().ensure_open().await?;
        copy(self.path(), target).await
    }
}

/// Copies the database at `source` into the file `target`. SQLite makes the copy: the file alone lacks what is still in the
/// write-ahead log.
pub(crate) async fn copy(source: &Path, target: &Path) -> Result<(), StoreError> {
    let mut connection = connect(source, Purpose::Copy).await?;
    // Later errors concern the target.
    Schema::of_file(&mut connection, source).await?.check(source)?;
    let copied = statements::COPY.query().bind(copy_uri(source, target)).execute(&mut connection).await;
    let copied = copied.map_err(|error| {
        let exists = error.to_string().contains("already exists");
        match StoreError::at(target, error) {
            // It exists and is not a database.
            StoreError::NotOurs { path } => StoreError::Exists { path },
            _ if exists => StoreError::Exists { path: target.to_owned() },
            error => error,
        }
    });
    // The source was not changed through it, so nothing can be lost.
    drop(connection.close().await);
    copied.map(drop)
}

/// The target as a URI, which can ask SQLite for the permissions of the source: a copy of a private database must not be
/// readable for all users.
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

/// Checks a copy that no process uses: whether it is a Toolroom database, not too new, and undamaged. Writes nothing.
///
/// # Errors
/// When the file cannot be opened, is not a Toolroom database, is newer than this version, or is damaged.
pub async fn inspect(path: &Path) -> Result<BackupFacts, StoreError> {
    let mut connection = connect(path, Purpose::Inspect).await?;
    let facts = check_copy(&mut connection, path).await;
    // Nothing was written through it, so nothing can be lost.
    drop(connection.close().await);
    facts
}

async fn check_copy(connection: &mut SqliteConnection, path: &Path) -> Result<BackupFacts, StoreError> {
    let failed = |error| StoreError::at(path, error);
    let schema = Schema::of_file(connection, path).await?;
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

/// The problems that a check of SQLite finds.
pub(crate) async fn problems(
    connection: &mut SqliteConnection,
    check: statements::Statement,
) -> Result<Vec<String>, sqlx::Error> {
    let rows = match check.query().fetch_all(connection).await {
        // Some damage ends the check itself.
        Err(error) if is_damage(&error) => return Ok(vec![error.to_string()]),
        rows => rows?,
    };
    // The one column is named after the pragma.
    let lines = rows.iter().map(|row| row.try_get::<String, _>(0)).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

fn orphan_text(row: &SqliteRow) -> Result<String, sqlx::Error> {
    let (table, parent): (&str, &str) = (row.try_get("table")?, row.try_get("parent")?);
    Ok(format!("a row of `{table}` refers to a row of `{parent}` that is not there"))
}

async fn count_rows(connection: &mut SqliteConnection, schema: i64) -> Result<BackupFacts, sqlx::Error> {
    let rows = statements::COUNT_ROWS.query().fetch_one(&mut *connection).await?;
    let (secrets, answers) = if schema < WITH_SETTINGS {
        (0, 0)
    } else {
        let settings = statements::COUNT_SETTINGS.query().fetch_one(&mut *connection).await?;
        (size(&settings, "secrets")?, size(&settings, "answers")?)
    };
    let ConversationCounts { conversations, memories } = if schema < WITH_CONVERSATIONS {
        ConversationCounts::default()
    } else {
        read_conversation_counts(&statements::COUNT_CONVERSATIONS.query().fetch_one(connection).await?)?
    };
    Ok(BackupFacts {
        schema,
        calls: size(&rows, "calls")?,
        approvals: size(&rows, "approvals")?,
        artifacts: size(&rows, "artifacts")?,
        secrets,
        answers,
        conversations,
        memories,
    })
}
