//! What to run, and its limits.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::ProcessError;
use super::variables::Variables;
use crate::sandbox::Confinement;

/// The system's limit of one argument.
const MAX_WORD_BYTES: usize = 128 * 1024 - 1;

/// Arguments and variables together; the system has a similar limit with a less helpful error.
const MAX_WORDS_BYTES: usize = 1024 * 1024;

/// A program and how to start it.
#[derive(Debug, Clone)]
pub struct Order {
    /// A name, looked up in the `PATH` of [`Order::variables`], or a path, relative to `folder`.
    pub program: OsString,
    /// The arguments, without the program name.
    pub arguments: Vec<OsString>,
    /// The working folder.
    pub folder: PathBuf,
    /// Its whole environment.
    pub variables: Variables,
    /// Standard input.
    pub input: Vec<u8>,
    /// The limits.
    pub limits: Limits,
    /// The confinement; `None` for no confinement.
    pub confinement: Option<Confinement>,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Captured bytes per output stream: half from the beginning, half from the end.
    pub kept_bytes: usize,
}

/// Limits of a program and all its descendants together. `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time. Terminates with [`Order::grace`]; all other limits kill at once.
    pub wall: Option<Duration>,
    /// CPU time.
    pub cpu: Option<Duration>,
    /// Memory; shared pages count for each process.
    pub memory_bytes: Option<u64>,
    /// Number of living processes.
    pub processes: Option<u32>,
    /// Bytes printed to both streams.
    pub output_bytes: Option<u64>,
    /// Size of each written file. Exceeding it usually kills the process.
    pub file_bytes: Option<u64>,
    /// Disk space that a confined program adds to its writable folders. Checked with a short delay.
    pub disk_bytes: Option<u64>,
    /// Open descriptors per process.
    pub open_files: Option<u64>,
}

impl Order {
    /// A program without arguments and input, with a clean environment and the default limits.
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

    /// Adds arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// Checks for values the system would reject.
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
    /// Generous for a command of a few minutes, and low enough to keep the machine usable.
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

/// The beginning of an argument, for messages.
fn shown(word: &OsStr) -> String {
    word.to_string_lossy()
        .chars()
        .take(60)
        .map(|char| if char.is_control() { '\u{fffd}' } else { char })
        .collect()
}
