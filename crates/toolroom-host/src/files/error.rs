//! Errors of file access.
//!
//! Models may read these texts: they name the requested path and the roots, never the target of a link.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use super::judge::PathRefusal;

/// Why a file was not read, written or listed. `path` is the requested path.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path is empty.
    #[error("the path is empty; name a file, or `.` for the workspace")]
    Empty,
    /// The path contains a control character.
    #[error("`{path}` contains a control character")]
    Unprintable {
        /// Escaped.
        path: String,
    },
    /// `~` is not expanded.
    #[error(
        "`{path}` begins with the home folder, which is not known here; give a path inside the workspace"
    )]
    Tilde {
        /// The path.
        path: String,
    },
    /// The path is longer than the system allows.
    #[error("a path of {bytes} bytes is too long, or has a name that is, or has too many names")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// It is outside of every root.
    #[error(
        "`{path}` is outside the workspace `{}`; use a path inside it, or let its folder be opened under `[files]` in \
         the configuration", workspace.display()
    )]
    Outside {
        /// The path.
        path: String,
        /// The base of relative paths.
        workspace: PathBuf,
    },
    /// The target is off limits.
    #[error("`{path}` {refusal}")]
    Refused {
        /// The path.
        path: String,
        /// The reason.
        refusal: PathRefusal,
    },
    /// The root is read-only.
    #[error("`{path}` lies in `{}`, which is open for reading only", root.display())]
    ReadOnly {
        /// The path.
        path: String,
        /// Its root.
        root: PathBuf,
    },
    /// A link where links are not followed.
    #[error(
        "`{path}` is a symbolic link, or leads through one that cannot be followed; name what it leads to"
    )]
    Link {
        /// The path.
        path: String,
    },
    /// It does not exist.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path.
        path: String,
    },
    /// Its folder does not exist.
    #[error("the folder of `{path}` does not exist; create it first, or have it created")]
    NoFolder {
        /// The path.
        path: String,
    },
    /// It is not a regular file.
    #[error("`{path}` is {kind}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// It is not a folder.
    #[error("`{path}` is not a folder, or leads through something that is none")]
    NotAFolder {
        /// The path.
        path: String,
    },
    /// It is not text.
    #[error("`{path}` is {what} of {size} bytes, not text in UTF-8; it cannot be read as text")]
    NotText {
        /// The path.
        path: String,
        /// Its apparent format.
        what: &'static str,
        /// Its size.
        size: u64,
    },
    /// It is too large to be read at once.
    #[error("`{path}` has {size} bytes; at most {max} are read in one piece, so read it line by line")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        size: u64,
        /// The maximum.
        max: u64,
    },
    /// The caller cancelled before it was read.
    #[error("reading `{path}` was cancelled")]
    GivenUp {
        /// The path.
        path: String,
    },
    /// The requested line is too far into the file.
    #[error(
        "line {line} of `{path}` lies beyond the first {max} bytes, which is as far as lines are counted"
    )]
    TooFar {
        /// The path.
        path: String,
        /// The line.
        line: u64,
        /// How far lines are counted.
        max: u64,
    },
    /// Folders changed while the path was followed.
    #[error("`{path}` could not be followed, since its folders are changing; try again")]
    Changing {
        /// The path.
        path: String,
    },
    /// The disk is full.
    #[error("there is no room left to write `{path}`; it is unchanged")]
    Full {
        /// The path.
        path: String,
        /// The system's message.
        source: io::Error,
    },
    /// A root cannot be used.
    #[error("the folder `{}` cannot be opened for files: {trouble}", root.display())]
    Root {
        /// The root.
        root: PathBuf,
        /// The reason.
        trouble: RootProblem,
    },
    /// A system error.
    #[error("the system refuses `{path}`")]
    Io {
        /// The path.
        path: String,
        /// The system's message.
        source: io::Error,
    },
}

/// Why a folder cannot be used as a root.
#[derive(Debug, thiserror::Error)]
pub enum RootProblem {
    /// The path is not absolute.
    #[error("its path is not absolute")]
    NotAbsolute,
    /// It does not exist.
    #[error("it does not exist; create it first")]
    Missing,
    /// It is not a folder.
    #[error("it is not a folder (in the data folder, a link to one is none)")]
    NotAFolder,
    /// It is off limits.
    #[error("it {0}")]
    Refused(PathRefusal),
    /// It is one of our own folders.
    #[error("Toolroom keeps its own files there; choose a folder inside it")]
    Ours,
    /// A system error.
    #[error("{0}")]
    System(io::Error),
}

impl FileError {
    /// The error for a system error at `path`.
    pub(super) fn system(path: &str, errno: Errno) -> Self {
        let path = path.to_owned();
        match errno {
            Errno::NOENT => Self::NotFound { path },
            Errno::NOTDIR => Self::NotAFolder { path },
            Errno::ISDIR => Self::NotAFile { path, kind: "a folder" },
            Errno::LOOP => Self::Link { path },
            Errno::AGAIN => Self::Changing { path },
            Errno::NOSPC | Errno::DQUOT => Self::Full { path, source: errno.into() },
            Errno::NAMETOOLONG => Self::TooLong { bytes: path.len() },
            _ => Self::Io { path, source: errno.into() },
        }
    }
}
