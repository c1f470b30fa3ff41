//! Programs that outlive us: desktop programs and the clipboard.
//!
//! They run in a session of their own, and only the user ends them. Only programs of the user's desktop are started this
//! way, never a program named by a caller.

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

/// The stage of our own program that detaches itself and executes the other one.
pub(super) const STAGE: &str = "let-go";

/// Maximum length of the first line.
const WORD_BYTES: u64 = 4_096;

/// Exit code of the stage if the program cannot be executed.
const NOT_STARTED: u8 = 127;

impl Supervisor {
    /// Starts a detached program. Waits up to `time_limit` for its exit status; `None` if it is still running. Uses only program,
    /// arguments, folder and variables of the order.
    pub async fn start_detached(
        &self,
        order: Order,
        time_limit: Duration,
    ) -> Result<Option<i32>, ProcessError> {
        let mut child = self.spawn_detached(&order, Stdio::null())?;
        drop(child.stdin.take());
        match tokio::time::timeout(time_limit, child.wait()).await {
            Ok(ended) => Ok(Some(ended.map_err(|source| self.unusable(source))?.code().unwrap_or(-1))),
            Err(_) => Ok(None),
        }
    }

    /// Starts a detached program, passes [`Order::input`], and waits for its first line; `None` if it prints none.
    pub async fn start_detached_until_ready(
        &self,
        order: Order,
        time_limit: Duration,
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
        match tokio::time::timeout(time_limit, heard).await {
            Ok(word) => Ok(Some(word.map_err(|source| self.unusable(source))?)),
            Err(_) => {
                // No output: it did not understand.
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

/// Executes the program in a session of its own.
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
    // Fails only for a group leader, which has no terminal to lose.
    let _ = rustix::process::setsid();
    // There is nowhere to report an error.
    drop(std::process::Command::new(program).args(arguments).exec());
    NOT_STARTED
}

/// Closes our standard streams, so that no reader waits for them.
///
/// # Errors
/// If the system refuses.
pub(crate) fn forget_streams() -> io::Result<()> {
    let nothing = nothing()?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok(rustix::stdio::dup2_stderr(&nothing)?)
}
