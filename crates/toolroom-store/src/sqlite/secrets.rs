//! Sealed secrets, and the change of the key that seals. This crate cannot open sealed values.

use std::sync::{Arc, Mutex, PoisonError};

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::clock::Timestamp;
use toolroom::ledger::CallId;
use toolroom::scope::ProjectId;

use crate::sqlite::row::timestamp;
use crate::sqlite::settings::{Changed, Setting};
use crate::{ResealedValue, SealedLocation, SealedSecret, SealedValue, Store, StoreError, statements};

/// Every sealed value begins with the name of its key: a version byte and four bytes. `key_of!` compares as many.
const KEY_NAME_BYTES: usize = 5;

/// The name of the key a value is sealed under, in the form the statements use.
pub(crate) fn key_name(sealed: &[u8]) -> String {
    hex::encode(sealed.get(..KEY_NAME_BYTES).unwrap_or(sealed))
}

/// Names of keys at the time a unit is queued.
pub(crate) type KeyNames = Arc<[String]>;

/// The sealing keys of this process, as last set by [`Store::set_sealing_keys`].
#[derive(Debug, Default)]
pub(crate) struct SealingKeys(Mutex<KeyNames>);

impl SealingKeys {
    /// The keys of this process. If none were set, the key of `sealed`.
    pub(crate) fn or_key_of(&self, sealed: Option<&[u8]>) -> KeyNames {
        let Some(sealed) = sealed else { return KeyNames::default() };
        let keys = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if keys.is_empty() { Arc::new([key_name(sealed)]) } else { keys }
    }
}

impl Store {
    /// Sets the keys of this process, each given by the prefix of the values sealed under it. A call is parked only if its
    /// request is sealed under one of them and, if the database holds sealed values, they open some of these. Otherwise
    /// the key was changed, and no other process could open the request.
    pub fn set_sealing_keys<'k>(&self, prefixes: impl IntoIterator<Item = &'k [u8]>) {
        let names = prefixes.into_iter().map(key_name).collect();
        *self.sealing_keys().0.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }

    /// Creates or replaces a secret. All secrets of a database are sealed under one key.
    ///
    /// # Errors
    /// [`StoreError::OtherKey`] if the others are sealed under another key, or when the database fails.
    pub async fn set_secret(
        &self,
        project: &ProjectId,
        name: &str,
        sealed: Vec<u8>,
    ) -> Result<(), StoreError> {
        let secret =
            Setting::Secret { project: project.clone(), name: name.to_owned(), sealed: Some(sealed) };
        self.set(secret).await?;
        Ok(())
    }

    /// Deletes a secret. Returns whether it existed.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_secret(&self, project: &ProjectId, name: &str) -> Result<bool, StoreError> {
        let removed = Setting::Secret { project: project.clone(), name: name.to_owned(), sealed: None };
        Ok(self.set(removed).await? > 0)
    }

    /// The secrets of a project, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn secrets(&self, project: &ProjectId) -> Result<Vec<SealedSecret>, StoreError> {
        let rows = self.reader().rows(statements::SECRETS.query().bind(project.as_str().to_owned())).await?;
        rows.iter().map(|row| read_secret(row).map_err(|error| self.reader().failed(error))).collect()
    }

    /// All sealed values in the database: secrets and parked requests of all projects.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sealed_values(&self) -> Result<Vec<SealedValue>, StoreError> {
        let rows = self.reader().rows(statements::ALL_SEALED.query()).await?;
        rows.iter().map(|row| read_sealed(row).map_err(|error| self.reader().failed(error))).collect()
    }

    /// Changes the key: replaces the values that [`Store::sealed_values`] returned. Afterwards, either everything in the
    /// database is sealed under the new key, or nothing has changed.
    ///
    /// # Errors
    /// [`StoreError::SealedMeanwhile`] if a value was sealed under another key in between, or when the database fails.
    pub async fn reseal(&self, values: Vec<ResealedValue>) -> Result<(), StoreError> {
        self.set(Setting::Reseal(values)).await?;
        Ok(())
    }
}

/// Writes one secret inside the open transaction.
pub(crate) async fn write_secret(
    connection: &mut SqliteConnection,
    project: &ProjectId,
    name: &str,
    sealed: &[u8],
    now: Timestamp,
) -> Result<Changed, sqlx::Error> {
    let query = statements::SET_SECRET
        .query()
        .bind(project.as_str().to_owned())
        .bind(name.to_owned())
        .bind(sealed.to_vec())
        .bind(now.as_micros());
    // The statement itself compares the keys of the other secrets.
    let changed = query.execute(connection).await?.rows_affected();
    Ok(if changed > 0 { Ok(changed) } else { Err(StoreError::OtherKey) })
}

/// Changes the key inside the open transaction, all or nothing.
pub(crate) async fn reseal(
    connection: &mut SqliteConnection,
    values: &[ResealedValue],
) -> Result<Changed, sqlx::Error> {
    statements::SAVEPOINT_RESEAL.query().execute(&mut *connection).await?;
    let mut changed = 0;
    for value in values {
        let query = match &value.location {
            SealedLocation::Secret { project, name } => {
                statements::RESEAL_SECRET.query().bind(project.as_str().to_owned()).bind(name.clone())
            }
            SealedLocation::Approval { call } => {
                statements::RESEAL_APPROVAL.query().bind(call.as_str().to_owned())
            }
        };
        let query = query.bind(value.old.clone()).bind(value.new.clone());
        changed += query.execute(&mut *connection).await?.rows_affected();
    }
    // Without values there is no new key: then any sealed value was added meanwhile.
    let key: Vec<u8> =
        values.first().into_iter().flat_map(|value| &value.new).take(KEY_NAME_BYTES).copied().collect();
    let others = statements::OTHER_KEYS.query().bind(key).fetch_one(&mut *connection).await?;
    let is_complete = others.try_get::<i64, _>("total")? == 0;
    let end = if is_complete { statements::RELEASE_RESEAL } else { statements::UNDO_RESEAL };
    end.query().execute(connection).await?;
    Ok(if is_complete { Ok(changed) } else { Err(StoreError::SealedMeanwhile) })
}

fn read_secret(row: &SqliteRow) -> Result<SealedSecret, sqlx::Error> {
    Ok(SealedSecret {
        name: row.try_get("name")?,
        sealed: row.try_get("sealed")?,
        created_at: timestamp(row, "created_at")?,
        changed_at: timestamp(row, "changed_at")?,
    })
}

fn read_sealed(row: &SqliteRow) -> Result<SealedValue, sqlx::Error> {
    let location = match row.try_get::<Option<&str>, _>("call_id")? {
        Some(call) => SealedLocation::Approval { call: CallId::new(call) },
        None => SealedLocation::Secret {
            project: ProjectId::new(row.try_get("project")?),
            name: row.try_get("name")?,
        },
    };
    Ok(SealedValue { location, bytes: row.try_get("sealed")? })
}
