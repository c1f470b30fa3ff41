//! The first process in a program's namespaces: starts the program, reaps children, and reports the program's status. It
//! exits when no other process is left inside; if it is killed, the kernel kills all others.

use std::ffi::OsString;
use std::io::{self, Read};

use rustix::io::Errno;
use rustix::process::{WaitOptions, wait};

use super::namespace::{InitMessage, PassedDescriptors};
use super::tree::status_of;
use super::wire::{self, StartError, StartStep, Task};
use super::{confine, forwarder};
use crate::sandbox::PROXY;

/// The argument after [`super::SUBCOMMAND`] for this stage.
pub(super) const STAGE: &str = "inside";

/// Runs this stage. Signals were blocked before it was started, as in the helper.
pub(super) fn begin(mut arguments: impl Iterator<Item = OsString>) {
    let handed =
        arguments.next().and_then(|handed| serde_json::from_str::<PassedDescriptors>(handed.to_str()?).ok());
    if let Some(handed) = handed
        && let Ok(mut report) = confine::take_over(handed.report)
    {
        // If the report cannot be sent, exiting ends everything inside.
        drop(see_through(handed, &mut report));
    }
}

#[expect(clippy::disallowed_types, reason = "this is the door: words to the helper")]
fn see_through(handed: PassedDescriptors, report: &mut std::fs::File) -> io::Result<()> {
    let task = take_task(handed).and_then(with_way_out).map_err(StartError::preparing);
    let program = match task.and_then(|task| start(&task)) {
        Ok(program) => program,
        Err(StartError::Step(step, source)) => {
            return wire::write(report, &InitMessage::Failed(step, wire::code_of(&source)));
        }
        Err(StartError::Confinement(_)) => {
            return wire::write(report, &InitMessage::Failed(StartStep::Confine, Errno::IO.raw_os_error()));
        }
    };
    wire::write(report, &InitMessage::Begun(program))?;
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get().unsigned_abs() == program => {
                wire::write(report, &InitMessage::Ended(status_of(status)))?;
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return Ok(()),
        }
    }
}

/// Takes over the passed descriptors, so that the program does not inherit them.
fn take_task(handed: PassedDescriptors) -> io::Result<Task> {
    let mut task = Vec::new();
    #[expect(clippy::disallowed_types, reason = "this is the door: a descriptor that was handed down")]
    std::fs::File::open(format!("/proc/self/fd/{}", handed.task))?.read_to_end(&mut task)?;
    let stderr = confine::take_over(handed.stderr)?;
    rustix::stdio::dup2_stderr(&stderr)?;
    for number in [handed.task, handed.own] {
        nix::unistd::close(number)?;
    }
    // Otherwise processes of the same user could inspect this process.
    crate::machine::disable_core_dumps()?;
    wire::read(&mut task.as_slice())
}

/// Starts the forwarder, if there is a proxy, and sets the proxy variables of the program.
fn with_way_out(mut task: Task) -> io::Result<Task> {
    if task.confinement.as_ref().is_some_and(|confinement| confinement.proxy.is_some()) {
        let proxy = format!("http://127.0.0.1:{}", forwarder::start(PROXY)?);
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"] {
            task.variables.retain(|(there, _)| there != name);
            task.variables.push((name.to_owned(), proxy.clone().into()));
        }
        for name in ["NO_PROXY", "no_proxy"] {
            task.variables.retain(|(there, _)| there != name);
            task.variables.push((name.to_owned(), "localhost,127.0.0.1,::1".into()));
        }
    }
    Ok(task)
}

fn start(task: &Task) -> Result<u32, StartError> {
    rustix::process::chdir(&task.folder)
        .map_err(|error| StartError::Step(StartStep::EnterFolder, error.into()))?;
    confine::start(task, std::process::Stdio::inherit())
}
