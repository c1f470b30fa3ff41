//! Errors of archives.

use std::io;
use std::path::{Path, PathBuf};

use super::member::MAX_MEMBERS;
use crate::regular_file::RegularFileError;

/// Why an archive could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file exists and must not be overwritten.
    #[error("`{}` is already there and stays as it is; name another file, or move it away first", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The archive does not exist.
    #[error("there is no file `{}`; check its name, and the folder you are in", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A folder, a pipe, a socket or a device.
    #[error("`{}` is not a regular file; name one that is", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// A member's name is unsafe, too long, or not unique.
    #[error("`{name}` cannot be the name of a member: {why}")]
    Name {
        /// The name.
        name: String,
        /// The problem.
        why: &'static str,
    },
    /// A link, a folder, or an extension.
    #[error("the member `{name}` is not a plain file")]
    Kind {
        /// Its name.
        name: String,
    },
    /// More members than a backup can have.
    #[error("the archive has more than {MAX_MEMBERS} members")]
    TooMany,
    /// A member is longer than the caller allows.
    #[error("the member `{name}` has {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// Its name.
        name: String,
        /// Its length.
        bytes: u64,
        /// The maximum.
        max_bytes: u64,
    },
    /// The member does not exist.
    #[error("the archive has no member `{name}`")]
    NoMember {
        /// Its name.
        name: String,
    },
    /// Truncated, or not an archive. The parser's message is dropped: it repeats content of the file, which may be any file
    /// the user named by mistake.
    #[error("it is no archive, or one that is damaged or incomplete")]
    Damaged,
    /// A file changed its length while it was read.
    #[error("`{}` changed while it was read; try again when no other program writes to it", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A system error.
    #[error("cannot read or write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

impl ArchiveError {
    pub(super) fn refused(path: &Path, error: RegularFileError) -> Self {
        let path = path.to_owned();
        match error {
            RegularFileError::NotRegular => Self::NotRegular { path },
            RegularFileError::TooLong => Self::Io { path, source: io::ErrorKind::FileTooLarge.into() },
            RegularFileError::Io(source) => Self::Io { path, source },
        }
    }
}
