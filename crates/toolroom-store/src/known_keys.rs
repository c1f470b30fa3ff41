//! Which keys this process can open things with, so that nothing is parked that nobody else could open.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Store;

/// What every sealed value begins with: a version byte and four bytes that name the key. The statements compare
/// as many.
pub(crate) const KEY_BYTES: usize = 5;

/// The key something is sealed under, as the statements write it.
pub(crate) fn key_name(sealed: &[u8]) -> String {
    hex::encode(sealed.get(..KEY_BYTES).unwrap_or(sealed))
}

/// Names of keys, as they are when something is queued.
pub(crate) type KeyNames = Arc<[String]>;

/// The keys as they were told last. None, if nobody has told any.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys(Mutex<KeyNames>);

impl KnownKeys {
    /// The known ones; if nobody has told any, that of `sealed` alone.
    pub(crate) fn beside(&self, sealed: Option<&[u8]>) -> KeyNames {
        let Some(sealed) = sealed else { return KeyNames::default() };
        let known = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        if known.is_empty() { Arc::new([key_name(sealed)]) } else { known }
    }
}

impl Store {
    /// Says which keys this process knows, each by what everything begins with that is sealed under it. A call is
    /// parked only if its request is sealed under one of them and, where anything else is sealed, they open some
    /// of it: otherwise the key was changed, and nobody else could open the request.
    pub fn know_keys<'k>(&self, beginnings: impl IntoIterator<Item = &'k [u8]>) {
        let names = beginnings.into_iter().map(key_name).collect();
        *self.known_keys().0.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }
}
