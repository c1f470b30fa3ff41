//! The vault and its master key, which is loaded or created on first use.

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
    /// The keys as last loaded. Sealing reloads them.
    ring: Mutex<Option<Arc<KeyRing>>>,
    /// Values are sealed but their key is missing, so no new key may be created.
    key_is_lost: AtomicBool,
    pub(super) redacted: RedactedValues,
    /// Redactors by project, with the revision of the settings they were made from.
    pub(super) redactors: Mutex<HashMap<ProjectId, (i64, Arc<Redactor>)>>,
}

/// What is redacted besides stored secrets.
#[derive(Debug, Clone)]
pub struct RedactedValues {
    pub patterns: Patterns,
    /// Values from outside the store, such as environment variables.
    pub values: Vec<Secret>,
}

impl Vault {
    /// A vault over this store, with its key in these folders.
    #[must_use]
    pub fn new(folders: Folders, store: Store, redacted: RedactedValues) -> Self {
        Self {
            folders,
            store,
            ring: Mutex::default(),
            key_is_lost: AtomicBool::new(false),
            redacted,
            redactors: Mutex::default(),
        }
    }

    /// The keys. `None` if nothing was sealed yet, or the key is lost.
    pub fn ring(&self) -> Result<Option<Arc<KeyRing>>, SealError> {
        let known = lock(&self.ring).clone();
        if known.is_some() { Ok(known) } else { self.reload_ring() }
    }

    /// Reloads the keys: another process may have rotated them.
    pub(super) fn reload_ring(&self) -> Result<Option<Arc<KeyRing>>, SealError> {
        let ring = KeyRing::load(&self.folders)?.map(Arc::new);
        self.publish_keys(ring.as_deref());
        lock(&self.ring).clone_from(&ring);
        Ok(ring)
    }

    /// Creates the first key.
    pub(super) fn new_ring(&self) -> Result<Arc<KeyRing>, SealError> {
        let made = Arc::new(KeyRing::load_or_create(&self.folders)?);
        self.publish_keys(Some(&made));
        *lock(&self.ring) = Some(Arc::clone(&made));
        Ok(made)
    }

    /// Tells the store the current keys, so that it rejects values sealed with an old one.
    fn publish_keys(&self, ring: Option<&KeyRing>) {
        let former = ring.and_then(KeyRing::rotation).map(|change| change.from);
        let keys = ring.map(KeyRing::sealing_key).into_iter().chain(former);
        let beginnings: Vec<Vec<u8>> = keys.map(beginning).collect();
        self.store.set_sealing_keys(beginnings.iter().map(Vec::as_slice));
    }

    /// Checks whether the key is lost, for [`Seal::seal`], which cannot query the database.
    pub(super) async fn check_for_lost_key(&self) -> Result<(), VaultError> {
        let lost = self.ring()?.is_none() && !self.store.sealed_values().await?.is_empty();
        self.key_is_lost.store(lost, Ordering::SeqCst);
        Ok(())
    }

    pub(super) fn no_key(&self) -> VaultError {
        VaultError::NoKey { path: self.folders.data.join(KEY_FILE).display().to_string() }
    }

    pub(super) fn open_with_loaded_keys(
        &self,
        purpose: &str,
        sealed: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let ring = self.ring()?.ok_or_else(|| self.no_key())?;
        Ok(ring.open(purpose, sealed)?)
    }

    /// Opens a sealed value. Reloads the keys if its key is unknown.
    fn opened(&self, purpose: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        match self.open_with_loaded_keys(purpose, sealed) {
            Err(error) if error.is_transient() => {
                self.reload_ring()?;
                self.open_with_loaded_keys(purpose, sealed)
            }
            other => other,
        }
    }

    fn sealed(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, VaultError> {
        let ring = match self.reload_ring()? {
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
        // Moved, not copied: no second copy of the plain text remains.
        self.opened(purpose, sealed)
            .map(|mut plain| std::mem::take(&mut *plain))
            .map_err(KernelSealError::new)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Values are replaced as a whole, so a panic cannot leave them half changed.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
