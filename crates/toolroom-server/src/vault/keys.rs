//! The vault and its master key, which is read, or made, when it is first needed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::HashMap;
use toolroom::ledger::{Seal, SealError as KernelSealError};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom::scope::ProjectId;
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KeyRing, SealError, beginning};
use toolroom_store::Store;
use zeroize::Zeroizing;

use super::error::VaultError;

/// The secrets of this installation.
pub struct Vault {
    pub(super) folders: Folders,
    pub(super) store: Store,
    /// The keys as they were read last. Good for opening; whoever seals reads them again.
    ring: Mutex<Option<Arc<KeyRing>>>,
    /// Something is sealed, and its key is gone: a new one must not be made by the way.
    key_is_lost: AtomicBool,
    pub(super) hides: Hides,
    /// What was read of a project, and at which revision.
    pub(super) known: Mutex<HashMap<ProjectId, (i64, Arc<Redactor>)>>,
}

/// What is hidden beside stored secrets.
#[derive(Debug, Clone)]
pub struct Hides {
    /// Formats of known keys.
    pub patterns: Patterns,
    /// Values from outside the store, such as variables of the environment.
    pub values: Vec<Secret>,
}

impl Vault {
    /// A vault over this store, with its key in these folders.
    #[must_use]
    pub fn new(folders: Folders, store: Store, hides: Hides) -> Self {
        Self {
            folders,
            store,
            ring: Mutex::default(),
            key_is_lost: AtomicBool::new(false),
            hides,
            known: Mutex::default(),
        }
    }

    /// The keys there are; `None` when nothing was ever sealed here, or the key is lost.
    pub fn ring(&self) -> Result<Option<Arc<KeyRing>>, SealError> {
        let known = lock(&self.ring).clone();
        if known.is_some() { Ok(known) } else { self.ring_again() }
    }

    /// The keys as they are now: another process may have changed them.
    pub(super) fn ring_again(&self) -> Result<Option<Arc<KeyRing>>, SealError> {
        let ring = KeyRing::load(&self.folders)?.map(Arc::new);
        self.learn(ring.as_deref());
        lock(&self.ring).clone_from(&ring);
        Ok(ring)
    }

    /// A first key.
    pub(super) fn new_ring(&self) -> Result<Arc<KeyRing>, SealError> {
        let made = Arc::new(KeyRing::load_or_create(&self.folders)?);
        self.learn(Some(&made));
        *lock(&self.ring) = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Tells the store which keys are known, so that nothing is parked under one that has gone meanwhile.
    fn learn(&self, ring: Option<&KeyRing>) {
        let former = ring.and_then(KeyRing::rotation).map(|change| change.from);
        let keys = ring.map(KeyRing::sealing_key).into_iter().chain(former);
        let beginnings: Vec<Vec<u8>> = keys.map(beginning).collect();
        self.store.set_sealing_keys(beginnings.iter().map(Vec::as_slice));
    }

    /// Looks whether the key is lost, so that [`Seal::seal`], which cannot ask the database, knows it.
    pub(super) async fn look_for_key(&self) -> Result<(), VaultError> {
        let lost = self.ring()?.is_none() && !self.store.sealed_values().await?.is_empty();
        self.key_is_lost.store(lost, Ordering::SeqCst);
        Ok(())
    }

    pub(super) fn no_key(&self) -> VaultError {
        VaultError::NoKey { path: self.folders.data.join(KEY_FILE).display().to_string() }
    }

    /// Opens what was sealed, with the keys that are known.
    pub(super) fn open_known(&self, purpose: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let ring = self.ring()?.ok_or_else(|| self.no_key())?;
        Ok(ring.open(purpose, sealed)?)
    }

    /// Opens what was sealed. A key that is not among those we know may have come since we looked.
    fn opened(&self, purpose: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        match self.open_known(purpose, sealed) {
            Err(error) if error.may_pass() => {
                self.ring_again()?;
                self.open_known(purpose, sealed)
            }
            other => other,
        }
    }

    fn sealed(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, VaultError> {
        let ring = match self.ring_again()? {
            Some(ring) => ring,
            None if self.key_is_lost.load(Ordering::SeqCst) => return Err(self.no_key()),
            None => self.new_ring()?,
        };
        Ok(ring.seal(purpose, plain)?)
    }
}

impl Seal for Vault {
    fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, KernelSealError> {
        self.sealed(purpose, plain).map_err(KernelSealError::new)
    }

    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, KernelSealError> {
        // Moved out, not copied: no second one stays behind.
        self.opened(purpose, sealed)
            .map(|mut plain| std::mem::take(&mut *plain))
            .map_err(KernelSealError::new)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept here is replaced as a whole, so a panic elsewhere leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
