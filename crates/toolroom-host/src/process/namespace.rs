//! A program in namespaces of its own, from the helper's side.
//!
//! Bubblewrap creates the namespaces and runs our init stage (`init.rs`) as their first process, which starts the program
//! and reports its status: bubblewrap itself does not distinguish signals from exit codes. When the first process ends,
//! the kernel kills everything in the namespaces.

use std::io::{self, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::MemfdFlags;
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};

use super::descendants;
use super::end::Status;
use super::helper::SUBCOMMAND;
use super::init;
use super::wire::{self, StartError, StartStep, Task};
use crate::sandbox::Confinement;

/// Maximum length of a quoted error of bubblewrap.
const MAX_COMPLAINT_BYTES: u64 = 2_000;

/// Descriptors passed to the first process, by number.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct PassedDescriptors {
    /// The report pipe.
    pub(super) report: i32,
    /// The task.
    pub(super) task: i32,
    /// Standard error; its own is for bubblewrap's errors.
    pub(super) stderr: i32,
    /// Our program.
    pub(super) own: i32,
}

/// A message of the first process.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum InitMessage {
    /// The program runs, with this PID inside.
    Begun(u32),
    /// The program could not be started.
    Failed(StartStep, i32),
    /// The program has ended.
    Ended(Status),
}

/// The namespaces of a running program.
#[derive(Debug)]
pub(super) struct Namespaces {
    /// Our child: bubblewrap, which ends when everything inside has.
    pub(super) keeper: u32,
    /// The program's PID outside.
    pub(super) program: u32,
    /// Whether it was reaped.
    pub(super) is_gone: bool,
    /// The report pipe; closes when no process is left inside.
    pub(super) words: Option<PipeReader>,
}

/// Starts a program in namespaces. Returns when it runs.
pub(super) fn start(
    task: &Task,
    confinement: &Confinement,
    stdin: OwnedFd,
) -> Result<Namespaces, StartError> {
    let (mut words, keeper, mut complaint) = start_keeper(task, confinement, stdin).map_err(|source| {
        StartError::Confinement(format!(
            "`{}` cannot be started: {source}",
            confinement.bubblewrap().display()
        ))
    })?;
    match wire::read::<InitMessage>(&mut words) {
        Ok(InitMessage::Begun(inner)) => {
            let program = number_outside(inner).unwrap_or(keeper);
            Ok(Namespaces { keeper, program, is_gone: false, words: Some(words) })
        }
        Ok(InitMessage::Failed(step, code)) => {
            Err(StartError::Step(step, io::Error::from_raw_os_error(code)))
        }
        Ok(InitMessage::Ended(_)) | Err(_) => {
            let mut text = Vec::new();
            drop(
                complaint.rewind().and_then(|()| complaint.take(MAX_COMPLAINT_BYTES).read_to_end(&mut text)),
            );
            let text = String::from_utf8_lossy(&text).trim().to_owned();
            Err(StartError::Confinement(if text.is_empty() { "bubblewrap failed".to_owned() } else { text }))
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door: bubblewrap is started"
)]
fn start_keeper(
    task: &Task,
    confinement: &Confinement,
    stdin: OwnedFd,
) -> io::Result<(PipeReader, u32, std::fs::File)> {
    let (words, report) = io::pipe()?;
    let handed_task = in_memory(&wire::frame(task)?)?;
    let users = confinement.users().map(|users| in_memory(&users)).transpose()?;
    let users = users.as_ref();
    let options = in_memory(&confinement.bubblewrap_options(users.map(AsRawFd::as_raw_fd)))?;
    let complaint = in_memory(&[])?;
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    // It need not exist inside: an open descriptor can be executed.
    let own = std::fs::File::open("/proc/self/exe")?;
    // This process has one thread, so no other child can inherit the descriptors.
    fcntl_setfd(&report, FdFlags::empty())?;
    let handed_down = [handed_task.as_fd(), options.as_fd(), stderr.as_fd(), own.as_fd()];
    for file in handed_down.into_iter().chain(users.map(AsFd::as_fd)) {
        fcntl_setfd(file, FdFlags::empty())?;
    }
    let handed = PassedDescriptors {
        report: report.as_raw_fd(),
        task: handed_task.as_raw_fd(),
        stderr: stderr.as_raw_fd(),
        own: own.as_raw_fd(),
    };
    let mut command = std::process::Command::new(confinement.bubblewrap());
    command.arg("--args").arg(options.as_raw_fd().to_string()).arg("--");
    command.arg(format!("/proc/self/fd/{}", handed.own)).args([SUBCOMMAND, init::STAGE]);
    command.arg(serde_json::to_string(&handed)?);
    command.env_clear().stdin(stdin).stderr(complaint.try_clone()?);
    Ok((words, command.spawn()?.id(), complaint))
}

/// A memory file with this content, positioned at its start.
#[expect(clippy::disallowed_types, reason = "this is the door: what bubblewrap and our stage are told")]
fn in_memory(content: &[u8]) -> io::Result<std::fs::File> {
    let mut file = std::fs::File::from(rustix::fs::memfd_create("told", MemfdFlags::CLOEXEC)?);
    file.write_all(content)?;
    file.rewind()?;
    Ok(file)
}

/// The PID outside of a process inside the namespaces.
fn number_outside(inner: u32) -> Option<u32> {
    let members = descendants::descendants(std::process::id());
    members.into_iter().map(|member| member.pid).find(|pid| descendants::number_inside(*pid) == Some(inner))
}
