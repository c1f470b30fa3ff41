//! Finds and ends the descendants of a process.
//!
//! PIDs are reused. A signal therefore goes through a pidfd, after comparing the start time with the one seen before:
//! another process with the same PID is left alone.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::stat::{Stat, kernel_text};

/// How long new processes are searched while stopping them, before all are killed.
const FREEZE: Duration = Duration::from_secs(2);

/// How long the tree of a lost helper is killed repeatedly.
const END: Duration = Duration::from_secs(5);

/// One process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descendant {
    pub(super) pid: u32,
    pub(super) stat: Stat,
}

/// All running descendants of `root`, without `root`. Processes that fork or are orphaned during the walk may be missing:
/// repeat it until nothing new appears.
pub(super) fn descendants(root: u32) -> Vec<Descendant> {
    some_descendants(root, usize::MAX)
}

/// Stops after `enough` descendants.
pub(super) fn some_descendants(root: u32, enough: usize) -> Vec<Descendant> {
    let mut found = Vec::new();
    walk(root, |member| {
        found.push(member);
        if found.len() < enough { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    found
}

/// Passes every descendant to `visit`, before its own children are read.
fn walk(root: u32, mut visit: impl FnMut(Descendant) -> ControlFlow<()>) {
    let mut open = match children_of(root) {
        Ok(children) => children,
        // The kernel may be built without lists of children.
        Err(error) if error.kind() == io::ErrorKind::NotFound && Stat::read(root).is_ok() => {
            let _ = descendants_by_parent(root).into_iter().try_for_each(visit);
            return;
        }
        Err(_) => return,
    };
    let mut seen = HashSet::new();
    while let Some(pid) = open.pop() {
        if !seen.insert(pid) {
            continue;
        }
        // A dead process has no children: they are reparented when it dies.
        if let Some(stat) = Stat::read(pid).ok().filter(|stat| !stat.is_dead()) {
            if visit(Descendant { pid, stat }).is_break() {
                return;
            }
            open.extend(children_of(pid).unwrap_or_default());
        }
    }
}

/// Finds descendants among all processes.
fn descendants_by_parent(root: u32) -> Vec<Descendant> {
    let mut children: BTreeMap<u32, Vec<Descendant>> = BTreeMap::new();
    for member in everyone() {
        children.entry(member.stat.parent).or_default().push(member);
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(member) = found.get(next) {
        let more = children.remove(&member.pid).unwrap_or_default();
        found.extend(more);
        next += 1;
    }
    found.retain(|member| !member.stat.is_dead());
    found
}

/// Children are listed per thread.
#[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's word about children")]
fn children_of(pid: u32) -> io::Result<Vec<u32>> {
    let mut children = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let task = task?.file_name();
        let list = kernel_text(&format!("/proc/{pid}/task/{}/children", task.display()))?;
        let numbers = list.split(u8::is_ascii_whitespace).filter_map(|child| str::from_utf8(child).ok());
        children.extend(numbers.filter_map(|child| child.parse::<u32>().ok()));
    }
    Ok(children)
}

#[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's word about processes")]
fn everyone() -> impl Iterator<Item = Descendant> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(|pid| Some(Descendant { pid, stat: Stat::read(pid).ok()? }))
}

/// The PID in the process's own namespace, if it differs from ours.
pub(super) fn number_inside(pid: u32) -> Option<u32> {
    let status = kernel_text(&format!("/proc/{pid}/status")).ok()?;
    let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"NSpid:"))?;
    str::from_utf8(line).ok()?.split_ascii_whitespace().skip(1).last()?.parse().ok()
}

impl Descendant {
    /// Sends a signal, if it is still the same process.
    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else { return };
        let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        let is_same = Stat::read(self.pid).is_ok_and(|now| now.started_ticks == self.stat.started_ticks);
        if is_same {
            // A process that refuses the signal shows up in the next walk, and is counted as a survivor in the end.
            let _ = pidfd_send_signal(descriptor, signal);
        }
    }
}

/// Sends SIGTERM to all descendants, and wakes stopped ones.
pub(super) fn terminate(root: u32) {
    for member in descendants(root) {
        member.signal(Signal::TERM);
        member.signal(Signal::CONT);
    }
}

/// Kills all descendants. Each is stopped when found, and its children are read afterwards, when it can fork no more:
/// even fork bombs come to a halt. The next walk finds those orphaned during this one.
pub(super) fn kill(root: u32) {
    let mut stopped: BTreeMap<u32, Descendant> = BTreeMap::new();
    let began = now();
    loop {
        let mut has_new = false;
        walk(root, |member| {
            let known = stopped.get(&member.pid);
            if known.is_none_or(|known| known.stat.started_ticks != member.stat.started_ticks) {
                member.signal(Signal::STOP);
                stopped.insert(member.pid, member);
                has_new = true;
            }
            ControlFlow::Continue(())
        });
        if !has_new || now() - began > FREEZE {
            break;
        }
    }
    for member in stopped.into_values() {
        member.signal(Signal::KILL);
    }
}

/// Ends the descendants of an unresponsive helper, then the helper. It must not have been reaped, so that its PID is
/// still valid.
pub(super) fn kill_from_outside(helper: u32) {
    let began = now();
    while !descendants(helper).is_empty() && now() - began < END {
        kill(helper);
    }
    if let Ok(stat) = Stat::read(helper) {
        Descendant { pid: helper, stat }.signal(Signal::KILL);
    }
}

/// Ends the rest of a program's session after its helper was killed.
pub(super) fn kill_session(program: u32) {
    let began = now();
    loop {
        let is_left = |member: &Descendant| member.stat.session == program && !member.stat.is_dead();
        let left: Vec<Descendant> = everyone().filter(is_left).collect();
        if left.is_empty() || now() - began > END {
            return;
        }
        for signal in [Signal::STOP, Signal::KILL] {
            left.iter().for_each(|member| member.signal(signal));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: time that passes while processes end")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
#[path = "descendants_tests.rs"]
mod tests;
