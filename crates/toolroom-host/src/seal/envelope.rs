//! The stored form of a sealed text: version, key id, nonce, ciphertext.

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use super::error::SealError;
use super::master_key::{ID_BYTES, KeyId, MasterKey};

/// The only format.
const VERSION: u8 = 1;

/// Long enough for random nonces without collisions.
const NONCE_BYTES: usize = 24;

/// A parsed envelope.
pub(super) struct Envelope<'a> {
    pub(super) key: KeyId,
    nonce: [u8; NONCE_BYTES],
    ciphertext: &'a [u8],
}

/// The id of the sealing key; `None` if it is not an envelope.
#[must_use]
pub fn key_of(sealed: &[u8]) -> Option<KeyId> {
    let (&version, rest) = sealed.split_first()?;
    let (id, _) = rest.split_first_chunk::<ID_BYTES>()?;
    (version == VERSION).then_some(KeyId(*id))
}

/// The common prefix of everything sealed with this key.
#[must_use]
pub fn beginning(key: KeyId) -> Vec<u8> {
    [&[VERSION], &key.0[..]].concat()
}

/// Seals `plain` for one purpose.
pub(super) fn seal(key: &MasterKey, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(|error| SealError::Randomness { source: error.into() })?;
    let bound = bound_to(key.id(), purpose);
    let payload = Payload { msg: plain, aad: &bound };
    let ciphertext = cipher(key)
        .encrypt(&XNonce::from(nonce), payload)
        .map_err(|_| SealError::TooLong { bytes: plain.len() })?;
    let mut sealed = beginning(key.id());
    sealed.extend(nonce);
    sealed.extend(ciphertext);
    Ok(sealed)
}

impl<'a> Envelope<'a> {
    /// `None` if it is too short.
    pub(super) fn parse(sealed: &'a [u8]) -> Result<Option<Self>, SealError> {
        let Some((&version, rest)) = sealed.split_first() else { return Ok(None) };
        if version != VERSION {
            return Err(SealError::UnknownVersion { version });
        }
        let parts = rest.split_first_chunk::<ID_BYTES>().and_then(|(id, rest)| {
            let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_BYTES>()?;
            Some(Self { key: KeyId(*id), nonce: *nonce, ciphertext })
        });
        Ok(parts)
    }

    /// The content, if it was sealed with this key for this purpose and is unchanged.
    pub(super) fn open(&self, key: &MasterKey, purpose: &str) -> Option<Zeroizing<Vec<u8>>> {
        let bound = bound_to(self.key, purpose);
        let payload = Payload { msg: self.ciphertext, aad: &bound };
        cipher(key).decrypt(&XNonce::from(self.nonce), payload).ok().map(Zeroizing::new)
    }
}

fn cipher(key: &MasterKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.bytes().into())
}

/// The associated data: everything before the ciphertext except the nonce, and the purpose.
fn bound_to(key: KeyId, purpose: &str) -> Vec<u8> {
    let mut bound = vec![VERSION];
    bound.extend(key.0);
    bound.extend(purpose.as_bytes());
    bound
}
