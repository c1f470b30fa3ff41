//! The shells of all conversations.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::error::ShellError;
use super::interpreter::Interpreter;
use super::session::{Command, Outcome, Session, ShellState};
use crate::process::{Order, ProcessError, Supervisor};

/// Maximum number of shells.
const MAX_SHELLS: usize = 16;

/// How long an unused shell is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// One shell per conversation, started on first use. Dropping this ends them all.
#[derive(Debug)]
pub struct Shells {
    supervisor: Supervisor,
    interpreter: Interpreter,
    most: usize,
    /// Locked only to look up entries.
    seats: Mutex<HashMap<String, Arc<ConversationShell>>>,
}

/// The shell of one conversation.
#[derive(Debug)]
struct ConversationShell {
    /// Held while a command runs: commands of one conversation run one after another.
    shell: tokio::sync::Mutex<Shell>,
    used: Mutex<Instant>,
    closed: CancellationToken,
}

/// A shell, and the state for its successor.
#[derive(Debug, Default)]
struct Shell {
    session: Option<Session>,
    memory: ShellState,
}

impl Shells {
    /// No shells yet.
    #[must_use]
    pub fn new(supervisor: Supervisor, interpreter: Interpreter) -> Self {
        Self { supervisor, interpreter, most: MAX_SHELLS, seats: Mutex::default() }
    }

    /// Sets the maximum number of shells.
    #[must_use]
    pub fn with_maximum(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// The interpreter.
    #[must_use]
    pub fn interpreter(&self) -> Interpreter {
        self.interpreter
    }

    /// Number of conversations with a shell.
    #[must_use]
    pub fn count(&self) -> usize {
        self.seats().len()
    }

    /// Runs a command in the shell of a conversation, after those already waiting. Starts a shell as in `order` if needed;
    /// also replaces one with another proxy or access to files that are hidden now, keeping its state. Cancelling ends the
    /// command with its shell.
    pub async fn run(
        &self,
        conversation: &str,
        order: Order,
        command: &Command,
    ) -> Result<Outcome, ShellError> {
        command.check()?;
        let seat = self.seat(conversation)?;
        let shell = tokio::select! {
            shell = tokio::time::timeout_at(command.until, seat.shell.lock()) => shell,
            () = seat.closed.cancelled() => return Err(ShellError::Closed),
        };
        let mut shell = shell.map_err(|_| ShellError::Busy)?;
        // Taken out, so that a cancelled command drops its shell.
        let mut session =
            match shell.session.take().filter(|session| session.is_alive() && session.fits(&order)) {
                Some(session) => session,
                None => self.start(order, &mut shell.memory).await?,
            };
        let outcome = session.run(command, &mut shell.memory, &seat.closed).await;
        if session.is_alive() && !seat.closed.is_cancelled() {
            shell.session = Some(session);
        }
        *seat.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        outcome
    }

    /// Ends the shell of a conversation with all its processes.
    pub fn close(&self, conversation: &str) {
        if let Some(seat) = self.seats().remove(conversation) {
            seat.closed.cancel();
        }
    }

    /// The conversations with a shell.
    #[must_use]
    pub fn conversations(&self) -> BTreeSet<String> {
        self.seats().keys().cloned().collect()
    }

    async fn start(&self, order: Order, memory: &mut ShellState) -> Result<Session, ShellError> {
        let started = Session::start(&self.supervisor, self.interpreter, order.clone(), memory).await;
        if !matches!(started, Err(ProcessError::HelperLost)) {
            return Ok(started?);
        }
        // It runs and does not answer: the restored state may be the cause.
        *memory = ShellState::default();
        Ok(Session::start(&self.supervisor, self.interpreter, order, memory).await?)
    }

    /// The entry of the conversation. Creates one if missing, replacing the least recently used one if necessary.
    fn seat(&self, conversation: &str) -> Result<Arc<ConversationShell>, ShellError> {
        let mut seats = self.seats();
        let now = Instant::now();
        seats.retain(|name, seat| name == conversation || !seat.is_free() || now - seat.used() < IDLE);
        if let Some(seat) = seats.get(conversation) {
            return Ok(Arc::clone(seat));
        }
        if seats.len() >= self.most {
            let free = seats.iter().filter(|(_, seat)| seat.is_free());
            let oldest = free.min_by_key(|(_, seat)| seat.used()).map(|(name, _)| name.clone());
            seats.remove(&oldest.ok_or(ShellError::Full { most: self.most })?);
        }
        let seat = Arc::new(ConversationShell {
            shell: tokio::sync::Mutex::default(),
            used: Mutex::new(now),
            closed: CancellationToken::new(),
        });
        seats.insert(conversation.to_owned(), Arc::clone(&seat));
        Ok(seat)
    }

    fn seats(&self) -> MutexGuard<'_, HashMap<String, Arc<ConversationShell>>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConversationShell {
    /// Whether no command runs or waits here: each holds a reference.
    fn is_free(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
