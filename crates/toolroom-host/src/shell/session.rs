//! One shell session.

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
use super::script::{command_script, quoted};
use crate::process::{
    CapturedOutput, Cause, Order, ProcessError, ProgramEnd, Running, Status, StdinSocket, Supervisor,
};
use crate::sandbox::Confinement;

/// Maximum length of a command; also the system's limit for a shell that runs one command.
const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

/// Timeout of a new shell. If its restored state keeps it from answering, it is ended.
const READY: Duration = Duration::from_secs(5);

/// A command for a shell.
#[derive(Debug, Clone)]
pub struct Command {
    /// The command line.
    pub text: String,
    /// Changes the folder first, permanently.
    pub folder: Option<PathBuf>,
    /// Environment variables for this command only.
    pub variables: Vec<(String, OsString)>,
    /// Its timeout.
    pub wall: Duration,
    /// Its deadline, including the time it waits.
    pub until: Instant,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandEnd {
    /// It finished with this exit code, and its shell is ready for the next one.
    Done(i32),
    /// Its shell ended with it.
    ShellEnded(Status, Cause),
    /// It timed out, and was ended with its shell.
    OutOfTime,
}

/// The result of a command.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// How it ended.
    pub end: CommandEnd,
    /// The last known folder of the shell.
    pub folder: Option<PathBuf>,
    /// Standard output, including that of background processes of earlier commands.
    pub stdout: CapturedOutput,
    /// Standard error, likewise.
    pub stderr: CapturedOutput,
}

/// The state passed to the next shell.
#[derive(Debug, Clone, Default)]
pub(super) struct ShellState {
    pub(super) folder: Option<PathBuf>,
    state: Option<Vec<u8>>,
}

/// A shell. Dropping it ends it with all its processes.
#[derive(Debug)]
pub(super) struct Session {
    interpreter: Interpreter,
    running: Running,
    line: StdinSocket,
    /// The confinement of its programs.
    confinement: Option<Confinement>,
}

impl Command {
    /// Refuses commands that cannot be sent.
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
    /// Starts a shell as ordered, with the stored state.
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
                // The stored state is optional: an error in it must not prevent the start.
                exchange(&mut session.line, interpreter, b"", &[]).await
            };
            let is_ready = matches!(tokio::time::timeout(READY, ready).await, Ok(Ok(_)));
            // Messages about read-only variables are dropped.
            if !is_ready || session.running.turn_page().await.is_none() {
                return Err(ProcessError::HelperLost);
            }
        }
        Ok(session)
    }

    /// Whether it accepts another command.
    pub(super) fn is_alive(&self) -> bool {
        self.running.ended().is_none()
    }

    /// Whether its programs have the same network access as those of a new shell, and can read no more. The proxy and the
    /// hidden files of a running sandbox cannot be changed.
    pub(super) fn fits(&self, order: &Order) -> bool {
        let both = self.confinement.as_ref().zip(order.confinement.as_ref());
        way_out(self.confinement.as_ref()) == way_out(order.confinement.as_ref())
            && both.is_none_or(|(ours, newer)| ours.hides_all_of(newer))
    }

    /// Runs one command. After a cancellation the session must be dropped.
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
                SessionReply::Reported(Report { code: 0, folder, .. }) => memory.folder = folder,
                SessionReply::Reported(_) => {
                    // The messages of the shell are replaced by better ones below.
                    drop(self.running.turn_page().await);
                    return Err(ShellError::Folder { folder: folder.display().to_string() });
                }
                SessionReply::Ended(..) => {}
            }
        }
        match self.step(command.text.as_bytes(), &command.variables, until, closed).await? {
            SessionReply::Reported(report) => {
                let Some((stdout, stderr)) = self.running.turn_page().await else {
                    // Both at once: it reported, and was ended.
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
            SessionReply::Ended(end, ended) => {
                let folder = memory.folder.clone();
                if end != CommandEnd::OutOfTime {
                    // The command itself ended the shell; the next shell is a new one.
                    *memory = ShellState::default();
                }
                Ok(outcome(end, folder, ended))
            }
        }
    }

    /// Sends a message and waits for the report, the end of the shell, or the deadline.
    async fn step(
        &mut self,
        text: &[u8],
        variables: &[(String, OsString)],
        until: Instant,
        closed: &CancellationToken,
    ) -> Result<SessionReply, ShellError> {
        let report = async {
            match exchange(&mut self.line, self.interpreter, text, variables).await {
                Ok(report) => report,
                // The shell has ended, or executed another program: wait for that one.
                Err(_) => std::future::pending().await,
            }
        };
        let is_late = tokio::select! {
            biased;
            report = report => return Ok(SessionReply::Reported(report)),
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
        Ok(SessionReply::Ended(end, ended))
    }
}

fn way_out(confinement: Option<&Confinement>) -> Option<&PathBuf> {
    confinement?.proxy.as_ref()
}

/// The response to a message.
enum SessionReply {
    Reported(Report),
    Ended(CommandEnd, ProgramEnd),
}

/// Sends a message and reads the report.
async fn exchange(
    line: &mut StdinSocket,
    interpreter: Interpreter,
    text: &[u8],
    variables: &[(String, OsString)],
) -> io::Result<Report> {
    let word = fresh_word()?;
    let mut reading = ReportReader::new(&word);
    line.write_all(&command_script(interpreter, &word, text, variables)).await?;
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
    // The status is read afterwards.
    drop(running.wait().await);
}

fn outcome(end: CommandEnd, folder: Option<PathBuf>, ended: ProgramEnd) -> Outcome {
    Outcome { end, folder, stdout: ended.stdout, stderr: ended.stderr }
}

fn entering(folder: &Path) -> Vec<u8> {
    [b"command cd -- ".to_vec(), quoted(folder.as_os_str().as_bytes())].concat()
}

/// A random word that output cannot guess.
fn fresh_word() -> io::Result<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(hex::encode(random))
}
