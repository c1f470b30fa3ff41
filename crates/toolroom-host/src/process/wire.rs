//! The protocol on the control socket: length-prefixed JSON frames.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::end::{Cause, Status, Usage};
use super::order::{Limits, Order};
use crate::environment::path_variable;
use crate::sandbox::Confinement;

/// Far above any order accepted by [`Order::check`], whose bytes may become four characters each.
const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;

/// Asks the helper to terminate the program.
pub(super) const STOP: u8 = b's';

/// Asks the helper to kill the program.
pub(super) const KILL: u8 = b'k';

/// The order in the helper's form. The input follows after the frame.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) folder: OsString,
    pub(super) variables: Vec<(String, OsString)>,
    pub(super) input_bytes: u64,
    /// Whether standard input is a socket, whose end follows.
    pub(super) line: bool,
    pub(super) limits: Limits,
    pub(super) confinement: Option<Confinement>,
    pub(super) grace: Duration,
    pub(super) git_owner: GitOwner,
}

/// The user whose git may run what a program leaves: us.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct GitOwner {
    pub(super) home: Option<PathBuf>,
    /// Settings that apply in every repository.
    pub(super) settings: Vec<PathBuf>,
}

impl GitOwner {
    fn ourselves() -> Self {
        let home = path_variable("HOME");
        let own = path_variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        let settings =
            [own.map(|own| own.join("git/config")), home.as_ref().map(|home| home.join(".gitconfig"))];
        let system = PathBuf::from("/etc/gitconfig");
        Self { home, settings: settings.into_iter().flatten().chain([system]).collect() }
    }
}

/// A message of the helper: the start of the program or an error, then its end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum HelperMessage {
    /// The program runs, with this PID.
    Started(u32),
    /// The program was not started because of this system error.
    NotStarted(StartStep, i32),
    /// The confinement failed, with this message.
    NotConfined(String),
    /// Everything has ended.
    Ended { status: Status, cause: Cause, usage: Usage, survivors: u32 },
}

/// The step that failed.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum StartStep {
    Prepare,
    EnterFolder,
    Confine,
    Execute,
}

/// Why a program was not started.
#[derive(Debug)]
pub(super) enum StartError {
    /// A system error in this step.
    Step(StartStep, io::Error),
    /// The confinement failed.
    Confinement(String),
}

impl StartError {
    pub(super) fn preparing(source: io::Error) -> Self {
        Self::Step(StartStep::Prepare, source)
    }

    pub(super) fn word(self) -> HelperMessage {
        match self {
            Self::Step(step, source) => HelperMessage::NotStarted(step, code_of(&source)),
            Self::Confinement(reason) => HelperMessage::NotConfined(reason),
        }
    }
}

/// The system's error number.
pub(super) fn code_of(error: &io::Error) -> i32 {
    error.raw_os_error().unwrap_or_else(|| Errno::IO.raw_os_error())
}

impl Task {
    pub(super) fn from_order(order: &Order, line: bool) -> Self {
        Self {
            program: order.program.clone(),
            arguments: order.arguments.clone(),
            folder: order.folder.clone().into_os_string(),
            variables: order
                .variables
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            input_bytes: order.input.len() as u64,
            line,
            limits: order.limits,
            confinement: order.confinement.clone(),
            grace: order.grace,
            git_owner: GitOwner::ourselves(),
        }
    }
}

/// Serializes a frame.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?.to_be_bytes();
    for (place, byte) in frame.iter_mut().zip(length) {
        *place = byte;
    }
    Ok(frame)
}

/// Reads the next frame; blocks.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let mut body = vec![0; bounded(length)?];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// Writes one frame.
pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&frame(message)?)
}

/// Reads the next frame. Not cancel safe.
pub(super) async fn receive<T: DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length).await?;
    let mut body = vec![0; bounded(length)?];
    from.read_exact(&mut body).await?;
    Ok(serde_json::from_slice(&body)?)
}

fn bounded(length: [u8; 4]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_be_bytes(length)).map_err(io::Error::other)?;
    if length > MAX_FRAME_BYTES { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(length) }
}
