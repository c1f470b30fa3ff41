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

/// How many there are at most.
const MOST: usize = 16;

/// How long one that nobody uses is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// One shell for each conversation that uses one, started when it is needed. All end with this.
#[derive(Debug)]
pub struct Shells {
    supervisor: Supervisor,
    interpreter: Interpreter,
    most: usize,
    /// Held only while seats are looked for.
    seats: Mutex<HashMap<String, Arc<ConversationShell>>>,
}

/// The place of one conversation.
#[derive(Debug)]
struct ConversationShell {
    /// Held while a command runs: those of one conversation run one after another.
    shell: tokio::sync::Mutex<Shell>,
    used: Mutex<Instant>,
    closed: CancellationToken,
}

/// A shell, and what the one after it has to know.
#[derive(Debug, Default)]
struct Shell {
    session: Option<Session>,
    memory: ShellState,
}

impl Shells {
    /// None yet.
    #[must_use]
    pub fn new(supervisor: Supervisor, interpreter: Interpreter) -> Self {
        Self { supervisor, interpreter, most: MOST, seats: Mutex::default() }
    }

    /// The same with room for this many.
    #[must_use]
    pub fn at_most(mut self, most: usize) -> Self {
        self.most = most;
        self
    }

    /// Which shell they are.
    #[must_use]
    pub fn interpreter(&self) -> Interpreter {
        self.interpreter
    }

    /// How many conversations have one.
    #[must_use]
    pub fn count(&self) -> usize {
        self.seats().len()
    }

    /// Runs a command in the shell of a conversation, behind those that wait for it already. A shell that has to be
    /// started is started as `order` says, but for the program; also one that follows, in the same state, on one whose
    /// programs had another way to the network or could read what is hidden now. Giving this up ends the command with its shell.
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
        // Taken out: a shell whose command is given up is dropped with it.
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

    /// Ends the shell of a conversation, and whatever runs in it.
    pub fn close(&self, conversation: &str) {
        if let Some(seat) = self.seats().remove(conversation) {
            seat.closed.cancel();
        }
    }

    /// The conversations that have one.
    #[must_use]
    pub fn conversations(&self) -> BTreeSet<String> {
        self.seats().keys().cloned().collect()
    }

    async fn start(&self, order: Order, memory: &mut ShellState) -> Result<Session, ShellError> {
        let started = Session::start(&self.supervisor, self.interpreter, order.clone(), memory).await;
        if !matches!(started, Err(ProcessError::HelperLost)) {
            return Ok(started?);
        }
        // It runs and does not answer: perhaps what was remembered keeps it from it.
        *memory = ShellState::default();
        Ok(Session::start(&self.supervisor, self.interpreter, order, memory).await?)
    }

    /// The conversation's seat. Where there is none, one is made, if need be in the place of the one that was used
    /// least recently.
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
    /// Whether nobody runs a command here, or waits to: whoever does holds it, too.
    fn is_free(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }

    fn used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
