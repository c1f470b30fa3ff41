//! A member of an archive: name, length, hash.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::error::ArchiveError;

/// Maximum name length in a header. Longer names need extensions, which are not supported.
const MAX_NAME_BYTES: usize = 100;

/// A backup has only a few members.
pub(super) const MAX_MEMBERS: usize = 1_000;

/// A member that was written or extracted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its name, such as `store.db`.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of its content, in hex.
    pub sha256: String,
}

/// Checks that a name is safe and portable.
pub(super) fn check_name(name: &str) -> Result<(), ArchiveError> {
    let why = if name.len() > MAX_NAME_BYTES {
        "it is too long"
    } else if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        "it leads elsewhere"
    } else if name.chars().any(|character| character.is_control() || matches!(character, '\\' | '\u{fffd}')) {
        "it holds characters that do not belong in a name"
    } else {
        return Ok(());
    };
    Err(ArchiveError::Name { name: name.to_owned(), why })
}

/// Counts and hashes the content of a member while it is copied.
pub(super) struct Hashed<R> {
    content: io::Take<R>,
    hash: Sha256,
    bytes: u64,
}

impl<R: Read> Hashed<R> {
    /// Reads `bytes` bytes of `content`.
    pub(super) fn new(content: R, bytes: u64) -> Self {
        Self { content: content.take(bytes), hash: Sha256::new(), bytes }
    }

    /// The member; `None` if the content ended too early.
    pub(super) fn finish(self, name: &str) -> Option<Member> {
        let hash: [u8; 32] = self.hash.finalize().into();
        let member = Member { name: name.to_owned(), bytes: self.bytes, sha256: hex::encode(hash) };
        (self.content.limit() == 0).then_some(member)
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.content.read(buffer)?;
        self.hash.update(buffer.get(..length).unwrap_or_default());
        Ok(length)
    }
}
