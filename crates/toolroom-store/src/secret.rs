//! Sealed secrets, and the change of the key that seals. Nothing here can open what is sealed.

use sqlx::Row;
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use toolroom::clock::Timestamp;
use toolroom::ledger::CallId;
use toolroom::scope::ProjectId;

use crate::known_keys::KEY_BYTES;
use crate::setting::{Changed, Setting};
use crate::{Store, StoreError, statements};

/// A secret as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// Its name in the project.
    pub name: String,
    /// The value, sealed.
    pub sealed: Vec<u8>,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When it was last set.
    pub changed_at: Timestamp,
}

/// Where something sealed is kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SealedPlace {
    /// A secret.
    Secret {
        /// Whose.
        project: ProjectId,
        /// Its name.
        name: String,
    },
    /// The request of a parked call.
    Approval {
        /// The call.
        call: CallId,
    },
}

/// Something sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// Where it is kept.
    pub place: SealedPlace,
    /// The sealed bytes.
    pub bytes: Vec<u8>,
}

/// Something sealed anew, under another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resealed {
    /// Where it is kept.
    pub place: SealedPlace,
    /// What was read there.
    pub old: Vec<u8>,
    /// The same under the new key.
    pub new: Vec<u8>,
}

impl Store {
    /// Keeps a secret, in the place of an earlier one of that name. All secrets of a database are sealed under one
    /// key.
    ///
    /// # Errors
    /// [`StoreError::OtherKey`] if the others are sealed under another key, or when the database fails.
    pub async fn set_secret(
        &self,
        project: &ProjectId,
        name: &str,
        sealed: Vec<u8>,
    ) -> Result<(), StoreError> {
        let kept = Setting::Secret { project: project.clone(), name: name.to_owned(), sealed: Some(sealed) };
        self.set(kept).await?;
        Ok(())
    }

    /// Forgets a secret. Says whether there was one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn remove_secret(&self, project: &ProjectId, name: &str) -> Result<bool, StoreError> {
        let gone = Setting::Secret { project: project.clone(), name: name.to_owned(), sealed: None };
        Ok(self.set(gone).await? > 0)
    }

    /// The secrets of a project, by name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn secrets(&self, project: &ProjectId) -> Result<Vec<SealedSecret>, StoreError> {
        let rows = self.reader().rows(statements::SECRETS.query().bind(project.as_str().to_owned())).await?;
        rows.iter().map(|row| read_secret(row).map_err(|error| self.reader().failed(error))).collect()
    }

    /// Everything in the database that is sealed, secrets and parked requests of all projects.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn all_sealed(&self) -> Result<Vec<Sealed>, StoreError> {
        let rows = self.reader().rows(statements::ALL_SEALED.query()).await?;
        rows.iter().map(|row| read_sealed(row).map_err(|error| self.reader().failed(error))).collect()
    }

    /// Changes the key: puts what was sealed anew in the place of what was read with [`Store::all_sealed`]. Either
    /// everything in the database is sealed under the new key afterwards, or nothing has changed.
    ///
    /// # Errors
    /// [`StoreError::SealedMeanwhile`] if something would be left under another key, because somebody sealed it
    /// after it was read; or when the database fails.
    pub async fn reseal(&self, values: Vec<Resealed>) -> Result<(), StoreError> {
        self.set(Setting::Reseal(values)).await?;
        Ok(())
    }
}

/// Writes one secret inside the open transaction.
pub(crate) async fn keep(
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
    // The statement itself looks at the others, so that nobody can come in between.
    let changed = query.execute(connection).await?.rows_affected();
    Ok(if changed > 0 { Ok(changed) } else { Err(StoreError::OtherKey) })
}

/// Changes the key inside the open transaction, all or nothing.
pub(crate) async fn reseal(
    connection: &mut SqliteConnection,
    values: &[Resealed],
) -> Result<Changed, sqlx::Error> {
    statements::SAVEPOINT_RESEAL.query().execute(&mut *connection).await?;
    let mut changed = 0;
    for value in values {
        let query = match &value.place {
            SealedPlace::Secret { project, name } => {
                statements::RESEAL_SECRET.query().bind(project.as_str().to_owned()).bind(name.clone())
            }
            SealedPlace::Approval { call } => {
                statements::RESEAL_APPROVAL.query().bind(call.as_str().to_owned())
            }
        };
        let query = query.bind(value.old.clone()).bind(value.new.clone());
        changed += query.execute(&mut *connection).await?.rows_affected();
    }
    // Who found nothing to seal anew has no key: then whatever is there now came meanwhile.
    let key: Vec<u8> =
        values.first().into_iter().flat_map(|value| &value.new).take(KEY_BYTES).copied().collect();
    let others = statements::OTHER_KEYS.query().bind(key).fetch_one(&mut *connection).await?;
    let whole = others.try_get::<i64, _>(0)? == 0;
    let end = if whole { statements::RELEASE_RESEAL } else { statements::UNDO_RESEAL };
    end.query().execute(connection).await?;
    Ok(if whole { Ok(changed) } else { Err(StoreError::SealedMeanwhile) })
}

fn read_secret(row: &SqliteRow) -> Result<SealedSecret, sqlx::Error> {
    Ok(SealedSecret {
        name: row.try_get(0)?,
        sealed: row.try_get(1)?,
        created_at: Timestamp::from_micros(row.try_get(2)?),
        changed_at: Timestamp::from_micros(row.try_get(3)?),
    })
}

fn read_sealed(row: &SqliteRow) -> Result<Sealed, sqlx::Error> {
    let place = match row.try_get::<Option<&str>, _>(2)? {
        Some(call) => SealedPlace::Approval { call: CallId::new(call) },
        None => SealedPlace::Secret { project: ProjectId::new(row.try_get(0)?), name: row.try_get(1)? },
    };
    Ok(Sealed { place, bytes: row.try_get(3)? })
}
