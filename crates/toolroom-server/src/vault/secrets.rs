//! Secrets: keeping them, opening them, and hiding them.

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

/// How often key and database are read before what does not fit counts as not fitting.
const LOOKS: u32 = 3;

/// How often a secret is sealed before another process that changes the key counts as stuck, and how long to wait for
/// it each time.
const TRIES: u32 = 100;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// A stored secret, and what came of opening it.
#[derive(Debug)]
pub struct SeenSecret {
    /// Its name.
    pub name: String,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When it was last set.
    pub changed_at: Timestamp,
    /// What it hides; why it cannot be opened, otherwise.
    pub opened: Result<Secret, VaultError>,
}

/// What came of keeping a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// There was one of that name, which is gone.
    pub replaced: bool,
    /// The master key did not exist before: where it is now.
    pub new_key: Option<PathBuf>,
}

/// What a secret is sealed for: nobody can pass one off as another.
#[must_use]
pub fn purpose(project: &ProjectId, name: &str) -> String {
    format!("secret/{project}/{name}")
}

impl Vault {
    /// The stored secrets of a project, opened. One that cannot be opened is an error: nobody could hide it.
    pub async fn secrets(&self, project: &ProjectId) -> anyhow::Result<Vec<Secret>> {
        let mut secrets = Vec::new();
        for seen in self.seen(project).await? {
            secrets.push(seen.opened?);
        }
        Ok(secrets)
    }

    /// The secrets of a project, and what is secret in those that are records.
    pub(crate) async fn kept(&self, project: &ProjectId) -> anyhow::Result<Vec<Secret>> {
        let mut kept = Vec::new();
        for secret in self.secrets(project).await? {
            kept.extend(parts(&secret));
            kept.push(secret);
        }
        Ok(kept)
    }

    /// All that is hidden in a project: its secrets, and what is hidden beside them.
    pub(crate) async fn hidden(&self, project: &ProjectId) -> anyhow::Result<Vec<Secret>> {
        let mut hidden = self.hides.values.clone();
        hidden.extend(self.kept(project).await?);
        Ok(hidden)
    }

    /// The key at a place, for a project; what is missing, if it is not there.
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

    /// The stored secrets of a project, each opened if that can be done.
    pub async fn seen(&self, project: &ProjectId) -> Result<Vec<SeenSecret>, VaultError> {
        let mut looks = 1;
        loop {
            // The keys first: what is read later is sealed with one of them, or with one that came later still.
            self.ring()?;
            let stored = self.store.secrets(project).await?;
            let seen: Vec<SeenSecret> = stored.into_iter().map(|stored| self.see(project, stored)).collect();
            let may_pass = |seen: &SeenSecret| seen.opened.as_ref().is_err_and(VaultError::may_pass);
            if looks == LOOKS || !seen.iter().any(may_pass) {
                return Ok(seen);
            }
            looks += 1;
            self.ring_again()?;
        }
    }

    fn see(&self, project: &ProjectId, stored: SealedSecret) -> SeenSecret {
        let plain = self.open_known(&purpose(project, &stored.name), &stored.sealed);
        let opened = plain.and_then(|mut plain| match String::from_utf8(std::mem::take(&mut *plain)) {
            Ok(value) => Ok(Secret::new(stored.name.clone(), value)),
            Err(error) => {
                // The error holds the bytes; they go where they came from, to be wiped.
                *plain = error.into_bytes();
                Err(VaultError::NotText { name: stored.name.clone() })
            }
        });
        SeenSecret { name: stored.name, created_at: stored.created_at, changed_at: stored.changed_at, opened }
    }

    /// Keeps a secret, in the place of an earlier one of that name. The first one makes the master key. A change of the
    /// key that was broken off is finished first.
    pub async fn set_secret(&self, project: &ProjectId, name: &str, value: &str) -> Result<Kept, VaultError> {
        self.finish_change().await?;
        let replaced = self.store.secrets(project).await?.iter().any(|stored| stored.name == name);
        let mut new_key = None;
        for _ in 0..TRIES {
            let ring = match self.ring_again()? {
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
                // If the key was changed while we sealed, nobody would ever open it again.
                Ok(()) => match self.ring_again()? {
                    Some(now) if now.sealing_key() == key => return Ok(Kept { replaced, new_key }),
                    Some(_) | None => {}
                },
                Err(StoreError::OtherKey) => self.agree_on_key(&ring).await?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(SealError::from(RotationProblem::Underway).into())
    }

    /// What is stored has another key than ours. Either the key was changed meanwhile, or is being changed, or its
    /// change was broken off and is finished now; or it is simply not the right one.
    async fn agree_on_key(&self, used: &KeyRing) -> Result<(), VaultError> {
        let Some(ring) = self.ring_again()? else { return Err(self.no_key()) };
        if ring.sealing_key() != used.sealing_key() {
            return Ok(());
        }
        if ring.rotation().is_some() {
            return match ring.home() {
                KeyHome::Environment => Err(VaultError::BetweenKeys),
                KeyHome::File(_) => {
                    tokio::time::sleep(BETWEEN_TRIES).await;
                    self.finish_change().await
                }
            };
        }
        let sealed = self.store.sealed_values().await?;
        match sealed.iter().find(|sealed| key_of(&sealed.bytes) != Some(ring.sealing_key())) {
            Some(other) => Ok(ring.open(&place_purpose(&other.location), &other.bytes).map(drop)?),
            // It has gone meanwhile.
            None => Ok(()),
        }
    }

    /// Finishes a change of the key that was broken off, unless another process is at it. With the key in the
    /// environment it is for the operator to say when.
    async fn finish_change(&self) -> Result<(), VaultError> {
        let unfinished = self.ring_again()?.filter(|ring| ring.rotation().is_some());
        if !unfinished.is_some_and(|ring| matches!(ring.home(), KeyHome::File(_))) {
            return Ok(());
        }
        match self.finish_rotation().await {
            Err(VaultError::Seal(SealError::Rotation(RotationProblem::Underway))) => Ok(()),
            other => other.map(drop),
        }
    }

    async fn read(&self, project: &ProjectId) -> anyhow::Result<Redactor> {
        let secrets = self.hidden(project).await?;
        self.look_for_key().await?;
        Ok(Redactor::new(secrets, self.hides.patterns))
    }
}

/// What something was sealed for, by where it is kept.
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
        // Nearly always it is known, and nobody has to wait.
        if let Some((known, redactor)) = lock(&self.known).get(project)
            && *known == revision
        {
            return Box::pin(ready(Ok(Arc::clone(redactor))));
        }
        Box::pin(async move {
            let read = self.read(project).await;
            let redactor = Arc::new(read.map_err(|error| RedactionError::new(project.clone(), error))?);
            lock(&self.known).insert(project.clone(), (revision, Arc::clone(&redactor)));
            Ok(redactor)
        })
    }
}
