//! Why a file was not read, written or listed.
//!
//! A model may read these texts: they name the path it asked for and the roots, never where a link leads.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;

use super::judge::PathRefusal;

/// Why a file was not read, written or listed. `path` is what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is no path.
    #[error("the path is empty; name a file, or `.` for the workspace")]
    Empty,
    /// No screen could show it.
    #[error("`{path}` holds a control character, which no path here may")]
    Unprintable {
        /// Escaped.
        path: String,
    },
    /// Nobody expands it.
    #[error(
        "`{path}` begins with the home folder, which is not known here; give a path inside the workspace"
    )]
    Tilde {
        /// The path.
        path: String,
    },
    /// More than the system takes.
    #[error("a path of {bytes} bytes is too long, or has a name that is, or has too many names")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
    /// It leads out of every root.
    #[error(
        "`{path}` is outside the workspace `{}`; use a path inside it, or let its folder be opened under `[files]` in \
         the configuration", workspace.display()
    )]
    Outside {
        /// The path.
        path: String,
        /// Where relative paths begin.
        workspace: PathBuf,
    },
    /// What is there is nobody's business here.
    #[error("`{path}` {refusal}")]
    Refused {
        /// The path.
        path: String,
        /// Why.
        refusal: PathRefusal,
    },
    /// The root is open for reading only.
    #[error("`{path}` lies in `{}`, which is open for reading only", root.display())]
    ReadOnly {
        /// The path.
        path: String,
        /// Its root.
        root: PathBuf,
    },
    /// A link where none is followed.
    #[error(
        "`{path}` is a symbolic link, or leads through one that cannot be followed; name what it leads to"
    )]
    Link {
        /// The path.
        path: String,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The folder it would lie in is missing.
    #[error("the folder of `{path}` does not exist; create it first, or have it created")]
    NoFolder {
        /// The path.
        path: String,
    },
    /// It is something that is neither read nor replaced.
    #[error("`{path}` is {kind}, not a file")]
    NotAFile {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// A folder was wanted.
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
        /// What it seems to be.
        what: &'static str,
        /// How long it is.
        size: u64,
    },
    /// It is too long to be read in one piece.
    #[error("`{path}` has {size} bytes; at most {max} are read in one piece, so read it line by line")]
    TooLarge {
        /// The path.
        path: String,
        /// How long it is.
        size: u64,
        /// What is read at most.
        max: u64,
    },
    /// Nobody wanted it any more before it was read to its end.
    #[error("`{path}` is not wanted any more")]
    GivenUp {
        /// The path.
        path: String,
    },
    /// The line that was asked for is too far into the file.
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
    /// There is no room.
    #[error("there is no room left to write `{path}`; it is unchanged")]
    Full {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// A root cannot be used.
    #[error("the folder `{}` cannot be opened for files: {trouble}", root.display())]
    Root {
        /// The root.
        root: PathBuf,
        /// Why.
        trouble: RootProblem,
    },
    /// The system refused.
    #[error("the system refuses `{path}`")]
    Io {
        /// The path.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a folder cannot be opened for tools.
#[derive(Debug, thiserror::Error)]
pub enum RootProblem {
    /// Nobody knows where it begins.
    #[error("its path is not absolute")]
    NotAbsolute,
    /// Nothing is there.
    #[error("it does not exist; create it first")]
    Missing,
    /// Something else is there.
    #[error("it is not a folder (in the data folder, a link to one is none)")]
    NotAFolder,
    /// What is there is nobody's business here.
    #[error("it {0}")]
    Refused(PathRefusal),
    /// It is one of our own.
    #[error("Toolroom keeps its own files there; choose a folder inside it")]
    Ours,
    /// The system refused.
    #[error("{0}")]
    System(io::Error),
}

impl FileError {
    /// What the system said about `path`.
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
