//! Starting programs.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use tokio::process::Child;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::end::Ended;
use super::error::ProcessError;
use super::helper::SUBCOMMAND;
use super::keeper::{Greeting, Keeper, Lifeline, Observer, Patience};
use super::line::{self, Input, Line};
use super::order::Order;
use super::output::Stream;
use super::running::{Output, Running};
use super::wire::{Step, Word};

/// Starts programs, each under a helper of its own.
#[derive(Debug, Clone)]
pub struct Supervisor {
    helper: PathBuf,
}

impl Supervisor {
    /// `helper` is a program that calls [`super::helper_main`] if its first argument is [`SUBCOMMAND`].
    pub fn new(helper: impl Into<PathBuf>) -> Self {
        Self { helper: helper.into() }
    }

    /// Starts a program. It runs, and its output is taken, whether or not anybody waits for it, until the handle is
    /// dropped.
    pub async fn start(&self, order: Order) -> Result<Running, ProcessError> {
        self.start_observed(order, |_, _| ()).await
    }

    /// Starts a program, and shows everything it prints to `observer`, too. The observer must not block.
    pub async fn start_observed(
        &self,
        order: Order,
        observer: impl FnMut(Stream, &[u8]) + Send + 'static,
    ) -> Result<Running, ProcessError> {
        self.start_with(order, None, Box::new(observer)).await
    }

    /// Starts a program that can be talked with: its standard input is a line, not [`Order::input`].
    pub(crate) async fn start_on_line(&self, order: Order) -> Result<(Running, Line), ProcessError> {
        let (ours, theirs) = line::pair().map_err(|source| self.unusable(source))?;
        Ok((self.start_with(order, Some(theirs), Box::new(|_, _| ())).await?, ours))
    }

    /// Starts a program that is talked with for as long as it runs: what is written to the [`Input`] it reads from its
    /// standard input, in place of [`Order::input`], and everything it prints is shown to `observer`, which must not
    /// block.
    pub async fn start_talking(
        &self,
        order: Order,
        observer: impl FnMut(Stream, &[u8]) + Send + 'static,
    ) -> Result<(Running, Input), ProcessError> {
        let (ours, theirs) = line::pair().map_err(|source| self.unusable(source))?;
        Ok((self.start_with(order, Some(theirs), Box::new(observer)).await?, Input(ours)))
    }

    async fn start_with(
        &self,
        order: Order,
        line: Option<OwnedFd>,
        observer: Observer,
    ) -> Result<Running, ProcessError> {
        order.check()?;
        let (child, lifeline) = self.start_helper().map_err(|source| self.unusable(source))?;
        let (tell, end) = watch::channel(None);
        let (tell_started, started) = oneshot::channel();
        let (stop, gone) = (CancellationToken::new(), CancellationToken::new());
        // Whoever turns pages waits for each.
        let (page_turns, turns) = mpsc::channel(1);
        let output = Arc::new(Output::new(order.kept_bytes));
        let keeper = Keeper {
            output: Arc::clone(&output),
            observer,
            stop: stop.clone(),
            gone: gone.clone(),
            max_output: order.limits.output_bytes,
            patience: Patience { wall: order.limits.wall, grace: order.grace },
            page_turns: turns,
            printed: 0,
        };
        // From here on whoever gives up, this future or the handle, has the keeper end everything.
        let lifeguard = gone.drop_guard();
        let greeting = Greeting::of(&order, line).map_err(|source| self.unusable(source))?;
        tokio::spawn(async move {
            let ended = keeper.keep(child, lifeline, greeting, tell_started).await;
            tell.send_replace(Some(ended));
        });
        let started = started.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        match started.map_err(|source| self.unusable(source))? {
            Word::Started(pid) => Ok(Running { pid, output, stop, page_turns, end, _lifeline: lifeguard }),
            Word::NotStarted(step, code) => Err(not_started(&order, step, code)),
            Word::NotConfined(reason) => Err(ProcessError::Confinement { reason }),
            Word::Ended { .. } => Err(self.unusable(io::ErrorKind::InvalidData.into())),
        }
    }

    /// Runs a program to its end, or stops it when `cancel` says so. What it printed until then is in the answer.
    pub async fn run(&self, order: Order, cancel: &CancellationToken) -> Result<Ended, ProcessError> {
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
    fn start_helper(&self) -> io::Result<(Child, Lifeline)> {
        let (ours, theirs) = Lifeline::pair()?;
        let theirs = theirs.into_std()?;
        theirs.set_nonblocking(false)?;
        let mut command = tokio::process::Command::new(&self.helper);
        // Nothing of our environment: programs could read it from their parent.
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

fn not_started(order: &Order, step: Step, code: i32) -> ProcessError {
    let source = io::Error::from_raw_os_error(code);
    let program = order.program.to_string_lossy().into_owned();
    match step {
        Step::Prepare => ProcessError::Preparation { source: Arc::new(source) },
        Step::EnterFolder => {
            ProcessError::Folder { folder: Path::to_owned(&order.folder), source: Arc::new(source) }
        }
        Step::Confine => ProcessError::Confinement { reason: source.to_string() },
        Step::Execute if source.kind() == io::ErrorKind::NotFound => ProcessError::NotFound { program },
        Step::Execute => ProcessError::NotStarted { program, source: Arc::new(source) },
    }
}
