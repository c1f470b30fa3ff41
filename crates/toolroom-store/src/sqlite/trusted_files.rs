//! Project files whose content a user has trusted. Other content is not trusted.

use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use crate::sqlite::row::timestamp;
use crate::sqlite::settings::Setting;
use crate::{Store, StoreError, TrustedFile, statements};

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

    /// Stops trusting a file. Returns whether it was trusted.
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

    /// Hash of the trusted content of a file, if it is trusted.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn trusted_hash(&self, path: &str) -> Result<Option<String>, StoreError> {
        let row = self.reader().row(statements::TRUSTED_HASH.query().bind(path.to_owned())).await?;
        row.map(|row| row.try_get("sha256")).transpose().map_err(|error| self.reader().failed(error))
    }
}

fn read(row: &SqliteRow) -> Result<TrustedFile, sqlx::Error> {
    Ok(TrustedFile {
        path: row.try_get("path")?,
        sha256: row.try_get("sha256")?,
        trusted_at: timestamp(row, "trusted_at")?,
    })
}
