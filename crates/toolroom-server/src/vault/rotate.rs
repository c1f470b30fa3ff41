//! Rotates the master key while other processes keep working.
//!
//! The new key is on disk before anything is sealed with it, and the old one stays until nothing is sealed with it; then it
//! is kept aside for older backups. After a crash both keys exist, which together open everything; the next rotation, or
//! the next secret that is set, finishes the rotation.

use std::path::PathBuf;
use std::time::Duration;

use toolroom_host::seal::{KeyHome, KeyId, KeyRing, RotationProblem, SealError, key_of};
use toolroom_store::{ResealedValue, SealedValue, StoreError};

use super::error::VaultError;
use super::keys::Vault;
use super::secrets::place_purpose;

/// Attempts before giving way to another process that rotates the key.
const ROTATION_ATTEMPTS: u32 = 3;

/// Attempts to reseal everything while other processes seal new values.
const RESEAL_ATTEMPTS: u32 = 100;

/// A process that loaded the old key just before the rotation may still write a value sealed with it. The old key is
/// removed once the database was free of it for this long.
const QUIET_PERIOD: Duration = Duration::from_millis(300);

/// A finished rotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRotation {
    pub from: KeyId,
    pub to: KeyId,
    /// Where the new key is.
    pub home: KeyHome,
    /// Where the old key is kept, for older backups. `None` if it comes from the environment.
    pub kept: Option<PathBuf>,
    /// Number of resealed secrets and parked calls.
    pub resealed: usize,
    /// Whether it finished an interrupted rotation.
    pub was_begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NewRotation {
    Allowed,
    Forbidden,
}

impl Vault {
    /// Seals everything with a new key, or finishes an interrupted rotation. `None` if there is no key yet.
    pub async fn rotate_key(&self) -> Result<Option<KeyRotation>, VaultError> {
        self.rotate(NewRotation::Allowed).await
    }

    /// Finishes an interrupted rotation. `None` if there is none.
    pub(super) async fn finish_rotation(&self) -> Result<Option<KeyRotation>, VaultError> {
        self.rotate(NewRotation::Forbidden).await
    }

    async fn rotate(&self, new: NewRotation) -> Result<Option<KeyRotation>, VaultError> {
        let mut attempts = 1;
        loop {
            match self.try_rotate(new).await {
                Err(error) if error.is_transient() && attempts < ROTATION_ATTEMPTS => attempts += 1,
                result => {
                    // The loaded keys are stale either way.
                    self.reload_ring()?;
                    return result;
                }
            }
        }
    }

    async fn try_rotate(&self, new: NewRotation) -> Result<Option<KeyRotation>, VaultError> {
        let sealed = self.store.sealed_values().await?;
        let Some(mut ring) = KeyRing::load(&self.folders)? else {
            return if sealed.is_empty() { Ok(None) } else { Err(self.no_key()) };
        };
        if new == NewRotation::Forbidden && ring.rotation().is_none() {
            return Ok(None);
        }
        // Checked first: a value that cannot be opened would block the rotation halfway.
        sealed.into_iter().try_for_each(|sealed| reseal(&ring, sealed).map(drop))?;
        let was_begun = ring.rotation().is_some() && matches!(ring.home(), KeyHome::File(_));
        ring.begin_rotation()?;
        let change = ring.rotation().ok_or(SealError::Rotation(RotationProblem::NotBegun))?;
        let mut resealed = self.reseal_all(&ring).await?;
        loop {
            tokio::time::sleep(QUIET_PERIOD).await;
            let sealed = self.store.sealed_values().await?;
            if sealed.iter().all(|sealed| key_of(&sealed.bytes) == Some(change.to)) {
                break;
            }
            resealed = self.reseal_all(&ring).await?;
        }
        let kept = ring.keep_former()?;
        ring.finish_rotation()?;
        let home = ring.home().clone();
        Ok(Some(KeyRotation { from: change.from, to: change.to, home, kept, resealed, was_begun }))
    }

    async fn reseal_all(&self, ring: &KeyRing) -> Result<usize, VaultError> {
        let mut round = 1;
        loop {
            let sealed = self.store.sealed_values().await?;
            let values = sealed.into_iter().map(|sealed| reseal(ring, sealed));
            let values = values.collect::<Result<Vec<ResealedValue>, VaultError>>()?;
            let count = values.len();
            match self.store.reseal(values).await {
                Err(StoreError::SealedMeanwhile) if round < RESEAL_ATTEMPTS => round += 1,
                result => return Ok(result.map(|()| count)?),
            }
        }
    }
}

/// Seals a value with the current key.
fn reseal(ring: &KeyRing, sealed: SealedValue) -> Result<ResealedValue, VaultError> {
    let purpose = place_purpose(&sealed.location);
    match ring.open(&purpose, &sealed.bytes) {
        Ok(plain) => Ok(ResealedValue {
            new: ring.seal(&purpose, &plain)?,
            location: sealed.location,
            old: sealed.bytes,
        }),
        Err(source) => Err(VaultError::Unopened { place: sealed.location, source }),
    }
}
