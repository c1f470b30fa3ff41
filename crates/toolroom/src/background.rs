//! What is kept of programs in the background, and the port through which it is kept.
//!
//! Such a program ends with the process that started it. So that a later process can say what became of it, its command
//! and its end are kept; what it printed is not. This room starts nothing and holds no storage.

use std::time::Duration;

use crate::BoxFuture;
use crate::clock::Timestamp;
use crate::ledger::LedgerError;
use crate::scope::Scope;

/// How many of one conversation are kept; of more, those that ended first are forgotten.
pub const MOST_PROGRAMS: u32 = 48;

/// How long one is kept. None runs so long.
pub const PROGRAM_KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A program in the background, as far as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackgroundProgram {
    /// Its number, which no other program has or had.
    pub number: u64,
    /// What was started, without secrets.
    pub command: String,
    /// When.
    pub began_at: Timestamp,
    /// What became of it.
    pub state: ProgramState,
}

/// What became of a program in the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramState {
    /// This process started it, and knows more.
    RunningHere,
    /// Another process started it, and lives.
    RunningElsewhere,
    /// The process that started it is gone, and the program with it.
    Lost,
    /// It had ended before.
    Ended(ProgramEnd),
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgramEnd {
    /// With which code; -1 where there is none.
    pub exit_code: i32,
    /// Whether it was ended by somebody else.
    pub was_killed: bool,
}

/// Keeps what a later process has to know of programs in the background. They belong to a user of a project, and to a
/// conversation, if one started them.
pub trait BackgroundPrograms: Send + Sync {
    /// Keeps a program that is about to start; gives its number.
    fn begin_program<'a>(
        &'a self,
        scope: &'a Scope,
        thread: Option<&'a str>,
        command: &'a str,
    ) -> BoxFuture<'a, Result<u64, LedgerError>>;

    /// Keeps how it ended.
    fn end_program(&self, number: u64, end: ProgramEnd) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Forgets a program; says whether there was one.
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
