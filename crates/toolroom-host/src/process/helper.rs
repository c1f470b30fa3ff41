//! The helper process between us and a program.
//!
//! It has one thread and no runtime, so it starts fast and can fork safely. It exits only when no descendant is left.

use std::ffi::OsString;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use nix::sys::signal::SigSet;
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::fs::MemfdFlags;
use rustix::process::{Signal, set_child_subreaper, set_parent_process_death_signal};

use super::cleanup::Cleanup;
use super::stdin_socket;
use super::tree::Tree;
use super::wire::{self, HelperMessage, StartError, StartStep, Task};
use super::{confine, detached, init, namespace};
use crate::sandbox::Level;

/// The first argument of a program that must call [`helper_main`]. Not a command for people.
pub const SUBCOMMAND: &str = "__supervise";

#[expect(clippy::disallowed_types, reason = "this is the door: the control socket")]
pub(super) type ControlSocket = std::os::unix::net::UnixStream;

/// Runs as the helper. Must be called first of all, before anything is opened or started, with the arguments after
/// [`SUBCOMMAND`].
pub fn helper_main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut arguments = arguments.into_iter();
    match arguments.next() {
        None => supervise(),
        Some(stage) if stage == confine::STAGE => {
            confine::begin(arguments);
            ExitCode::FAILURE
        }
        Some(stage) if stage == detached::STAGE => ExitCode::from(detached::begin(arguments)),
        Some(stage) if stage == init::STAGE => {
            init::begin(arguments);
            ExitCode::FAILURE
        }
        Some(_) => ExitCode::FAILURE,
    }
}

fn supervise() -> ExitCode {
    // The parent notices the closed socket; there is no other way to report.
    let Ok(mut control_socket) = set_up() else { return ExitCode::FAILURE };
    let Ok(mut task) = wire::read::<Task>(&mut control_socket) else { return ExitCode::FAILURE };
    let (word, tree) = match begin(&mut task, &mut control_socket) {
        Ok(mut tree) => {
            tree.run(&control_socket);
            (tree.end(), Some(tree))
        }
        Err(refusal) => (refusal.word(), None),
    };
    let is_told = wire::write(&mut control_socket, &word);
    // Last, because there may be very many temporary files.
    drop(tree);
    match is_told {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Prepares the process: blocks signals, starts a session, becomes a subreaper, and closes stray descriptors. The control
/// socket is our standard input.
fn set_up() -> io::Result<ControlSocket> {
    close_strays()?;
    SigSet::all().thread_block()?;
    rustix::process::setsid()?;
    set_child_subreaper(Some(rustix::process::getpid()))?;
    // A program can stop us, and the parent may die meanwhile. The parent-death signal wakes us, and we find the control
    // socket closed. While running, the signal is blocked.
    set_parent_process_death_signal(Some(Signal::CONT))?;
    crate::machine::disable_core_dumps()?;
    Ok(ControlSocket::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Closes all descriptors except the first three.
#[expect(clippy::disallowed_methods, reason = "this is the door: our own descriptors")]
pub(super) fn close_strays() -> io::Result<()> {
    let entries = std::fs::read_dir("/proc/self/fd")?;
    let numbers: Vec<i32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // One of them was that of the directory listing, and is already closed.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

fn begin(task: &mut Task, control_socket: &mut ControlSocket) -> Result<Tree, StartError> {
    let stdin = input(control_socket, task).map_err(StartError::preparing)?;
    let nothing = OwnedFd::from(nothing().map_err(StartError::preparing)?);
    rustix::process::chdir(&task.folder)
        .map_err(|error| StartError::Step(StartStep::EnterFolder, error.into()))?;
    let mut only_children = SigSet::empty();
    only_children.add(nix::sys::signal::Signal::SIGCHLD);
    let flags = SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK;
    let deaths =
        SignalFd::with_flags(&only_children, flags).map_err(|error| StartError::preparing(error.into()))?;
    let place = Cleanup::prepared(task)?;
    let tree = match &task.confinement {
        Some(confinement) if confinement.level() == Level::Namespaces => {
            let namespaces = namespace::start(task, confinement, stdin.into())?;
            Tree::in_namespaces(namespaces, task, deaths)
        }
        _ => Tree::new(confine::start(task, stdin.into())?, task, deaths),
    };
    let tree = tree.with_cleanup(place);
    // We keep no end of the program's pipes, so that they close with it. An error here does not affect the program.
    drop(let_go(&nothing));
    // If the message is not received, the tree finds the control socket closed and ends.
    drop(wire::write(control_socket, &HelperMessage::Started(tree.program())));
    Ok(tree)
}

/// The program's standard input: a socket to the caller, or a memory file, which needs no writer.
#[expect(clippy::disallowed_types, reason = "this is the door: the input of a program")]
fn input(control_socket: &mut ControlSocket, task: &Task) -> io::Result<std::fs::File> {
    let bytes = task.input_bytes;
    if task.line {
        return Ok(stdin_socket::take(control_socket)?.into());
    }
    if bytes == 0 {
        return nothing();
    }
    let mut file = std::fs::File::from(rustix::fs::memfd_create("input", MemfdFlags::CLOEXEC)?);
    let copied = io::copy(&mut control_socket.take(bytes), &mut file)?;
    if copied != bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    file.rewind()?;
    Ok(file)
}

#[expect(clippy::disallowed_types, reason = "this is the door: nothing to read, and nowhere to write")]
pub(super) fn nothing() -> io::Result<std::fs::File> {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")
}

fn let_go(nothing: &OwnedFd) -> io::Result<()> {
    rustix::stdio::dup2_stdin(nothing)?;
    rustix::stdio::dup2_stdout(nothing)?;
    Ok(rustix::stdio::dup2_stderr(nothing)?)
}
