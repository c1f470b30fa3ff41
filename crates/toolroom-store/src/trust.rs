//! Project files whose content somebody has looked at and said yes to. Another content is another file.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;

use crate::setting::Setting;
use crate::{Store, StoreError, statements};

/// A file that is trusted as long as it has this content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedFile {
    /// Where it is.
    pub path: String,
    /// Hash of the content somebody said yes to.
    pub sha256: String,
    /// When.
    pub trusted_at: Timestamp,
}

impl Store {
    /// Trusts a file with this content, and no longer with an earlier one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn trust(&self, path: &str, sha256: &str) -> Result<(), StoreError> {
        let trusted = Setting::Trust { path: path.to_owned(), sha256: Some(sha256.to_owned()) };
        self.set(trusted).await?;
        Ok(())
    }

    /// Trusts a file no longer. Says whether it was trusted.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn distrust(&self, path: &str) -> Result<bool, StoreError> {
        Ok(self.set(Setting::Trust { path: path.to_owned(), sha256: None }).await? > 0)
    }

    /// Every trusted file, by path.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn trusted(&self) -> Result<Vec<TrustedFile>, StoreError> {
        let rows = self.reader().rows(statements::TRUSTED_FILES.query()).await?;
        rows.iter().map(|row| read(row).map_err(|error| self.reader().failed(error))).collect()
    }

    /// Hash of the content a file is trusted with, if it is trusted.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn trusted_hash(&self, path: &str) -> Result<Option<String>, StoreError> {
        let row = self.reader().row(statements::TRUSTED_HASH.query().bind(path.to_owned())).await?;
        row.map(|row| row.try_get(0)).transpose().map_err(|error| self.reader().failed(error))
    }
}

fn read(row: &SqliteRow) -> Result<TrustedFile, sqlx::Error> {
    Ok(TrustedFile {
        path: row.try_get(0)?,
        sha256: row.try_get(1)?,
        trusted_at: Timestamp::from_micros(row.try_get(2)?),
    })
}
