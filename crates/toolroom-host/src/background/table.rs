//! The programs that run in the background, and those that did.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::error::BackgroundError;
use super::log_page::{LogPage, count};
use crate::process::{CapturedOutput, Order, OutputStream, ProcessError, ProgramEnd, Running, Supervisor};

/// How many run at the same time.
const MOST_RUNNING: usize = 16;

/// How many that have ended are remembered; the oldest are forgotten first.
const MOST_ENDED: usize = 32;

/// A bounded table of programs, each with an owner who alone can see it. All end with this.
#[derive(Debug)]
pub struct Background {
    supervisor: Supervisor,
    /// Held only while the table is looked at.
    table: Mutex<Table>,
}

/// A program that is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProgram {
    /// Its number, which no other program has.
    pub id: u64,
    /// Who alone can see it.
    pub owner: String,
    /// The conversation it ends with, if there is one.
    pub conversation: Option<String>,
    /// What is told of it.
    pub command: String,
}

#[derive(Debug, Default)]
struct Table {
    programs: BTreeMap<u64, BackgroundProgram>,
    /// Places of programs that are just being started.
    reserved: usize,
}

#[derive(Debug)]
struct BackgroundProgram {
    commission: NewProgram,
    began: Instant,
    newlines: Arc<AtomicU64>,
    state: State,
    /// Whether somebody has noted its end.
    is_noted: bool,
}

#[derive(Debug)]
enum State {
    Running(Arc<Running>),
    Ended(Arc<Result<ProgramEnd, ProcessError>>),
}

/// A program as it is now.
#[derive(Debug, Clone)]
pub struct ProgramStatus {
    /// Its number in the table.
    pub id: u64,
    /// As it was given.
    pub command: String,
    /// How long it has run, or ran.
    pub duration: Duration,
    /// What it has printed until now, kept or not.
    pub stdout_bytes: u64,
    /// How it ended; `None` while it runs.
    pub end: Option<Arc<Result<ProgramEnd, ProcessError>>>,
}

/// What a program has printed until now.
#[derive(Debug, Clone)]
pub struct Log {
    /// The program.
    pub standing: ProgramStatus,
    /// The wanted lines of its standard output.
    pub stdout: LogPage,
    /// Everything that is kept of its errors.
    pub stderr: CapturedOutput,
}

impl Background {
    /// None yet.
    #[must_use]
    pub fn new(supervisor: Supervisor) -> Self {
        Self { supervisor, table: Mutex::default() }
    }

    /// Starts a program.
    pub async fn start(&self, commission: NewProgram, order: Order) -> Result<(), BackgroundError> {
        // Given back however this ends.
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

    /// All of an owner, oldest first.
    #[must_use]
    pub fn list(&self, owner: &str) -> Vec<ProgramStatus> {
        let table = self.table();
        let own = table.programs.iter().filter(|(_, program)| program.commission.owner == owner);
        own.map(|(_, program)| program.standing()).collect()
    }

    /// Those that have ended, until their end is [noted](Self::note).
    #[must_use]
    pub fn news(&self) -> Vec<ProgramStatus> {
        let table = self.table();
        let new = table.programs.values().filter(|program| program.has_ended() && !program.is_noted);
        new.map(BackgroundProgram::standing).collect()
    }

    /// The end of this one is no news any more.
    pub fn note(&self, id: u64) {
        if let Some(program) = self.table().programs.get_mut(&id) {
            program.is_noted = true;
        }
    }

    /// The conversations that have programs here.
    #[must_use]
    pub fn conversations(&self) -> BTreeSet<String> {
        let table = self.table();
        table.programs.values().filter_map(|program| program.commission.conversation.clone()).collect()
    }

    /// Ends the programs of a conversation with everything they started, and forgets them. Nobody waits for that. Gives
    /// their numbers.
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

    /// What one has printed: `limit` lines from line `offset` on.
    pub fn log(&self, owner: &str, id: u64, offset: u64, limit: u64) -> Result<Log, BackgroundError> {
        let table = self.table();
        let program = table.program(owner, id)?;
        let newlines = program.newlines.load(Ordering::Relaxed);
        Ok(Log {
            standing: program.standing(),
            stdout: LogPage::of(&program.output(OutputStream::Stdout), newlines, offset, limit),
            stderr: program.output(OutputStream::Stderr),
        })
    }

    /// Ends one with everything it started, and waits for that.
    pub async fn stop(&self, owner: &str, id: u64) -> Result<ProgramStatus, BackgroundError> {
        let running = match &self.table().program(owner, id)?.state {
            State::Running(running) => Some(Arc::clone(running)),
            State::Ended(_) => None,
        };
        if let Some(running) = running {
            running.stop();
            // How it ended is told by its standing.
            drop(running.wait().await);
        }
        let table = self.table();
        Ok(table.program(owner, id)?.standing())
    }

    /// Forgets one that has ended.
    pub fn remove(&self, owner: &str, id: u64) -> Result<(), BackgroundError> {
        let mut table = self.table();
        if !table.program(owner, id)?.has_ended() {
            return Err(BackgroundError::Running { id });
        }
        table.programs.remove(&id);
        Ok(())
    }

    /// The table, up to date: who has ended is let go of, and too many of those are forgotten.
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

    fn standing(&self) -> ProgramStatus {
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

/// A place in the table, before there is a program.
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
