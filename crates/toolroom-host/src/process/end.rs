//! How a program ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::output::CapturedOutput;

/// A program that has ended with all its descendants.
#[derive(Debug, Clone)]
pub struct ProgramEnd {
    /// The exit status of the program itself.
    pub status: Status,
    /// Why it ended.
    pub cause: Cause,
    /// Standard output of it and its descendants.
    pub stdout: CapturedOutput,
    /// Standard error of it and its descendants.
    pub stderr: CapturedOutput,
    /// The resources used.
    pub usage: Usage,
    /// Processes that survived SIGKILL, such as those waiting for a broken disk.
    pub survivors: u32,
}

/// The exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by this signal.
    Signalled(i32),
}

/// Why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// It ended by itself.
    Itself,
    /// It was stopped on request.
    Stopped,
    /// It reached a limit.
    Limit(Limit),
    /// It changed or created a protected file in its folder, or locked a watched folder. The change was undone; the new
    /// content is next to it under another name.
    Trespass,
    /// Another program replaced a file hidden from this one, and the new file was visible.
    Uncovered,
}

/// A limit. See [`super::Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Wall-clock time.
    Wall,
    /// CPU time.
    Cpu,
    /// Memory.
    Memory,
    /// Number of processes.
    Processes,
    /// Bytes printed.
    Output,
    /// File size.
    FileBytes,
    /// Folders created where repositories are watched.
    Folders,
    /// Disk space.
    Disk,
}

/// Resources used by a program and its descendants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// From its start to the end of the last descendant.
    pub wall: Duration,
    /// CPU time.
    pub cpu: Duration,
    /// Highest memory use seen. Short peaks between two checks are missed.
    pub peak_memory_bytes: u64,
    /// Highest number of processes seen.
    pub peak_processes: u32,
}

impl Status {
    /// The exit code; `None` after a signal.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Signalled(_) => None,
        }
    }
}
