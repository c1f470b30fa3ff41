//! The table of running and ended background programs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::error::BackgroundError;
use super::log_page::{LogPage, count};
use crate::process::{CapturedOutput, Order, OutputStream, ProcessError, ProgramEnd, Running, Supervisor};

/// Maximum number of running programs.
const MOST_RUNNING: usize = 16;

/// Maximum number of ended programs; the oldest are forgotten first.
const MOST_ENDED: usize = 32;

/// A bounded table of programs. Each is visible to its owner only. Dropping the table ends them all.
#[derive(Debug)]
pub struct Background {
    supervisor: Supervisor,
    /// Locked only to look at the table.
    table: Mutex<Table>,
}

/// A program to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProgram {
    /// Its unique number.
    pub id: u64,
    /// The only owner who can see it.
    pub owner: String,
    /// The conversation it ends with, if any.
    pub conversation: Option<String>,
    /// The command, for display.
    pub command: String,
}

#[derive(Debug, Default)]
struct Table {
    programs: BTreeMap<u64, BackgroundProgram>,
    /// Slots of programs that are being started.
    reserved: usize,
}

#[derive(Debug)]
struct BackgroundProgram {
    commission: NewProgram,
    began: Instant,
    newlines: Arc<AtomicU64>,
    state: State,
    /// Whether the caller has noted its end.
    is_noted: bool,
}

#[derive(Debug)]
enum State {
    Running(Arc<Running>),
    Ended(Arc<Result<ProgramEnd, ProcessError>>),
}

/// The current state of a program.
#[derive(Debug, Clone)]
pub struct ProgramStatus {
    /// Its number in the table.
    pub id: u64,
    /// The command.
    pub command: String,
    /// How long it has run, or ran.
    pub duration: Duration,
    /// Bytes printed so far, captured or not.
    pub stdout_bytes: u64,
    /// How it ended; `None` while it runs.
    pub end: Option<Arc<Result<ProgramEnd, ProcessError>>>,
}

/// The output of a program so far.
#[derive(Debug, Clone)]
pub struct Log {
    /// The program.
    pub program: ProgramStatus,
    /// The requested lines of standard output.
    pub stdout: LogPage,
    /// The captured standard error.
    pub stderr: CapturedOutput,
}

impl Background {
    /// An empty table.
    #[must_use]
    pub fn new(supervisor: Supervisor) -> Self {
        Self { supervisor, table: Mutex::default() }
    }

    /// Starts a program.
    pub async fn start(&self, commission: NewProgram, order: Order) -> Result<(), BackgroundError> {
        // The slot is released in any case.
        let _place = Reservation::reserve(self)?;
        let newlines = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&newlines);
        let observer = move |stream, bytes: &[u8]| {
            if stream == OutputStream::Stdout {
                counted.fetch_add(count(bytes), Ordering::Relaxed);
            }
        };
        let running = Arc::new(self.supervisor.start_observed(order, observer).await?);
        let (id, state) = (commission.id, State::Running(running));
        let program =
            BackgroundProgram { commission, began: Instant::now(), newlines, state, is_noted: false };
        self.table().programs.insert(id, program);
        Ok(())
    }

    /// All programs of an owner, oldest first.
    #[must_use]
    pub fn list(&self, owner: &str) -> Vec<ProgramStatus> {
        let table = self.table();
        let own = table.programs.iter().filter(|(_, program)| program.commission.owner == owner);
        own.map(|(_, program)| program.status()).collect()
    }

    /// Ended programs whose end is not [noted](Self::note) yet.
    #[must_use]
    pub fn news(&self) -> Vec<ProgramStatus> {
        let table = self.table();
        let new = table.programs.values().filter(|program| program.has_ended() && !program.is_noted);
        new.map(BackgroundProgram::status).collect()
    }

    /// Marks the end of a program as noted.
    pub fn note(&self, id: u64) {
        if let Some(program) = self.table().programs.get_mut(&id) {
            program.is_noted = true;
        }
    }

    /// The conversations that have programs.
    #[must_use]
    pub fn conversations(&self) -> BTreeSet<String> {
        let table = self.table();
        table.programs.values().filter_map(|program| program.commission.conversation.clone()).collect()
    }

    /// Ends the programs of a conversation with all their descendants, without waiting, and forgets them. Returns their
    /// numbers.
    pub fn close(&self, conversation: &str) -> Vec<u64> {
        let is_meant =
            |program: &BackgroundProgram| program.commission.conversation.as_deref() == Some(conversation);
        let closed = self.table().programs.extract_if(.., |_, program| is_meant(program)).collect::<Vec<_>>();
        let stopped = closed.into_iter().map(|(id, program)| {
            if let State::Running(running) = &program.state {
                running.stop();
            }
            id
        });
        stopped.collect()
    }

    /// The output of a program: `limit` lines from line `offset` on.
    pub fn log(&self, owner: &str, id: u64, offset: u64, limit: u64) -> Result<Log, BackgroundError> {
        let table = self.table();
        let program = table.program(owner, id)?;
        let newlines = program.newlines.load(Ordering::Relaxed);
        Ok(Log {
            program: program.status(),
            stdout: LogPage::new(&program.output(OutputStream::Stdout), newlines, offset, limit),
            stderr: program.output(OutputStream::Stderr),
        })
    }

    /// Ends a program with all its descendants, and waits for the end.
    pub async fn stop(&self, owner: &str, id: u64) -> Result<ProgramStatus, BackgroundError> {
        let running = match &self.table().program(owner, id)?.state {
            State::Running(running) => Some(Arc::clone(running)),
            State::Ended(_) => None,
        };
        if let Some(running) = running {
            running.stop();
            // Its status says how it ended.
            drop(running.wait().await);
        }
        let table = self.table();
        Ok(table.program(owner, id)?.status())
    }

    /// Forgets a program that has ended.
    pub fn remove(&self, owner: &str, id: u64) -> Result<(), BackgroundError> {
        let mut table = self.table();
        if !table.program(owner, id)?.has_ended() {
            return Err(BackgroundError::Running { id });
        }
        table.programs.remove(&id);
        Ok(())
    }

    /// The locked table, after releasing ended programs and forgetting the oldest.
    fn table(&self) -> MutexGuard<'_, Table> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        table.settle();
        table
    }
}

impl Table {
    fn settle(&mut self) {
        for program in self.programs.values_mut() {
            if let State::Running(running) = &program.state
                && let Some(end) = running.ended()
            {
                program.state = State::Ended(Arc::new(end));
            }
        }
        let ended = self.programs.iter().filter(|(_, program)| program.has_ended());
        let ended: Vec<u64> = ended.map(|(id, _)| *id).collect();
        for id in ended.iter().take(ended.len().saturating_sub(MOST_ENDED)) {
            self.programs.remove(id);
        }
    }

    fn program(&self, owner: &str, id: u64) -> Result<&BackgroundProgram, BackgroundError> {
        let found = self.programs.get(&id).filter(|program| program.commission.owner == owner);
        found.ok_or(BackgroundError::Unknown { id })
    }

    fn running(&self) -> usize {
        self.programs.values().filter(|program| !program.has_ended()).count()
    }
}

impl BackgroundProgram {
    fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended(_))
    }

    fn status(&self) -> ProgramStatus {
        let (end, duration) = match &self.state {
            State::Running(_) => (None, self.began.elapsed()),
            State::Ended(end) => {
                let wall = end.as_ref().as_ref().map(|ended| ended.usage.wall);
                (Some(Arc::clone(end)), wall.unwrap_or_default())
            }
        };
        let stdout_bytes = match &self.state {
            State::Running(running) => running.printed_bytes(OutputStream::Stdout),
            State::Ended(end) => end.as_ref().as_ref().map_or(0, |ended| ended.stdout.total_bytes()),
        };
        let NewProgram { id, command, .. } = &self.commission;
        ProgramStatus { id: *id, command: command.clone(), duration, stdout_bytes, end }
    }

    fn output(&self, stream: OutputStream) -> CapturedOutput {
        match &self.state {
            State::Running(running) => running.output(stream),
            State::Ended(end) => match (end.as_ref(), stream) {
                (Ok(ended), OutputStream::Stdout) => ended.stdout.clone(),
                (Ok(ended), OutputStream::Stderr) => ended.stderr.clone(),
                (Err(_), _) => CapturedOutput::default(),
            },
        }
    }
}

/// A slot in the table for a program that is being started.
struct Reservation<'a>(&'a Background);

impl<'a> Reservation<'a> {
    fn reserve(background: &'a Background) -> Result<Self, BackgroundError> {
        let mut table = background.table();
        if table.running() + table.reserved >= MOST_RUNNING {
            return Err(BackgroundError::Full { most: MOST_RUNNING });
        }
        table.reserved += 1;
        Ok(Self(background))
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.0.table().reserved -= 1;
    }
}
