//! How a program ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::output::CapturedOutput;

/// A program that has ended, and with it everything it started.
#[derive(Debug, Clone)]
pub struct ProgramEnd {
    /// What the system says of the program itself.
    pub status: Status,
    /// Why it ended.
    pub cause: Cause,
    /// What it and its descendants printed.
    pub stdout: CapturedOutput,
    /// What it and its descendants printed as errors.
    pub stderr: CapturedOutput,
    /// What it took.
    pub usage: Usage,
    /// Processes that even the strongest signal did not end in time, such as those that wait for a broken disk.
    pub survivors: u32,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It left with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(i32),
}

/// Why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// It came to its end.
    Itself,
    /// It was asked to.
    Stopped,
    /// It reached a limit.
    Limit(Limit),
    /// It changed, or made, a file in its folder that is protected by its confinement, or closed a folder that is watched.
    /// That has been put back; what it wrote stands beside it under another name.
    Trespass,
    /// Another program put a new file in the place of one that was kept from it, and could not be kept from that one.
    Uncovered,
}

/// Which limit. See [`super::Limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// Time on the wall.
    Wall,
    /// Time on processors.
    Cpu,
    /// Memory in use.
    Memory,
    /// Processes at the same time.
    Processes,
    /// Bytes printed.
    Output,
    /// Length of a file.
    FileBytes,
    /// Folders it made where repositories are watched.
    Folders,
    /// Bytes it added to disks.
    Disk,
}

/// What a program and its descendants took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// From its start to the end of the last descendant.
    pub wall: Duration,
    /// Time on processors.
    pub cpu: Duration,
    /// The most memory that was seen in use. Looks are some time apart: short peaks go unseen.
    pub peak_memory_bytes: u64,
    /// The most processes that were seen at the same time.
    pub peak_processes: u32,
}

impl Status {
    /// The code it left with; `None` if a signal ended it.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            Self::Signalled(_) => None,
        }
    }
}
