//! What to start, and how far it may go.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::ProcessError;
use super::variables::Variables;
use crate::sandbox::Confinement;

/// The system takes no longer word on a command line.
const MAX_WORD_BYTES: usize = 128 * 1024 - 1;

/// Words and variables together; the system refuses more than about this much too, with a less helpful text.
const MAX_WORDS_BYTES: usize = 1024 * 1024;

/// A program, and everything about its start.
#[derive(Debug, Clone)]
pub struct Order {
    /// A name to be looked for in the `PATH` of [`Order::variables`], or a path. Relative ones start at `folder`.
    pub program: OsString,
    /// Its arguments, without its own name in front.
    pub arguments: Vec<OsString>,
    /// Where it starts.
    pub folder: PathBuf,
    /// Its whole environment.
    pub variables: Variables,
    /// What it reads from its standard input, which then ends.
    pub input: Vec<u8>,
    /// What ends it.
    pub limits: Limits,
    /// What it is confined to; `None` is nothing.
    pub confinement: Option<Confinement>,
    /// How long it may tidy up after it was asked to end.
    pub grace: Duration,
    /// How much is kept of each of its two output streams: half from the beginning, half from the end.
    pub kept_bytes: usize,
}

/// How far a program and all its descendants may go together. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Time on the wall. Ends politely, with [`Order::grace`]; all others end at once.
    pub wall: Option<Duration>,
    /// Time on processors.
    pub cpu: Option<Duration>,
    /// Memory in use, pages that several processes share counted for each.
    pub memory_bytes: Option<u64>,
    /// Processes alive at the same time.
    pub processes: Option<u32>,
    /// What it prints to both streams.
    pub output_bytes: Option<u64>,
    /// The length of each file it writes. A process that goes on is refused, and usually ended, by the system.
    pub file_bytes: Option<u64>,
    /// What a confined program adds to the disks of the folders it may change. It is ended a moment after it was reached.
    pub disk_bytes: Option<u64>,
    /// Descriptors each process may have open.
    pub open_files: Option<u64>,
}

impl Order {
    /// A program without arguments and input, in a clean environment, with the default limits.
    pub fn new(program: impl Into<OsString>, folder: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.into(),
            variables: Variables::clean(),
            input: Vec::new(),
            limits: Limits::default(),
            confinement: None,
            grace: Duration::from_millis(500),
            kept_bytes: 256 * 1024,
        }
    }

    /// The same with these arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Refuses what the system could not start, before anything is.
    pub(super) fn check(&self) -> Result<(), ProcessError> {
        let words = std::iter::once(&self.program).chain(&self.arguments).map(OsString::as_os_str);
        let mut total = self.folder.as_os_str().len();
        for word in words.chain([self.folder.as_os_str()]) {
            if word.as_bytes().contains(&0) {
                return Err(ProcessError::ZeroByte { word: shown(word) });
            }
            if word.len() > MAX_WORD_BYTES {
                return Err(ProcessError::TooLong { what: "an argument", max: MAX_WORD_BYTES });
            }
            total += word.len() + 1;
        }
        total += self.variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>();
        if total > MAX_WORDS_BYTES {
            return Err(ProcessError::TooLong { what: "the command line", max: MAX_WORDS_BYTES });
        }
        Ok(())
    }
}

impl Default for Limits {
    /// Generous for a command of a few minutes, and small enough that a machine stays usable.
    fn default() -> Self {
        Self {
            wall: None,
            cpu: Some(Duration::from_secs(10 * 60)),
            memory_bytes: Some(4 * 1024 * 1024 * 1024),
            processes: Some(512),
            output_bytes: Some(256 * 1024 * 1024),
            file_bytes: Some(4 * 1024 * 1024 * 1024),
            disk_bytes: Some(2 * 1024 * 1024 * 1024),
            open_files: Some(4_096),
        }
    }
}

/// The beginning of a word, to be named in a message.
fn shown(word: &OsStr) -> String {
    word.to_string_lossy()
        .chars()
        .take(60)
        .map(|char| if char.is_control() { '\u{fffd}' } else { char })
        .collect()
}
