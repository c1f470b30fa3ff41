//! The master key.

use std::fmt;
use std::io;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Key length of XChaCha20-Poly1305.
pub(super) const KEY_BYTES: usize = 32;

/// Four bytes distinguish a few keys and reveal nothing about them.
pub(super) const ID_BYTES: usize = 4;

/// Separates the hash of the key id from other uses of the key.
const ID_DOMAIN: &[u8] = b"toolroom master key id 1";

/// Accepts both alphabets, with or without padding.
const BASE64: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Characters of 32 bytes in base64, without padding.
const BASE64_CHARS: usize = 43;

/// A master key. Wiped from memory when dropped, and never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKey(Zeroizing<[u8; KEY_BYTES]>);

/// Identifies a key without revealing it: eight hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub(super) [u8; ID_BYTES]);

/// Why a text is not a key. The text itself is never repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeyError {
    /// Wrong length.
    #[error("a key is 64 hex digits or 32 bytes in base64; this has {chars} characters")]
    Length {
        /// Its length without surrounding white space.
        chars: usize,
    },
    /// An invalid character.
    #[error("a key is 64 hex digits or 32 bytes in base64; character {position} belongs to neither")]
    Character {
        /// Position, counted from 1.
        position: usize,
    },
    /// Length and characters are right, but the last bits show that the text is truncated.
    #[error("a key is 64 hex digits or 32 bytes in base64; this is base64 with something missing")]
    Incomplete,
    /// Not ASCII.
    #[error("a key is 64 hex digits or 32 bytes in base64; this is not text")]
    NotText,
}

impl MasterKey {
    /// Parses a key: 64 hex digits, or 32 bytes in base64. Surrounding white space is ignored.
    pub fn parse(text: &str) -> Result<Self, MasterKeyError> {
        let text = text.trim();
        let unpadded = text.trim_end_matches('=');
        let mut key = Self(Zeroizing::new([0; KEY_BYTES]));
        if text.len() == 2 * KEY_BYTES {
            check_characters(text, |byte| byte.is_ascii_hexdigit())?;
            return match hex::decode_to_slice(text, key.0.as_mut_slice()) {
                Ok(()) => Ok(key),
                Err(_) => Err(MasterKeyError::Incomplete),
            };
        }
        if unpadded.len() != BASE64_CHARS || text.len() > BASE64_CHARS + 1 {
            return Err(MasterKeyError::Length { chars: text.chars().count() });
        }
        check_characters(unpadded, |byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte))?;
        let alphabet = if unpadded.contains(['-', '_']) { &alphabet::URL_SAFE } else { &alphabet::STANDARD };
        // The decoder needs room for whole groups.
        let mut bytes = Zeroizing::new([0; KEY_BYTES + 1]);
        match GeneralPurpose::new(alphabet, BASE64).decode_slice(unpadded, bytes.as_mut_slice()) {
            Ok(KEY_BYTES) => {
                key.0.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
                Ok(key)
            }
            Ok(_) | Err(_) => Err(MasterKeyError::Incomplete),
        }
    }

    /// A new random key.
    pub fn generate() -> io::Result<Self> {
        let mut key = Self(Zeroizing::new([0; KEY_BYTES]));
        getrandom::fill(key.0.as_mut_slice())?;
        Ok(key)
    }

    /// The id: the beginning of a domain-separated hash.
    #[must_use]
    pub fn id(&self) -> KeyId {
        let hash: [u8; 32] =
            Sha256::new().chain_update(ID_DOMAIN).chain_update(self.0.as_slice()).finalize().into();
        let mut id = [0; ID_BYTES];
        id.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        KeyId(id)
    }

    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// The content of a key file: hex digits and a line break.
    pub(super) fn to_text(&self) -> Zeroizing<String> {
        let mut digits = Zeroizing::new([0; 2 * KEY_BYTES]);
        let mut text = Zeroizing::new(String::with_capacity(2 * KEY_BYTES + 1));
        if hex::encode_to_slice(self.0.as_slice(), digits.as_mut_slice()).is_ok() {
            text.extend(digits.iter().map(|digit| char::from(*digit)));
        }
        text.push('\n');
        text
    }
}

fn check_characters(text: &str, belongs: impl Fn(u8) -> bool) -> Result<(), MasterKeyError> {
    match text.bytes().position(|byte| !belongs(byte)) {
        Some(position) => Err(MasterKeyError::Character { position: position + 1 }),
        None => Ok(()),
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MasterKey({})", self.id())
    }
}

impl KeyId {
    /// Parses a displayed [`KeyId`].
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut id = [0; ID_BYTES];
        hex::decode_to_slice(text, &mut id).ok().map(|()| Self(id))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&hex::encode(self.0))
    }
}
