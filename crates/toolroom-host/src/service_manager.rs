//! The service manager of this machine, systemd: telling it how we are, and what it should do for its user.

use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::environment::path_variable;

/// Where somebody wants to be told how a service is.
const NOTIFY: &str = "NOTIFY_SOCKET";

/// What the service manager of a user is called by.
const PROGRAM: &str = "systemctl";

/// What a service tells its manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceState {
    /// It can be used.
    Ready,
    /// It is about to end.
    Stopping,
}

/// What came of asking the manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Whether it did what it was asked for.
    pub is_done: bool,
    /// What it said.
    pub said: String,
    /// What it complained about.
    pub complaint: String,
}

/// Tells the manager that started us how we are. Says whether there is one.
///
/// # Errors
/// When it cannot be told.
#[expect(clippy::disallowed_types, reason = "this is the door: the socket of the manager that started us")]
pub fn tell(condition: ServiceState) -> io::Result<bool> {
    let Some(path) = path_variable(NOTIFY) else { return Ok(false) };
    let address = match path.as_os_str().as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        [b'/', ..] => SocketAddr::from_pathname(&path)?,
        _ => return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{NOTIFY} names no socket"))),
    };
    let text: &[u8] = match condition {
        ServiceState::Ready => b"READY=1",
        ServiceState::Stopping => b"STOPPING=1",
    };
    let socket = std::os::unix::net::UnixDatagram::unbound()?;
    // Whoever does not listen must not stop us.
    socket.set_nonblocking(true)?;
    socket.send_to_addr(text, &address)?;
    Ok(true)
}

/// Where the units of this user are kept; unknown without a home.
#[must_use]
pub fn unit_folder() -> Option<PathBuf> {
    let config = path_variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(path_variable("HOME")?.join(".config")))?;
    Some(config.join("systemd").join("user"))
}

/// Asks the manager of this user. Nothing, where there is no systemd.
///
/// # Errors
/// When it cannot be started.
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "this is the door: the manager of this user's services"
)]
pub fn ask(words: &[&str]) -> io::Result<Option<Reply>> {
    let mut command = std::process::Command::new(PROGRAM);
    command.arg("--user").args(words).stdin(std::process::Stdio::null());
    let output = match command.output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        output => output?,
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(Some(Reply {
        is_done: output.status.success(),
        said: text(&output.stdout),
        complaint: text(&output.stderr),
    }))
}

/// Makes the folder of a unit, if it is missing.
///
/// # Errors
/// When it cannot be made.
#[expect(clippy::disallowed_methods, reason = "this is the door: the folder of a user's units")]
pub fn make_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Removes a unit. One that is gone already is no error.
///
/// # Errors
/// When it cannot be removed.
#[expect(clippy::disallowed_methods, reason = "this is the door: a unit that we wrote")]
pub fn remove_unit(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
