//! The clipboard: read by a short-lived process, written by one that serves the text until it is replaced.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::SocketAddr;
use std::process::ExitCode;
use std::sync::mpsc::{self, TryRecvError};
use std::thread;
use std::time::Duration;

use arboard::{Clipboard, Error, SetExtLinux};
use tokio_util::sync::CancellationToken;

use super::SUBCOMMAND;
use super::error::DesktopError;
use super::session::{Desktop, home, in_short};
use crate::environment;
use crate::process::{Cause, Limit, Limits, Order, Status, Variables};

/// Maximum length of a text that is read or written.
pub const CLIPBOARD_BYTES: usize = 1_000_000;

/// How long another program may take to deliver its clipboard content.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long a text is served if it is not replaced.
const KEPT: Duration = Duration::from_hours(24);

/// How often the display connection is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

const READ: &str = "read-clipboard";
const KEEP: &str = "keep-clipboard";

/// Printed by the serving process once it owns the clipboard.
const KEEPS: &str = "keeps";

/// Exit code of the reading process if there is no text.
const NO_TEXT: u8 = 3;

impl Desktop {
    /// Reads the text on the clipboard.
    pub async fn read_clipboard(&self) -> Result<String, DesktopError> {
        self.seen()?;
        let mut order = helper(READ);
        order.limits = Limits { wall: Some(TIMEOUT), ..Limits::default() };
        order.kept_bytes = 2 * CLIPBOARD_BYTES + 2;
        let ended = self.supervisor.run(order, &CancellationToken::new()).await?;
        match (ended.status, ended.cause) {
            (_, Cause::Limit(Limit::Wall)) => Err(DesktopError::Silent { seconds: TIMEOUT.as_secs() }),
            (Status::Exited(0), _) if ended.stdout.total_bytes() > CLIPBOARD_BYTES as u64 => {
                Err(DesktopError::TooLong { max: CLIPBOARD_BYTES })
            }
            (Status::Exited(0), _) => {
                let (mut bytes, rest) = ended.stdout.ends();
                bytes.extend(rest);
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            (Status::Exited(code), _) if code == i32::from(NO_TEXT) => Err(DesktopError::NoText),
            _ => Err(DesktopError::Clipboard { said: in_short(&ended.stderr.text(1_000)) }),
        }
    }

    /// Writes a text to the clipboard. A detached process serves it until it is replaced, the session ends, or a day has
    /// passed.
    pub async fn write_clipboard(&self, text: &str) -> Result<(), DesktopError> {
        self.seen()?;
        if text.len() > CLIPBOARD_BYTES {
            return Err(DesktopError::TooMuch { bytes: text.len(), max: CLIPBOARD_BYTES });
        }
        let mut order = helper(KEEP);
        order.input = text.as_bytes().to_vec();
        match self.supervisor.start_detached_until_ready(order, TIMEOUT).await? {
            Some(word) if word == KEEPS => Ok(()),
            Some(said) => Err(DesktopError::Clipboard { said: in_short(&said) }),
            None => Err(DesktopError::Silent { seconds: TIMEOUT.as_secs() }),
        }
    }
}

fn helper(stage: &str) -> Order {
    let mut order = Order::new(environment::own_program(), home()).with_arguments([SUBCOMMAND, stage]);
    order.variables = Variables::for_desktop();
    order
}

/// Runs as the reading or serving process. Must be called first of all, with the arguments after [`SUBCOMMAND`].
pub fn helper_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    // The clipboard content must not leak into a core dump.
    drop(crate::machine::disable_core_dumps());
    let stage = arguments.into_iter().next().unwrap_or_default();
    if stage == READ {
        tell()
    } else if stage == KEEP {
        keep()
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the clipboard content.
fn tell() -> ExitCode {
    let text = Clipboard::new().and_then(|mut clipboard| clipboard.get_text());
    match text {
        Ok(text) => match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(Error::ContentNotAvailable | Error::ConversionFailure) => ExitCode::from(NO_TEXT),
        // The owner of the clipboard may deliver another format than requested.
        Err(Error::Unknown { description }) if description.contains("incorrect type") => {
            ExitCode::from(NO_TEXT)
        }
        Err(error) => {
            drop(writeln!(io::stderr(), "{error}"));
            ExitCode::FAILURE
        }
    }
}

/// Takes the clipboard with the text from standard input, reports it, and serves the text until another program takes the
/// clipboard or the display is gone, for which there is no notification.
fn keep() -> ExitCode {
    let (mut clipboard, text) = match taken() {
        Ok(taken) => taken,
        Err(why) => {
            drop(writeln!(io::stdout(), "{why}"));
            return ExitCode::FAILURE;
        }
    };
    let until = deadline();
    let (hands_out, ended) = mpsc::channel::<()>();
    thread::spawn(move || {
        let _hands_out = hands_out;
        // Set again, because only this call waits for another owner. Under Wayland it would not wait with a deadline.
        clipboard.set().wait().text(text).is_ok()
    });
    let screen = environment::variable("DISPLAY").as_deref().and_then(socket_of);
    match screen.and_then(|place| visit(&place).ok()) {
        Some(screen) => {
            let goes_on = || ended.try_recv() == Err(TryRecvError::Empty) && until.elapsed().is_zero();
            while goes_on() && is_there(&screen) {}
        }
        // In that case the serving library decides.
        None => drop(ended.recv_timeout(KEPT)),
    }
    ExitCode::SUCCESS
}

/// The local display socket for a value such as `:1` or `:1.0`.
fn socket_of(display: &str) -> Option<String> {
    let number = display.strip_prefix(':')?.split('.').next()?;
    let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| format!("/tmp/.X11-unix/X{number}"))
}

/// A silent connection that breaks when the display goes away.
#[expect(clippy::disallowed_types, reason = "this is the door: whether there is still a screen")]
fn visit(place: &str) -> io::Result<std::os::unix::net::UnixStream> {
    let hidden = SocketAddr::from_abstract_name(place)?;
    let stream = std::os::unix::net::UnixStream::connect_addr(&hidden);
    let stream = stream.or_else(|_| std::os::unix::net::UnixStream::connect(place))?;
    stream.set_read_timeout(Some(POLL_INTERVAL))?;
    Ok(stream)
}

/// Whether the display is still there, after a short wait.
#[expect(clippy::disallowed_types, reason = "this is the door: whether there is still a screen")]
fn is_there(mut screen: &std::os::unix::net::UnixStream) -> bool {
    let waits = [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut, io::ErrorKind::Interrupted];
    screen.read(&mut [0]).is_err_and(|error| waits.contains(&error.kind()))
}

fn taken() -> Result<(Clipboard, String), Box<dyn std::error::Error>> {
    let mut text = String::new();
    io::stdin().take(CLIPBOARD_BYTES as u64).read_to_string(&mut text)?;
    let mut clipboard = Clipboard::new()?;
    clipboard.set_text(text.clone())?;
    writeln!(io::stdout(), "{KEEPS}")?;
    io::stdout().flush()?;
    crate::process::forget_streams()?;
    Ok((clipboard, text))
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the door: a process of its own, without tokio's timers"
)]
fn deadline() -> std::time::Instant {
    std::time::Instant::now() + KEPT
}
