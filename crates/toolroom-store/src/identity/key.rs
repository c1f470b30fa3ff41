//! Keys: what a program shows to come in. Only a hash of each is kept.

use std::sync::Arc;

use foldhash::HashMap;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;

use super::IdentityChange;
use crate::reader::Reader;
use crate::row::ReadError;
use crate::setting::Setting;
use crate::{Store, StoreError, statements};

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its id, which is no secret.
    pub id: String,
    /// Whose key it is.
    pub project: ProjectId,
    /// What people call it.
    pub name: String,
    /// `prod` or `test`.
    pub environment: String,
    /// Hash of the whole key, in hexadecimal digits.
    pub sha256: String,
    /// How it begins, and its last four characters.
    pub hint: String,
    /// What it may do.
    pub permissions: Vec<String>,
    /// The web pages that may use it; none, if empty.
    pub origins: Vec<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it no longer holds.
    pub expires_at: Option<Timestamp>,
}

/// A key whose place another one takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retired {
    /// Which one.
    pub id: String,
    /// Until when both hold.
    pub until: Timestamp,
}

/// All keys by their hash.
pub(crate) type Keys = HashMap<String, Arc<KeyRecord>>;

impl Store {
    /// The key of this hash, as of now, whether it still holds or not.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn key_of_hash(&self, sha256: &str) -> Result<Option<Arc<KeyRecord>>, StoreError> {
        Ok(self.standing_reader().keys().await?.get(sha256).cloned())
    }

    /// Every key of every project.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_keys(&self) -> Result<Vec<Arc<KeyRecord>>, StoreError> {
        Ok(self.standing_reader().keys().await?.values().cloned().collect())
    }

    /// The keys of a project, the oldest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn keys(&self, project: &ProjectId) -> Result<Vec<Arc<KeyRecord>>, StoreError> {
        let keys = self.standing_reader().keys().await?;
        let mut own: Vec<_> = keys.values().filter(|key| key.project == *project).cloned().collect();
        own.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(own)
    }

    /// Keeps a new key; the one whose place it takes holds no longer than is said.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn add_key(&self, key: KeyRecord, retired: Option<Retired>) -> Result<(), StoreError> {
        self.set(Setting::Identity(IdentityChange::AddKey { key: Box::new(key), retired })).await.map(drop)
    }

    /// Lets a key hold no longer than until then. Says whether there was one that did.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn expire_key(
        &self,
        project: &ProjectId,
        id: &str,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let retired = Retired { id: id.to_owned(), until };
        let change = IdentityChange::ExpireKey { project: project.clone(), retired };
        Ok(self.set(Setting::Identity(change)).await? > 0)
    }
}

pub(crate) async fn read_keys(reader: &Reader) -> Result<Keys, StoreError> {
    let rows = reader.rows(statements::ALL_KEYS.query()).await?;
    let keys = rows.iter().map(|row| {
        let key = read(row).map_err(|error| reader.failed(error))?;
        Ok((key.sha256.clone(), Arc::new(key)))
    });
    keys.collect()
}

fn read(row: &SqliteRow) -> Result<KeyRecord, ReadError> {
    let id: String = row.try_get(0)?;
    // One that cannot be read is an error, not a key that may do nothing: somebody should hear of it.
    let texts = |column: usize, name: &'static str| -> Result<Vec<String>, ReadError> {
        serde_json::from_str(row.try_get(column)?).map_err(|error| {
            ReadError::Unknown(StoreError::Unreadable {
                id: id.clone(),
                column: name,
                value: error.to_string(),
            })
        })
    };
    Ok(KeyRecord {
        project: ProjectId::new(row.try_get(1)?),
        name: row.try_get(2)?,
        environment: row.try_get(3)?,
        sha256: row.try_get(4)?,
        hint: row.try_get(5)?,
        permissions: texts(6, "permissions")?,
        origins: texts(7, "origins")?,
        created_at: Timestamp::from_micros(row.try_get(8)?),
        expires_at: row.try_get::<Option<i64>, _>(9)?.map(Timestamp::from_micros),
        id,
    })
}
