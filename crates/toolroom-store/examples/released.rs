//! Creates a test database for each released schema version: `released <folder of migrations> <folder of databases>`.
//!
//! Creates each missing `schema-N.db` from migrations 1 to N and the rows in `rows/1.sql` to `rows/N.sql`. Never replaces an
//! existing one, since it represents a release.

use std::error::Error;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, SqlSafeStr};

/// Small, since nearly every table holds one row.
const PAGE_BYTES: u32 = 512;

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::disallowed_methods, reason = "an example reads its arguments, and reads and writes files")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let migrations =
        arguments.next().ok_or("usage: released <folder of migrations> <folder of databases>")?;
    let databases = arguments.next().ok_or("usage: released <folder of migrations> <folder of databases>")?;
    let mut steps =
        std::fs::read_dir(migrations)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    steps.sort();
    let mut texts = Vec::new();
    for (version, step) in (1..).zip(steps) {
        texts.push(std::fs::read_to_string(step)?);
        texts.push(std::fs::read_to_string(databases.join(format!("rows/{version}.sql")))?);
        let path = databases.join(format!("schema-{version}.db"));
        if !path.exists() {
            make(&path, &texts).await?;
        }
    }
    Ok(())
}

async fn make(path: &Path, texts: &[String]) -> Result<(), sqlx::Error> {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let options = options.page_size(PAGE_BYTES).journal_mode(SqliteJournalMode::Wal).foreign_keys(true);
    let mut connection = options.connect().await?;
    for text in texts {
        connection.execute(AssertSqlSafe(text.clone()).into_sql_str()).await?;
    }
    connection.close().await
}
