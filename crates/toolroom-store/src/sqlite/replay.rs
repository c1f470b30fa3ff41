//! Replay of the write-ahead file of a process that is gone.

use sqlx::{Connection as _, SqliteConnection};

use crate::sqlite::call_row::parse_line;
use crate::sqlite::connection::{Purpose, connect};
use crate::{Store, StoreError, statements};

impl Store {
    /// Writes the rows in a write-ahead file. Rows that its process has written stay as they are; torn lines are skipped.
    ///
    /// # Errors
    /// When the database fails, or another version has written the lines. The file should then be kept for later.
    pub async fn replay(&self, lines: &[u8]) -> Result<(), StoreError> {
        self.reader().ensure_open().await?;
        let rows = parse_lines(lines)?;
        if rows.is_empty() {
            return Ok(());
        }
        // Rare, so it has a connection of its own and the writer is not involved.
        let mut connection = connect(self.path(), Purpose::Write).await?;
        let replayed = match self.write_rows(&mut connection, &rows).await {
            Err(error) if error.is_about_the_row() => self.write_one_by_one(&mut connection, &rows).await,
            replayed => replayed,
        };
        let closed = connection.close().await;
        replayed.and(closed.map_err(|error| StoreError::at(self.path(), error)))
    }

    async fn write_rows(&self, connection: &mut SqliteConnection, rows: &[&str]) -> Result<(), StoreError> {
        let query = statements::REPLAY_CALLS.query().bind(format!("[{}]", rows.join(",")));
        query.execute(connection).await.map(drop).map_err(|error| StoreError::at(self.path(), error))
    }

    /// A rejected row does not affect the others.
    async fn write_one_by_one(
        &self,
        connection: &mut SqliteConnection,
        rows: &[&str],
    ) -> Result<(), StoreError> {
        for row in rows {
            match self.write_rows(connection, &[*row]).await {
                Err(error) if error.is_about_the_row() => {
                    tracing::error!(%error, "the database rejected a row of a write-ahead file");
                }
                written => written?,
            }
        }
        Ok(())
    }
}

fn parse_lines(lines: &[u8]) -> Result<Vec<&str>, StoreError> {
    let mut rows = Vec::new();
    // An unfinished line at the end was not acknowledged.
    let whole = lines.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    for line in whole.filter_map(|line| std::str::from_utf8(line).ok()).map(str::trim_end) {
        rows.extend(parse_line(line)?);
    }
    Ok(rows)
}
