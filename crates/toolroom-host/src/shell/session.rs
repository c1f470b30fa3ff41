//! One shell that takes commands until it ends.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::error::ShellError;
use super::interpreter::Interpreter;
use super::report::{Report, ReportReader};
use super::script::{quoted, told};
use crate::process::{
    CapturedOutput, Cause, Order, ProcessError, ProgramEnd, Running, Status, StdinSocket, Supervisor,
};
use crate::sandbox::Confinement;

/// What can be typed at once. The system takes no longer word for a shell that runs one command, either.
const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

/// How long a new shell may take before it is ready. One whose state keeps it from answering is given up.
const READY: Duration = Duration::from_secs(5);

/// What a shell is to do.
#[derive(Debug, Clone)]
pub struct Command {
    /// As it would be typed.
    pub text: String,
    /// Where to go first, and to stay.
    pub folder: Option<PathBuf>,
    /// For this command only.
    pub variables: Vec<(String, OsString)>,
    /// How long it may take.
    pub wall: Duration,
    /// When it has to be done, even if it began late.
    pub until: Instant,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// It is done, with this code, and its shell waits for the next one.
    Done(i32),
    /// Its shell has ended with it.
    ShellEnded(Status, Cause),
    /// It took too long, and was ended with its shell.
    OutOfTime,
}

/// What came of a command.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub end: CommandEnd,
    /// Where the shell is, or was when it was last known.
    pub folder: Option<PathBuf>,
    /// What was printed, also by what earlier commands had left running.
    pub stdout: CapturedOutput,
    /// The same for errors.
    pub stderr: CapturedOutput,
}

/// What the next shell has to know to go on.
#[derive(Debug, Clone, Default)]
pub(super) struct ShellState {
    pub(super) folder: Option<PathBuf>,
    state: Option<Vec<u8>>,
}

/// A shell. Dropping it ends it, and everything it started.
#[derive(Debug)]
pub(super) struct Session {
    interpreter: Interpreter,
    running: Running,
    line: StdinSocket,
    /// What its programs are confined to.
    confinement: Option<Confinement>,
}

impl Command {
    /// Refuses what no shell could be given.
    pub(super) fn check(&self) -> Result<(), ShellError> {
        if self.text.len() > MAX_COMMAND_BYTES {
            return Err(ShellError::TooLong { max: MAX_COMMAND_BYTES });
        }
        if self.text.as_bytes().contains(&0) {
            return Err(ShellError::ZeroByte);
        }
        Ok(())
    }
}

impl Session {
    /// Starts one as ordered, like the one that is remembered.
    pub(super) async fn start(
        supervisor: &Supervisor,
        interpreter: Interpreter,
        order: Order,
        memory: &ShellState,
    ) -> Result<Self, ProcessError> {
        let confinement = order.confinement.clone();
        let (running, line) = supervisor.start_with_socket(interpreter.lasting(order)).await?;
        let mut session = Self { interpreter, running, line, confinement };
        let mut first = memory.state.clone().unwrap_or_default();
        if let Some(folder) = &memory.folder {
            first.extend_from_slice(b"\n");
            first.extend(entering(folder));
        }
        if !first.is_empty() {
            let ready = async {
                exchange(&mut session.line, interpreter, &first, &[]).await?;
                // What was remembered may only be in the way of whatever follows it.
                exchange(&mut session.line, interpreter, b"", &[]).await
            };
            let is_ready = matches!(tokio::time::timeout(READY, ready).await, Ok(Ok(_)));
            // What had to be said about variables that cannot be set is nobody's business.
            if !is_ready || session.running.turn_page().await.is_none() {
                return Err(ProcessError::HelperLost);
            }
        }
        Ok(session)
    }

    /// Whether it takes another command.
    pub(super) fn is_alive(&self) -> bool {
        self.running.ended().is_none()
    }

    /// Whether programs get out where one that is started now would, and read no more. A sandbox that is there cannot be
    /// given another way, nor hide more.
    pub(super) fn fits(&self, order: &Order) -> bool {
        let both = self.confinement.as_ref().zip(order.confinement.as_ref());
        way_out(self.confinement.as_ref()) == way_out(order.confinement.as_ref())
            && both.is_none_or(|(ours, newer)| ours.hides_all_of(newer))
    }

    /// Runs one command. Whoever gives this up must drop the session, too.
    pub(super) async fn run(
        &mut self,
        command: &Command,
        memory: &mut ShellState,
        closed: &CancellationToken,
    ) -> Result<Outcome, ShellError> {
        let until = command.until.min(Instant::now() + command.wall);
        if let Some(folder) = &command.folder {
            let entered = self.step(&entering(folder), &[], until, closed).await?;
            match entered {
                Reply::Reported(Report { code: 0, folder, .. }) => memory.folder = folder,
                Reply::Reported(_) => {
                    // What the shell says about it is said better below.
                    drop(self.running.turn_page().await);
                    return Err(ShellError::Folder { folder: folder.display().to_string() });
                }
                Reply::Ended(..) => {}
            }
        }
        match self.step(command.text.as_bytes(), &command.variables, until, closed).await? {
            Reply::Reported(report) => {
                let Some((stdout, stderr)) = self.running.turn_page().await else {
                    // Both at once: it reported, and something ended it.
                    let ended = self.running.wait().await?;
                    return Ok(outcome(CommandEnd::Done(report.code), report.folder, ended));
                };
                *memory = ShellState { folder: report.folder, state: report.state };
                Ok(Outcome {
                    end: CommandEnd::Done(report.code),
                    folder: memory.folder.clone(),
                    stdout,
                    stderr,
                })
            }
            Reply::Ended(end, ended) => {
                let folder = memory.folder.clone();
                if end != CommandEnd::OutOfTime {
                    // It did so itself, and gets what it wanted: the next shell is a new one.
                    *memory = ShellState::default();
                }
                Ok(outcome(end, folder, ended))
            }
        }
    }

    /// Says one thing to the shell and waits for its report, its end, or the time.
    async fn step(
        &mut self,
        text: &[u8],
        variables: &[(String, OsString)],
        until: Instant,
        closed: &CancellationToken,
    ) -> Result<Reply, ShellError> {
        let report = async {
            match exchange(&mut self.line, self.interpreter, text, variables).await {
                Ok(report) => report,
                // The shell is gone, or became another program: that one is waited for.
                Err(_) => std::future::pending().await,
            }
        };
        let is_late = tokio::select! {
            biased;
            report = report => return Ok(Reply::Reported(report)),
            () = wait(&self.running) => false,
            () = closed.cancelled() => return Err(ShellError::Closed),
            () = tokio::time::sleep_until(until) => true,
        };
        if is_late {
            self.running.stop();
        }
        let ended = self.running.wait().await?;
        let end =
            if is_late { CommandEnd::OutOfTime } else { CommandEnd::ShellEnded(ended.status, ended.cause) };
        Ok(Reply::Ended(end, ended))
    }
}

fn way_out(confinement: Option<&Confinement>) -> Option<&PathBuf> {
    confinement?.proxy.as_ref()
}

/// What followed on something that was said.
enum Reply {
    Reported(Report),
    Ended(CommandEnd, ProgramEnd),
}

/// Says one thing and hears the report.
async fn exchange(
    line: &mut StdinSocket,
    interpreter: Interpreter,
    text: &[u8],
    variables: &[(String, OsString)],
) -> io::Result<Report> {
    let word = fresh_word()?;
    let mut reading = ReportReader::of(&word);
    line.write_all(&told(interpreter, &word, text, variables)).await?;
    let mut piece = vec![0; 16 * 1024];
    loop {
        match line.read(&mut piece).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                if let Some(report) = reading.push(piece.get(..count).unwrap_or_default()) {
                    return Ok(report);
                }
            }
        }
    }
}

async fn wait(running: &Running) {
    // What it was is asked for afterwards.
    drop(running.wait().await);
}

fn outcome(end: CommandEnd, folder: Option<PathBuf>, ended: ProgramEnd) -> Outcome {
    Outcome { end, folder, stdout: ended.stdout, stderr: ended.stderr }
}

fn entering(folder: &Path) -> Vec<u8> {
    [b"command cd -- ".to_vec(), quoted(folder.as_os_str().as_bytes())].concat()
}

/// A word that nothing printed can guess.
fn fresh_word() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(hex::encode(random))
}
