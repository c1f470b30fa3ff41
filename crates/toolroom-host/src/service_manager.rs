//! The service manager (systemd): status notifications and user units.

use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::environment::path_variable;

/// The socket for status notifications.
const NOTIFY: &str = "NOTIFY_SOCKET";

/// The control program of the service manager.
const PROGRAM: &str = "systemctl";

/// The state of a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceState {
    /// Ready.
    Ready,
    /// Stopping.
    Stopping,
}

/// The result of a control command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Whether it succeeded.
    pub is_done: bool,
    /// Its standard output.
    pub said: String,
    /// Its standard error.
    pub complaint: String,
}

/// Notifies the service manager. Returns whether there is one.
///
/// # Errors
/// If the notification fails.
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
    // A manager that does not read must not block us.
    socket.set_nonblocking(true)?;
    socket.send_to_addr(text, &address)?;
    Ok(true)
}

/// The folder of user units; `None` without a home folder.
#[must_use]
pub fn unit_folder() -> Option<PathBuf> {
    let config = path_variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let config = config.or_else(|| Some(path_variable("HOME")?.join(".config")))?;
    Some(config.join("systemd").join("user"))
}

/// Runs a control command for the user's manager. `None` without systemd.
///
/// # Errors
/// If it cannot be started.
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

/// Creates the folder of a unit, if missing.
///
/// # Errors
/// If it cannot be created.
#[expect(clippy::disallowed_methods, reason = "this is the door: the folder of a user's units")]
pub fn make_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

/// Removes a unit. A missing one is not an error.
///
/// # Errors
/// If it cannot be removed.
#[expect(clippy::disallowed_methods, reason = "this is the door: a unit that we wrote")]
pub fn remove_unit(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
