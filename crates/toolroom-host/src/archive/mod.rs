//! Backups in one file: a plain tar of a few members, each of them a regular file.
//!
//! Any tar program can read what is written here. What is read here is held to be hostile: names that lead elsewhere,
//! links, extensions, doubles and sizes that do not fit are refused before anything is taken out, and an archive that
//! was cut is noticed. Whether the content is what it was is for the caller to tell, by the hashes.

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
