//! Text people write: configuration files; and whatever they want to have in a file they name.

use std::fs::{Metadata, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::atomic_file::AtomicFile;
use crate::folders::PRIVATE_FILE;
use crate::regular_file::{Links, RegularFile, RegularFileError};

/// Its files are everybody's to trust.
const ROOT: u32 = 0;

/// What of a file's mode is kept: who may read, write and execute.
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
    /// It is longer than anything that makes sense.
    #[error("`{}` is longer than {max_bytes} bytes; make it shorter", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// What was allowed.
        max_bytes: usize,
    },
    /// It is in another encoding, or no text.
    #[error("`{}` is not UTF-8 from byte {position} on; save it as UTF-8", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        position: usize,
    },
    /// It is there, and must not be overwritten.
    #[error("`{}` is already there and stays as it is; name another file, or move it away first", path.display())]
    Exists {
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

/// The text of a file; `None` when there is none. Links are followed, since people keep their configuration where
/// they like; what they lead to must be a regular file.
pub fn read_bounded(path: &Path, max_bytes: usize) -> Result<Option<String>, TextFileError> {
    read(path, max_bytes, Links::Follow)
}

/// The same of a file that came from somebody else. A link is refused: it could lead to any file of ours, and what
/// is wrong in a file is shown.
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

/// Writes a file that is not there yet, for its owner only. Its folder must be there.
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

/// Writes a file whole, in place of the one that is there. That one's permissions are kept; a new one is for its
/// owner only. A link stays a link: what it leads to is replaced.
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
        // A link into the void is not nothing.
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

/// What a search upwards came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UpwardSearch {
    /// The nearest file that counts.
    pub file: Option<PathBuf>,
    /// What has its name, is nearer and does not count, nearest first.
    pub passed_over: Vec<SkippedFile>,
}

/// Something in the place of a file that does not count as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// Where it is.
    pub path: PathBuf,
    /// Why it does not count.
    pub why: SkipReason,
}

/// Why something is no file of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// It, what it leads to or its folder belongs to this other user.
    Stranger(u32),
    /// It is a link, and there is nothing at its end.
    LeadsNowhere,
    /// It is a folder, a pipe, a socket or a device.
    NotRegular,
}

/// The nearest file of that name, in `start` (an absolute path) or a folder above it. The search ends at a folder that belongs to
/// somebody else, and passes over a file that does: in a place where everybody may write, a stranger's file must not
/// become our configuration.
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
    // A stranger's link to a file of ours is a stranger's choice.
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

/// Whether there is anything at a path. What cannot be looked at counts as nothing.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a file")]
pub fn is_there(path: &Path) -> bool {
    path.exists()
}

/// Whether there is a file at a path with nothing in it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking at a file")]
pub fn is_empty(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// Whether there is a folder at a path, or a link to one.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a folder")]
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// Whether what lies at a path is a link, wherever it leads.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking for a link")]
pub fn is_link(path: &Path) -> bool {
    path.is_symlink()
}

/// Whether two paths lead to one file that is there.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: looking at two files")]
pub fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|found| identity(other) == Some(found))
}

/// The folder this process works in.
#[expect(clippy::disallowed_methods, reason = "this is the door: where the process was started")]
pub fn current_folder() -> io::Result<PathBuf> {
    std::env::current_dir()
}

#[cfg(test)]
#[path = "text_file_tests.rs"]
mod tests;
