//! Text files: configuration, and files that users name.

use std::fs::{Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::atomic_file::AtomicFile;
use crate::folders::PRIVATE_FILE;
use crate::regular_file::{Links, RegularFile, RegularFileError};

/// Files of root are trusted.
const ROOT: u32 = 0;

/// The permission bits that are kept.
const PERMISSIONS: u32 = 0o777;

/// Why a text file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TextFileError {
    /// A folder, a pipe, a socket or a device.
    #[error("`{}` is not a regular file; name one that is", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// It is too large.
    #[error("`{}` is longer than {max_bytes} bytes; make it shorter", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The maximum.
        max_bytes: usize,
    },
    /// It is not UTF-8.
    #[error("`{}` is not UTF-8 from byte {position} on; save it as UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Byte position, counted from 1.
        position: usize,
    },
    /// The file exists and must not be overwritten.
    #[error("`{}` is already there and stays as it is; name another file, or move it away first", path.display())]
    Exists {
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

/// The text of a file; `None` if it does not exist. Links are followed, because configurations may be linked; the target
/// must be a regular file.
pub fn read_bounded(path: &Path, max_bytes: usize) -> Result<Option<String>, TextFileError> {
    read(path, max_bytes, Links::Follow)
}

/// For files of untrusted origin: a link is refused, because it could lead to any of our files, and errors quote the
/// content.
pub fn read_bounded_unlinked(path: &Path, max_bytes: usize) -> Result<Option<String>, TextFileError> {
    read(path, max_bytes, Links::Refuse)
}

fn read(path: &Path, max_bytes: usize, links: Links) -> Result<Option<String>, TextFileError> {
    let failed = |error| match error {
        RegularFileError::NotRegular => TextFileError::NotRegular { path: path.to_owned() },
        RegularFileError::TooLong => TextFileError::TooLong { path: path.to_owned(), max_bytes },
        RegularFileError::Io(source) => TextFileError::Io { path: path.to_owned(), source },
    };
    let Some(file) = RegularFile::open(path, links).map_err(failed)? else { return Ok(None) };
    let content = file.read(max_bytes).map_err(failed)?;
    String::from_utf8(content).map(Some).map_err(|error| TextFileError::NotUtf8 {
        path: path.to_owned(),
        position: error.utf8_error().valid_up_to() + 1,
    })
}

/// Writes a new file with mode 0600. Its folder must exist.
pub fn write_new_private(path: &Path, content: impl AsRef<[u8]>) -> Result<(), TextFileError> {
    let written = AtomicFile::beside(path).and_then(|mut staged| {
        staged.write_all(content.as_ref())?;
        staged.publish_new()
    });
    written.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => TextFileError::Exists { path: path.to_owned() },
        _ => TextFileError::Io { path: path.to_owned(), source },
    })
}

/// Writes a whole file, replacing an existing one and keeping its permissions; a new one gets mode 0600. A link is kept:
/// its target is replaced.
#[expect(clippy::disallowed_methods, reason = "this is the door: a text file that was named")]
pub fn replace(path: &Path, content: impl AsRef<[u8]>) -> Result<(), TextFileError> {
    let failed = |source| TextFileError::Io { path: path.to_owned(), source };
    let (target, mode) = match std::fs::canonicalize(path) {
        Ok(target) => {
            let metadata = target.metadata().map_err(failed)?;
            if !metadata.is_file() {
                return Err(TextFileError::NotRegular { path: path.to_owned() });
            }
            (target, metadata.permissions().mode() & PERMISSIONS)
        }
        // A dangling link is not a missing file.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err() => {
            (path.to_owned(), PRIVATE_FILE)
        }
        Err(error) => return Err(failed(error)),
    };
    let mut staged = AtomicFile::beside(&target).map_err(failed)?;
    staged.file.set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
    staged.write_all(content.as_ref()).map_err(failed)?;
    staged.publish_over().map_err(|errno| failed(errno.into()))
}

/// The result of a search upwards.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpwardSearch {
    /// The nearest trusted file.
    pub file: Option<PathBuf>,
    /// Nearer files with the name that were skipped, nearest first.
    pub passed_over: Vec<SkippedFile>,
}

/// A skipped file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its path.
    pub path: PathBuf,
    /// The reason.
    pub why: SkipReason,
}

/// Why a file was skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It, its target or its folder belongs to this other user.
    Stranger(u32),
    /// A dangling link.
    LeadsNowhere,
    /// A folder, pipe, socket or device.
    NotRegular,
}

/// The nearest file of this name, in `start` (an absolute path) or a parent. The search ends at a folder of another user,
/// and skips files of other users: in a world-writable folder, a file of another user must not become our
/// configuration.
#[must_use]
pub fn nearest_upwards(start: &Path, name: &str) -> UpwardSearch {
    nearest_trusted(start, name, &[ROOT, rustix::process::geteuid().as_raw()])
}

#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a text file")]
fn nearest_trusted(start: &Path, name: &str, owners: &[u32]) -> UpwardSearch {
    let mut found = UpwardSearch::default();
    for folder in start.ancestors() {
        let Ok(metadata) = folder.metadata() else { break };
        let is_strange = !owners.contains(&metadata.uid());
        let path = folder.join(name);
        let why = match look(&path, owners) {
            Candidate::Nothing => None,
            Candidate::File | Candidate::NoFile(_) if is_strange => {
                Some(SkipReason::Stranger(metadata.uid()))
            }
            Candidate::NoFile(why) => Some(why),
            Candidate::File => {
                found.file = Some(path);
                break;
            }
        };
        found.passed_over.extend(why.map(|why| SkippedFile { path, why }));
        if is_strange {
            break;
        }
    }
    found
}

enum Candidate {
    Nothing,
    File,
    NoFile(SkipReason),
}

#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a text file")]
fn look(path: &Path, owners: &[u32]) -> Candidate {
    let stranger = |metadata: &Metadata| Some(metadata.uid()).filter(|owner| !owners.contains(owner));
    let Ok(itself) = path.symlink_metadata() else { return Candidate::Nothing };
    // A link of another user is untrusted, even to a file of ours.
    if let Some(owner) = stranger(&itself) {
        return Candidate::NoFile(SkipReason::Stranger(owner));
    }
    let Ok(target) = path.metadata() else { return Candidate::NoFile(SkipReason::LeadsNowhere) };
    match stranger(&target) {
        Some(owner) => Candidate::NoFile(SkipReason::Stranger(owner)),
        None if target.is_file() => Candidate::File,
        None => Candidate::NoFile(SkipReason::NotRegular),
    }
}

/// Whether a path exists. Inaccessible paths count as missing.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a file")]
pub fn is_there(path: &Path) -> bool {
    path.exists()
}

/// Whether a file exists and is empty.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking at a file")]
pub fn is_empty(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// Whether a path is a folder, or a link to one.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a folder")]
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Whether a path is a link, even a dangling one.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a link")]
pub fn is_link(path: &Path) -> bool {
    path.is_symlink()
}

/// Whether two paths lead to the same existing file.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking at two files")]
pub fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// The working folder of this process.
#[expect(clippy::disallowed_methods, reason = "this is the door: where the process was started")]
pub fn current_folder() -> io::Result<PathBuf> {
    std::env::current_dir()
}

#[cfg(test)]
#[path = "text_file_tests.rs"]
mod tests;
