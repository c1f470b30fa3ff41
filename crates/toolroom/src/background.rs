//! Records of background programs, and their storage port.
//!
//! A background program ends with the process that started it. Its command and end are stored for later processes; its
//! output is not.

use std::time::Duration;

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::LedgerError;
use crate::scope::Scope;

/// Most records of one conversation; those that ended first are deleted.
pub const MOST_PROGRAMS: u32 = 48;

/// How long a record is stored. No program runs that long.
pub const PROGRAM_KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The record of a background program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundProgram {
    /// Its number, which is never reused.
    pub number: u64,
    /// The command, without secrets.
    pub command: String,
    /// When.
    pub began_at: Timestamp,
    /// Its state.
    pub state: ProgramState,
}

/// The state of a background program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramState {
    /// This process started it.
    RunningHere,
    /// Another live process started it.
    RunningElsewhere,
    /// Its process is gone, and the program with it.
    Lost,
    /// It has ended.
    Ended(ProgramEnd),
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramEnd {
    /// With which code; -1 where there is none.
    pub exit_code: i32,
    /// Whether it was killed.
    pub was_killed: bool,
}

/// Stores records of background programs. They belong to a user of a project, and to the conversation that started them,
/// if any.
pub trait BackgroundPrograms: Send + Sync {
    /// Stores a program that is about to start; returns its number.
    fn begin_program<'a>(
        &'a self,
        scope: &'a Scope,
        thread: Option<&'a str>,
        command: &'a str,
    ) -> BoxFuture<'a, Result<u64, LedgerError>>;

    /// Stores how it ended.
    fn end_program(&self, number: u64, end: ProgramEnd) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Deletes a record; returns whether there was one.
    fn forget_program<'a>(
        &'a self,
        scope: &'a Scope,
        number: u64,
    ) -> BoxFuture<'a, Result<bool, LedgerError>>;

    /// The programs of a conversation, or those of none, oldest first.
    fn programs<'a>(
        &'a self,
        scope: &'a Scope,
        thread: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<BackgroundProgram>, LedgerError>>;
}
