//! What can go wrong with an archive, told apart.

use std::io;
use std::path::{Path, PathBuf};

use super::member::MAX_MEMBERS;
use crate::regular_file::RegularFileError;

/// Why an archive could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// It is there, and must not be overwritten.
    #[error("`{}` is already there and stays as it is; name another file, or move it away first", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is no such archive.
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
    /// A member's name leads elsewhere, is too long, or is there twice.
    #[error("`{name}` cannot be the name of a member: {why}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A link, a folder, or something only other programs understand.
    #[error("the member `{name}` is not a plain file")]
    Kind {
        /// Its name.
        name: String,
    },
    /// There are more than a backup has.
    #[error("the archive has more than {MAX_MEMBERS} members")]
    TooMany,
    /// A member is longer than what was asked for.
    #[error("the member `{name}` has {bytes} bytes, more than {max_bytes}")]
    TooLong {
        /// Its name.
        name: String,
        /// Its length.
        bytes: u64,
        /// What was allowed.
        max_bytes: u64,
    },
    /// There is no such member.
    #[error("the archive has no member `{name}`")]
    NoMember {
        /// Its name.
        name: String,
    },
    /// It was cut, or is no archive. What a reader of archives says about it is not kept: it repeats what is in the
    /// file, which may be any file somebody named by mistake.
    #[error("it is no archive, or one that is damaged or incomplete")]
    Damaged,
    /// A file changed its length while it was read.
    #[error("`{}` changed while it was read; try again when nobody writes to it", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot read or write `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
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
