//! Starts programs.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::end::ProgramEnd;
use super::error::ProcessError;
use super::helper::SUBCOMMAND;
use super::helper_session::{ControlSocket, HelperSession, HelperTimeouts, Observer, StartRequest};
use super::order::Order;
use super::output::OutputStream;
use super::running::{OutputBuffers, Running};
use super::stdin_socket::{self, ProgramInput, StdinSocket};
use super::wire::{HelperMessage, StartStep};

/// Starts programs, each under its own helper.
#[derive(Debug, Clone)]
pub struct Supervisor {
    helper: PathBuf,
}

impl Supervisor {
    /// `helper` is a program that calls [`super::helper_main`] if its first argument is [`SUBCOMMAND`].
    pub fn new(helper: impl Into<PathBuf>) -> Self {
        Self { helper: helper.into() }
    }

    /// Starts a program. It runs, and its output is captured, until the handle is dropped.
    pub async fn start(&self, order: Order) -> Result<Running, ProcessError> {
        self.start_observed(order, |_, _| ()).await
    }

    /// Starts a program and passes its output to `observer`, which must not block.
    pub async fn start_observed(
        &self,
        order: Order,
        observer: impl FnMut(OutputStream, &[u8]) + Send + 'static,
    ) -> Result<Running, ProcessError> {
        self.start_with(order, None, Box::new(observer)).await
    }

    /// Starts a program with a socket as standard input, instead of [`Order::input`].
    pub(crate) async fn start_with_socket(
        &self,
        order: Order,
    ) -> Result<(Running, StdinSocket), ProcessError> {
        let (ours, theirs) = stdin_socket::pair().map_err(|source| self.unusable(source))?;
        Ok((self.start_with(order, Some(theirs), Box::new(|_, _| ())).await?, ours))
    }

    /// Starts an interactive program: its standard input is the [`ProgramInput`] instead of [`Order::input`], and its output
    /// is passed to `observer`, which must not block.
    pub async fn start_interactive(
        &self,
        order: Order,
        observer: impl FnMut(OutputStream, &[u8]) + Send + 'static,
    ) -> Result<(Running, ProgramInput), ProcessError> {
        let (ours, theirs) = stdin_socket::pair().map_err(|source| self.unusable(source))?;
        Ok((self.start_with(order, Some(theirs), Box::new(observer)).await?, ProgramInput(ours)))
    }

    async fn start_with(
        &self,
        order: Order,
        line: Option<OwnedFd>,
        observer: Observer,
    ) -> Result<Running, ProcessError> {
        order.check()?;
        let (child, control_socket) = self.start_helper().map_err(|source| self.unusable(source))?;
        let (tell, end) = watch::channel(None);
        let (tell_started, started) = oneshot::channel();
        let (stop, gone) = (CancellationToken::new(), CancellationToken::new());
        // Each page is awaited by its requester.
        let (page_turns, turns) = mpsc::channel(1);
        let output = Arc::new(OutputBuffers::new(order.kept_bytes));
        let keeper = HelperSession {
            output: Arc::clone(&output),
            observer,
            stop: stop.clone(),
            gone: gone.clone(),
            max_output: order.limits.output_bytes,
            time_limit: HelperTimeouts { wall: order.limits.wall, grace: order.grace },
            page_turns: turns,
            printed: 0,
        };
        // From here on, dropping this future or the handle makes the task end everything.
        let lifeguard = gone.drop_guard();
        let greeting = StartRequest::new(&order, line).map_err(|source| self.unusable(source))?;
        tokio::spawn(async move {
            let ended = keeper.keep(child, control_socket, greeting, tell_started).await;
            tell.send_replace(Some(ended));
        });
        let started = started.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        match started.map_err(|source| self.unusable(source))? {
            HelperMessage::Started(pid) => {
                Ok(Running { pid, output, stop, page_turns, end, _guard: lifeguard })
            }
            HelperMessage::NotStarted(step, code) => Err(not_started(&order, step, code)),
            HelperMessage::NotConfined(reason) => Err(ProcessError::Confinement { reason }),
            HelperMessage::Ended { .. } => Err(self.unusable(io::ErrorKind::InvalidData.into())),
        }
    }

    /// Runs a program to its end, or until `cancel`. The output so far is in the result.
    pub async fn run(&self, order: Order, cancel: &CancellationToken) -> Result<ProgramEnd, ProcessError> {
        if cancel.is_cancelled() {
            return Err(ProcessError::Cancelled);
        }
        let running = self.start(order).await?;
        tokio::select! {
            ended = running.wait() => return ended,
            () = cancel.cancelled() => running.stop(),
        }
        running.wait().await
    }

    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "this is the door: the helper is started"
    )]
    fn start_helper(&self) -> io::Result<(Child, ControlSocket)> {
        let (ours, theirs) = ControlSocket::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        let mut command = tokio::process::Command::new(&self.helper);
        // An empty environment: programs could read it from their parent.
        command.arg0("toolroom").arg(SUBCOMMAND).env_clear().current_dir("/");
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok((command.spawn()?, ours))
    }

    pub(super) fn helper(&self) -> &Path {
        &self.helper
    }

    pub(super) fn unusable(&self, source: io::Error) -> ProcessError {
        ProcessError::Helper { helper: self.helper.clone(), source: Arc::new(source) }
    }
}

fn not_started(order: &Order, step: StartStep, code: i32) -> ProcessError {
    let source = io::Error::from_raw_os_error(code);
    let program = order.program.to_string_lossy().into_owned();
    match step {
        StartStep::Prepare => ProcessError::Preparation { source: Arc::new(source) },
        StartStep::EnterFolder => {
            ProcessError::Folder { folder: Path::to_owned(&order.folder), source: Arc::new(source) }
        }
        StartStep::Confine => ProcessError::Confinement { reason: source.to_string() },
        StartStep::Execute if source.kind() == io::ErrorKind::NotFound => ProcessError::NotFound { program },
        StartStep::Execute => ProcessError::NotStarted { program, source: Arc::new(source) },
    }
}
