//! Changing the master key, while others go on.
//!
//! The new key is on disk before anything is sealed with it, and the old one stays until nothing is sealed with it any
//! more; then it is kept aside for backups that were made before. Whoever is killed in between leaves both keys, which together open everything; the next change, or the next
//! secret that is set, finishes what was begun.

use std::path::PathBuf;
use std::time::Duration;

use toolroom_host::seal::{KeyHome, KeyId, KeyRing, RotationProblem, SealError, key_of};
use toolroom_store::{ResealedValue, SealedValue, StoreError};

use super::error::VaultError;
use super::keys::Vault;
use super::secrets::place_purpose;

/// How often the whole change is begun before another process that is always faster wins.
const BEGINNINGS: u32 = 3;

/// How often everything is sealed anew, because somebody sealed something meanwhile.
const ROUNDS: u32 = 100;

/// A process that read the old key just before the new one came may be about to write what it sealed. Before the old
/// key goes, the database has to be without it for this long.
const QUIET: Duration = Duration::from_millis(300);

/// A change of the key that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    /// The key before.
    pub from: KeyId,
    /// The key now.
    pub to: KeyId,
    /// Where it is.
    pub home: KeyHome,
    /// Where the one before is kept, which alone opens older backups; nowhere, if it comes from the environment.
    pub kept: Option<PathBuf>,
    /// Secrets and parked calls that were sealed anew.
    pub resealed: usize,
    /// It was begun before, and only finished now.
    pub was_begun: bool,
}

/// Whether a new change may be begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Begin {
    IfNeeded,
    Never,
}

impl Vault {
    /// Seals everything with a new key, or finishes a change that was broken off. `None` when there is no key yet.
    pub async fn rotate_key(&self) -> Result<Option<KeyChange>, VaultError> {
        self.change_key(Begin::IfNeeded).await
    }

    /// Finishes a change that was broken off; `None` if there is none.
    pub(super) async fn finish_rotation(&self) -> Result<Option<KeyChange>, VaultError> {
        self.change_key(Begin::Never).await
    }

    async fn change_key(&self, begin: Begin) -> Result<Option<KeyChange>, VaultError> {
        let mut beginnings = 1;
        loop {
            match self.try_change_key(begin).await {
                Err(error) if error.may_pass() && beginnings < BEGINNINGS => beginnings += 1,
                result => {
                    // What we knew of the keys is old, whichever way it went.
                    self.ring_again()?;
                    return result;
                }
            }
        }
    }

    async fn try_change_key(&self, begin: Begin) -> Result<Option<KeyChange>, VaultError> {
        let sealed = self.store.sealed_values().await?;
        let Some(mut ring) = KeyRing::load(&self.folders)? else {
            return if sealed.is_empty() { Ok(None) } else { Err(self.no_key()) };
        };
        if begin == Begin::Never && ring.rotation().is_none() {
            return Ok(None);
        }
        // Before anything is changed: what cannot be opened cannot be sealed anew, and would stand in the way.
        sealed.into_iter().try_for_each(|sealed| reseal(&ring, sealed).map(drop))?;
        let was_begun = ring.rotation().is_some() && matches!(ring.home(), KeyHome::File(_));
        ring.begin_rotation()?;
        let change = ring.rotation().ok_or(SealError::Rotation(RotationProblem::NotBegun))?;
        let mut resealed = self.reseal_all(&ring).await?;
        loop {
            tokio::time::sleep(QUIET).await;
            let sealed = self.store.sealed_values().await?;
            if sealed.iter().all(|sealed| key_of(&sealed.bytes) == Some(change.to)) {
                break;
            }
            resealed = self.reseal_all(&ring).await?;
        }
        let kept = ring.keep_former()?;
        ring.finish_rotation()?;
        let home = ring.home().clone();
        Ok(Some(KeyChange { from: change.from, to: change.to, home, kept, resealed, was_begun }))
    }

    async fn reseal_all(&self, ring: &KeyRing) -> Result<usize, VaultError> {
        let mut round = 1;
        loop {
            let sealed = self.store.sealed_values().await?;
            let values = sealed.into_iter().map(|sealed| reseal(ring, sealed));
            let values = values.collect::<Result<Vec<ResealedValue>, VaultError>>()?;
            let count = values.len();
            match self.store.reseal(values).await {
                Err(StoreError::SealedMeanwhile) if round < ROUNDS => round += 1,
                result => return Ok(result.map(|()| count)?),
            }
        }
    }
}

/// The same under the key that seals now.
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
