//! Stores, opens and redacts secrets.

use std::future::ready;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolroom::BoxFuture;
use toolroom::clock::Timestamp;
use toolroom::redact::{RedactionError, Redactions, Redactor, Secret};
use toolroom::scope::ProjectId;
use toolroom_host::environment;
use toolroom_host::seal::{KeyHome, KeyRing, RotationProblem, SealError, key_of};
use toolroom_store::{SealedLocation, SealedSecret, StoreError};

use super::error::VaultError;
use super::keys::{Vault, lock};
use super::record::parts;
use crate::config::SecretRef;

/// Attempts to read matching keys and secrets while another process rotates the key.
const READ_ATTEMPTS: u32 = 3;

/// Attempts to seal a secret while another process rotates the key.
const SEAL_ATTEMPTS: u32 = 100;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(50);

/// A stored secret, opened if possible.
#[derive(Debug)]
pub struct OpenedSecret {
    pub name: String,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When it was last set.
    pub changed_at: Timestamp,
    pub opened: Result<Secret, VaultError>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedSecret {
    /// Whether it replaced an earlier value.
    pub replaced: bool,
    /// The path of the master key, if it was created now.
    pub new_key: Option<PathBuf>,
}

/// The purpose a secret is sealed for, so that sealed values cannot be swapped.
#[must_use]
pub fn purpose(project: &ProjectId, name: &str) -> String {
    format!("secret/{project}/{name}")
}

impl Vault {
    /// The secrets of a project. Fails if one cannot be opened, since it could not be redacted.
    pub async fn secrets(&self, project: &ProjectId) -> anyhow::Result<Vec<Secret>> {
        let mut secrets = Vec::new();
        for seen in self.list(project).await? {
            secrets.push(seen.opened?);
        }
        Ok(secrets)
    }

    /// The secrets of a project, and the secret parts of records.
    pub(crate) async fn secrets_with_parts(&self, project: &ProjectId) -> anyhow::Result<Vec<Secret>> {
        let mut kept = Vec::new();
        for secret in self.secrets(project).await? {
            kept.extend(parts(&secret));
            kept.push(secret);
        }
        Ok(kept)
    }

    /// All values to redact in a project.
    pub(crate) async fn redacted_values(&self, project: &ProjectId) -> anyhow::Result<Vec<Secret>> {
        let mut hidden = self.redacted.values.clone();
        hidden.extend(self.secrets_with_parts(project).await?);
        Ok(hidden)
    }

    /// The key at a place. The inner error says what is missing.
    pub async fn key(
        &self,
        place: &SecretRef,
        project: &ProjectId,
    ) -> anyhow::Result<Result<Secret, String>> {
        let secrets = match place {
            SecretRef::Secret(_) => self.secrets(project).await?,
            SecretRef::Variable(_) => Vec::new(),
        };
        Ok(place.key(&secrets, environment::variable))
    }

    /// The stored secrets of a project, each opened if possible.
    pub async fn list(&self, project: &ProjectId) -> Result<Vec<OpenedSecret>, VaultError> {
        let mut attempts = 1;
        loop {
            // Keys before secrets: a secret read later may only have a newer key.
            self.ring()?;
            let stored = self.store.secrets(project).await?;
            let secrets: Vec<OpenedSecret> =
                stored.into_iter().map(|stored| self.see(project, stored)).collect();
            let is_transient =
                |seen: &OpenedSecret| seen.opened.as_ref().is_err_and(VaultError::is_transient);
            if attempts == READ_ATTEMPTS || !secrets.iter().any(is_transient) {
                return Ok(secrets);
            }
            attempts += 1;
            self.reload_ring()?;
        }
    }

    fn see(&self, project: &ProjectId, stored: SealedSecret) -> OpenedSecret {
        let plain = self.open_with_loaded_keys(&purpose(project, &stored.name), &stored.sealed);
        let opened = plain.and_then(|mut plain| match String::from_utf8(std::mem::take(&mut *plain)) {
            Ok(value) => Ok(Secret::new(stored.name.clone(), value)),
            Err(error) => {
                // Moves the bytes back into the buffer that is wiped.
                *plain = error.into_bytes();
                Err(VaultError::NotText { name: stored.name.clone() })
            }
        });
        OpenedSecret {
            name: stored.name,
            created_at: stored.created_at,
            changed_at: stored.changed_at,
            opened,
        }
    }

    /// Stores a secret, replacing an earlier one of that name. The first one creates the master key. Finishes an
    /// interrupted rotation first.
    pub async fn set_secret(
        &self,
        project: &ProjectId,
        name: &str,
        value: &str,
    ) -> Result<SavedSecret, VaultError> {
        self.finish_interrupted_rotation().await?;
        let replaced = self.store.secrets(project).await?.iter().any(|stored| stored.name == name);
        let mut new_key = None;
        for _ in 0..SEAL_ATTEMPTS {
            let ring = match self.reload_ring()? {
                Some(ring) => ring,
                None if !self.store.sealed_values().await?.is_empty() => return Err(self.no_key()),
                None => {
                    let ring = self.new_ring()?;
                    new_key = match ring.home() {
                        KeyHome::File(path) => Some(path.clone()),
                        KeyHome::Environment => None,
                    };
                    ring
                }
            };
            let sealed = ring.seal(&purpose(project, name), value.as_bytes())?;
            let key = ring.sealing_key();
            match self.store.set_secret(project, name, sealed).await {
                // If the key was rotated in between, the value could never be opened.
                Ok(()) => match self.reload_ring()? {
                    Some(now) if now.sealing_key() == key => return Ok(SavedSecret { replaced, new_key }),
                    Some(_) | None => {}
                },
                Err(StoreError::OtherKey) => self.agree_on_key(&ring).await?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(SealError::from(RotationProblem::Underway).into())
    }

    /// Stored values have another key than ours: the key was rotated, a rotation is in progress or was interrupted, or ours
    /// is the wrong one.
    async fn agree_on_key(&self, used: &KeyRing) -> Result<(), VaultError> {
        let Some(ring) = self.reload_ring()? else { return Err(self.no_key()) };
        if ring.sealing_key() != used.sealing_key() {
            return Ok(());
        }
        if ring.rotation().is_some() {
            return match ring.home() {
                KeyHome::Environment => Err(VaultError::BetweenKeys),
                KeyHome::File(_) => {
                    tokio::time::sleep(ATTEMPT_INTERVAL).await;
                    self.finish_interrupted_rotation().await
                }
            };
        }
        let sealed = self.store.sealed_values().await?;
        match sealed.iter().find(|sealed| key_of(&sealed.bytes) != Some(ring.sealing_key())) {
            Some(other) => Ok(ring.open(&place_purpose(&other.location), &other.bytes).map(drop)?),
            // It was removed in between.
            None => Ok(()),
        }
    }

    /// Finishes an interrupted rotation, unless another process does. With the key in the environment the operator decides
    /// when.
    async fn finish_interrupted_rotation(&self) -> Result<(), VaultError> {
        let unfinished = self.reload_ring()?.filter(|ring| ring.rotation().is_some());
        if !unfinished.is_some_and(|ring| matches!(ring.home(), KeyHome::File(_))) {
            return Ok(());
        }
        match self.finish_rotation().await {
            Err(VaultError::Seal(SealError::Rotation(RotationProblem::Underway))) => Ok(()),
            other => other.map(drop),
        }
    }

    async fn read(&self, project: &ProjectId) -> anyhow::Result<Redactor> {
        let secrets = self.redacted_values(project).await?;
        self.check_for_lost_key().await?;
        Ok(Redactor::new(secrets, self.redacted.patterns))
    }
}

/// The purpose of a sealed value, by its place.
pub(crate) fn place_purpose(place: &SealedLocation) -> String {
    match place {
        SealedLocation::Secret { project, name } => purpose(project, name),
        SealedLocation::Approval { call } => toolroom::approval::purpose(call),
    }
}

impl Redactions for Vault {
    fn redactor<'a>(
        &'a self,
        project: &'a ProjectId,
        revision: i64,
    ) -> BoxFuture<'a, Result<Arc<Redactor>, RedactionError>> {
        // Almost always cached.
        if let Some((known, redactor)) = lock(&self.redactors).get(project)
            && *known == revision
        {
            return Box::pin(ready(Ok(Arc::clone(redactor))));
        }
        Box::pin(async move {
            let read = self.read(project).await;
            let redactor = Arc::new(read.map_err(|error| RedactionError::new(project.clone(), error))?);
            lock(&self.redactors).insert(project.clone(), (revision, Arc::clone(&redactor)));
            Ok(redactor)
        })
    }
}
