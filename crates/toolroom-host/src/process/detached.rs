//! Programs that go on when we end: what a person is shown, and what is kept for them.
//!
//! They have a session of their own and are nobody's to end but the person's. Only what the person's own desktop brings
//! is started so, never what somebody ordered by name.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::SigSet;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::error::ProcessError;
use super::helper::{SUBCOMMAND, close_strays, nothing};
use super::order::Order;
use super::supervisor::Supervisor;

/// The stage of our own program that lets go of us and becomes the other one.
pub(super) const STAGE: &str = "let-go";

/// The longest word that is listened to.
const WORD_BYTES: u64 = 4_096;

/// How the stage ends when it cannot become the program.
const NOT_STARTED: u8 = 127;

impl Supervisor {
    /// Starts a program that goes on without us. Waits at most so long to see whether it ends, and with which status:
    /// nothing, if it does not. Of an order only program, arguments, folder and variables count.
    pub async fn start_detached(
        &self,
        order: Order,
        patience: Duration,
    ) -> Result<Option<i32>, ProcessError> {
        let mut child = self.spawn_detached(&order, Stdio::null())?;
        drop(child.stdin.take());
        match tokio::time::timeout(patience, child.wait()).await {
            Ok(ended) => Ok(Some(ended.map_err(|source| self.unusable(source))?.code().unwrap_or(-1))),
            Err(_) => Ok(None),
        }
    }

    /// Starts a program that goes on without us, gives it [`Order::input`], and waits at most so long for its first line.
    /// Nothing, if it says none.
    pub async fn start_detached_until_ready(
        &self,
        order: Order,
        patience: Duration,
    ) -> Result<Option<String>, ProcessError> {
        let mut child = self.spawn_detached(&order, Stdio::piped())?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let heard = async {
            if let Some(mut input) = input {
                input.write_all(&order.input).await?;
                input.shutdown().await?;
            }
            let mut word = Vec::new();
            if let Some(output) = output {
                let mut output = output.take(WORD_BYTES);
                while !word.contains(&b'\n') && output.read_buf(&mut word).await? > 0 {}
            }
            io::Result::Ok(String::from_utf8_lossy(&word).trim_end().to_owned())
        };
        match tokio::time::timeout(patience, heard).await {
            Ok(word) => Ok(Some(word.map_err(|source| self.unusable(source))?)),
            Err(_) => {
                // Whoever does not speak has not understood.
                drop(child.start_kill());
                Ok(None)
            }
        }
    }

    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "this is the door: a program of the desktop is started"
    )]
    fn spawn_detached(&self, order: &Order, output: Stdio) -> Result<tokio::process::Child, ProcessError> {
        order.check()?;
        let mut command = tokio::process::Command::new(self.helper());
        command.arg0("toolroom").arg(SUBCOMMAND).arg(STAGE).arg(&order.program).args(&order.arguments);
        command.env_clear().envs(order.variables.iter()).current_dir(&order.folder);
        command.stdin(Stdio::piped()).stdout(output).stderr(Stdio::null());
        command.spawn().map_err(|source| self.unusable(source))
    }
}

/// Becomes the program, in a session of its own.
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door: a program of the desktop is started"
)]
pub(super) fn begin(mut arguments: impl Iterator<Item = OsString>) -> u8 {
    let Some(program) = arguments.next() else { return NOT_STARTED };
    if close_strays().is_err() || SigSet::empty().thread_set_mask().is_err() {
        return NOT_STARTED;
    }
    // Fails only for whoever leads a group already, and then there is no terminal to lose.
    let _ = rustix::process::setsid();
    // What could be said here has nobody to hear it.
    drop(std::process::Command::new(program).args(arguments).exec());
    NOT_STARTED
}

/// Closes our standard streams, so that nobody waits for what we might still say.
///
/// # Errors
/// When the system refuses.
pub(crate) fn forget_streams() -> io::Result<()> {
    let nothing = nothing()?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(rustix::stdio::dup2_stderr(&nothing)?)
}
