//! The second stage: applies limits and confinement to itself, then executes the program.
//!
//! A separate process, because limits and sandbox must be set between fork and exec, where `std` allows no code without
//! `unsafe`. Its command line shows no more than that of the program.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::SigSet;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{
    Resource, Rlimit, Signal, getppid, getrlimit, set_parent_process_death_signal, setrlimit,
};
use serde::{Deserialize, Serialize};

use super::helper::SUBCOMMAND;
use super::order::Limits;
use super::wire::{self, StartError, StartStep, Task};
use crate::sandbox::Confinement;

/// The argument after [`SUBCOMMAND`] for this stage.
pub(super) const STAGE: &str = "begin";

/// OOM score adjustment: the kernel kills these processes before ours.
const FIRST_TO_GO: &[u8] = b"500";

/// Distance between the helper's limits and those of the kernel: the helper's come first, because it can report the
/// reason. As much as a program can allocate between two checks.
const SPARE_BYTES: u64 = 1024 * 1024 * 1024;

/// The same for CPU time, in seconds.
const SPARE_SECONDS: u64 = 2;

/// Threads per process: the kernel counts both together.
const THREADS: u64 = 16;

/// The input of this stage, besides the program.
#[derive(Debug, Serialize, Deserialize)]
struct StageInput {
    /// Its parent: the helper, or the init stage.
    helper: u32,
    /// Reports a failure. Closes on exec.
    report: i32,
    limits: Limits,
    confinement: Option<Confinement>,
}

/// Starts the second stage and the program. Returns when the program runs.
pub(super) fn start(task: &Task, stdin: Stdio) -> Result<u32, StartError> {
    let (mut outcome, child) =
        start_stage(task, stdin).map_err(|source| StartError::Step(StartStep::Execute, source))?;
    match wire::read::<(StartStep, i32)>(&mut outcome) {
        Ok((step, code)) => Err(StartError::Step(step, io::Error::from_raw_os_error(code))),
        // The other end closed without a message: exec succeeded.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(child),
        Err(error) => Err(StartError::preparing(error)),
    }
}

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door: a program is started"
)]
fn start_stage(task: &Task, stdin: Stdio) -> io::Result<(PipeReader, u32)> {
    let (outcome, report) = io::pipe()?;
    // This process has one thread, so no other child can inherit the pipe.
    fcntl_setfd(&report, FdFlags::empty())?;
    let told = StageInput {
        helper: std::process::id(),
        report: report.as_raw_fd(),
        limits: task.limits,
        confinement: task.confinement.as_ref().map(Confinement::without_names),
    };
    let mut command = std::process::Command::new("/proc/self/exe");
    command.arg0(&task.program).args([SUBCOMMAND, STAGE]).arg(serde_json::to_string(&told)?);
    command.arg(&task.program).args(&task.arguments).stdin(stdin);
    command.env_clear().envs(task.variables.iter().map(|(name, value)| (name, value)));
    Ok((outcome, command.spawn()?.id()))
}

/// Runs this stage. Returns only after reporting a failure.
pub(super) fn begin(mut arguments: impl Iterator<Item = OsString>) {
    let told = arguments.next().and_then(|told| serde_json::from_str::<StageInput>(told.to_str()?).ok());
    if let (Some(told), Some(program)) = (told, arguments.next())
        && let Ok(mut report) = take_over(told.report)
        && let Err((step, error)) = become_program(&told, &program, arguments)
    {
        // If this fails, the helper is gone.
        drop(wire::write(&mut report, &(step, wire::code_of(&error))));
    }
}

/// Duplicates the report descriptor with close-on-exec, as the only one besides the standard streams.
#[expect(clippy::disallowed_types, reason = "this is the door: a descriptor that was handed down")]
pub(super) fn take_over(report: i32) -> io::Result<std::fs::File> {
    let own = std::fs::OpenOptions::new().write(true).open(format!("/proc/self/fd/{report}"))?;
    nix::unistd::close(report)?;
    Ok(own)
}

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this is the door: becoming a program"
)]
fn become_program(
    told: &StageInput,
    program: &OsString,
    arguments: impl Iterator<Item = OsString>,
) -> Result<Infallible, (StartStep, io::Error)> {
    set_apart(told).map_err(|error| (StartStep::Execute, error))?;
    if let Some(confinement) = &told.confinement {
        put_on(confinement).map_err(|error| (StartStep::Confine, error))?;
        // Changing the user resets the parent-death signal.
        die_with(told.helper).map_err(|error| (StartStep::Execute, error.into()))?;
    }
    Err((StartStep::Execute, std::process::Command::new(program).args(arguments).exec()))
}

/// Applies the process attributes of every program.
#[expect(clippy::disallowed_methods, reason = "this is the door: who goes first when memory runs out")]
fn set_apart(told: &StageInput) -> io::Result<()> {
    die_with(told.helper)?;
    // A session of its own: signals to the helper's group do not reach it, and a scheduler that shares CPU among sessions
    // gives it one share for any number of processes.
    rustix::process::setsid()?;
    // The helper blocks signals; the program must not.
    SigSet::empty().thread_set_mask()?;
    rustix::thread::set_no_new_privs(true)?;
    // Not always permitted, and only relevant when memory runs out.
    drop(std::fs::write("/proc/self/oom_score_adj", FIRST_TO_GO));
    set_limits(&told.limits)
}

/// Requests SIGKILL when the parent dies.
fn die_with(parent: u32) -> Result<(), Errno> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have died before the call.
    let now = getppid().map(|parent| parent.as_raw_nonzero().get().unsigned_abs());
    if now == Some(parent) { Ok(()) } else { Err(Errno::SRCH) }
}

/// Applies the confinement irrevocably.
fn put_on(confinement: &Confinement) -> io::Result<()> {
    let fence = confinement.fence()?;
    if let Some(user) = confinement.user {
        user.assume()?;
    }
    fence.raise()?;
    confinement.filter_calls()
}

fn set_limits(limits: &Limits) -> io::Result<()> {
    lower(Resource::Core, Some(0))?;
    lower(Resource::Fsize, limits.file_bytes)?;
    lower(Resource::Nofile, limits.open_files)?;
    lower(Resource::Data, limits.memory_bytes.map(|bytes| bytes.saturating_add(SPARE_BYTES)))?;
    let seconds = |cpu: Duration| cpu.as_secs().saturating_add(SPARE_SECONDS);
    lower(Resource::Cpu, limits.cpu.map(seconds))?;
    lower(Resource::Nproc, limits.processes.map(|most| tasks().saturating_add(u64::from(most) * THREADS)))
}

/// Lowers a limit irrevocably.
fn lower(resource: Resource, limit: Option<u64>) -> io::Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    let limit = getrlimit(resource).maximum.map_or(limit, |there| there.min(limit));
    Ok(setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?)
}

/// The number of threads on the machine, an upper bound for those of the user.
#[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's word about the machine")]
fn tasks() -> u64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let counts = load.split_ascii_whitespace().nth(3).and_then(|counts| counts.split_once('/'));
    counts.and_then(|(_, all)| all.parse().ok()).unwrap_or(0)
}
