//! Rows that a process promised and could not write any more are written by the next one.

use sqlx::{Connection as _, SqliteConnection};

use crate::connect::{Purpose, connect};
use crate::row::row_of;
use crate::{Store, StoreError, statements};

impl Store {
    /// Writes what is in the inbox of a process that is gone. Rows that it has written itself stay as they are, and a line
    /// that broke off is no row.
    ///
    /// # Errors
    /// When the database fails, or another version has written the lines. Then they should be kept for the next time.
    pub async fn adopt(&self, lines: &[u8]) -> Result<(), StoreError> {
        self.reader().ensure_open().await?;
        let rows = rows(lines)?;
        if rows.is_empty() {
            return Ok(());
        }
        // A connection of its own: it happens rarely, and the writer need not know of it.
        let mut connection = connect(self.path(), Purpose::Write).await?;
        let adopted = match self.write_adopted(&mut connection, &rows).await {
            Err(error) if error.is_about_the_row() => self.one_by_one(&mut connection, &rows).await,
            adopted => adopted,
        };
        let closed = connection.close().await;
        adopted.and(closed.map_err(|error| StoreError::at(self.path(), error)))
    }

    async fn write_adopted(
        &self,
        connection: &mut SqliteConnection,
        rows: &[&str],
    ) -> Result<(), StoreError> {
        let query = statements::ADOPT_CALLS.query().bind(format!("[{}]", rows.join(",")));
        query.execute(connection).await.map(drop).map_err(|error| StoreError::at(self.path(), error))
    }

    /// A row that is not taken takes no other one with it.
    async fn one_by_one(&self, connection: &mut SqliteConnection, rows: &[&str]) -> Result<(), StoreError> {
        for row in rows {
            match self.write_adopted(connection, &[*row]).await {
                Err(error) if error.is_about_the_row() => {
                    tracing::error!(%error, "a row that was promised can never be written");
                }
                adopted => adopted?,
            }
        }
        Ok(())
    }
}

/// The rows of these lines.
fn rows(lines: &[u8]) -> Result<Vec<&str>, StoreError> {
    let mut rows = Vec::new();
    // What follows the last end of a line is no line.
    let whole = lines.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
    for line in whole.filter_map(|line| std::str::from_utf8(line).ok()).map(str::trim_end) {
        rows.extend(row_of(line)?);
    }
    Ok(rows)
}
