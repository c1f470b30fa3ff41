//! The one key everything is sealed with.

use std::fmt;
use std::io;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// XChaCha20-Poly1305 takes keys of this length.
pub(super) const KEY_BYTES: usize = 32;

/// Four bytes tell a handful of keys apart, and say nothing about them.
pub(super) const ID_BYTES: usize = 4;

/// Separates the hash that names a key from every other use of it.
const ID_DOMAIN: &[u8] = b"toolroom master key id 1";

/// Key texts come from many programs: padded or not, in either alphabet.
const BASE64: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// Characters of 32 bytes in base64, without padding.
const BASE64_CHARS: usize = 43;

/// A master key. It is wiped from memory when it is dropped, and never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKey(Zeroizing<[u8; KEY_BYTES]>);

/// Names a key without giving it away: eight hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub(super) [u8; ID_BYTES]);

/// Why a text is not a key. The text itself is never repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeyError {
    /// A key has a fixed length.
    #[error("a key is 64 hex digits or 32 bytes in base64; this has {chars} characters")]
    Length {
        /// What it has, without white space around it.
        chars: usize,
    },
    /// Something is in it that belongs to neither notation.
    #[error("a key is 64 hex digits or 32 bytes in base64; character {position} belongs to neither")]
    Character {
        /// Counted from 1.
        position: usize,
    },
    /// Characters and length are right, but its last bits say that something was cut off.
    #[error("a key is 64 hex digits or 32 bytes in base64; this is base64 with something missing")]
    Incomplete,
    /// Keys are written in ASCII.
    #[error("a key is 64 hex digits or 32 bytes in base64; this is not text")]
    NotText,
}

impl MasterKey {
    /// Reads a key as people keep it: 64 hex digits, or 32 bytes in base64. White space around it does not count.
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
        // The decoder wants room for whole groups.
        let mut bytes = Zeroizing::new([0; KEY_BYTES + 1]);
        match GeneralPurpose::new(alphabet, BASE64).decode_slice(unpadded, bytes.as_mut_slice()) {
            Ok(KEY_BYTES) => {
                key.0.iter_mut().zip(bytes.iter()).for_each(|(to, from)| *to = *from);
                Ok(key)
            }
            Ok(_) | Err(_) => Err(MasterKeyError::Incomplete),
        }
    }

    /// A new key, from the randomness of the operating system.
    pub fn generate() -> io::Result<Self> {
        let mut key = Self(Zeroizing::new([0; KEY_BYTES]));
        getrandom::fill(key.0.as_mut_slice())?;
        Ok(key)
    }

    /// The name of this key: the beginning of a hash made for nothing else.
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

    /// As it is written to a file: hex digits and the end of a line.
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
    /// Reads what [`KeyId`] is shown as. `None` if it is something else.
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
