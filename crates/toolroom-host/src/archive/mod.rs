//! Backups in one file: a plain tar of a few regular files.
//!
//! Any tar program can read what is written here. Archives that are read are untrusted: unsafe names, links, extensions,
//! duplicates and wrong sizes are rejected before anything is extracted, and truncation is detected. The caller verifies
//! the content by the hashes.

mod error;
mod member;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use self::error::ArchiveError;
pub use self::member::Member;
pub use self::reader::ArchiveReader;
pub use self::writer::ArchiveWriter;
