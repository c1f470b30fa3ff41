//! The process tree of a program, from the helper's side.

use std::io::Read;
use std::time::{Duration, Instant};

use nix::sys::signalfd::SignalFd;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process, kill_process_group, wait,
    waitid,
};

use super::cleanup::Cleanup;
use super::descendants;
use super::end::{Cause, Limit, Status};
use super::helper::ControlSocket;
use super::limit_monitor::{LimitMonitor, Verdict, reaped_cpu};
use super::namespace::{InitMessage, Namespaces};
use super::wire::{self, HelperMessage, KILL, STOP, Task};

/// Programs that run longer are monitored.
const FIRST_LOOK: Duration = Duration::from_millis(20);

/// Maximum grace period if no caller waits any more.
const UNATTENDED_GRACE: Duration = Duration::from_secs(1);

/// How long killed processes may take to disappear.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Interval of checking for that.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The process tree of a program.
#[derive(Debug)]
pub(super) struct Tree {
    began: Instant,
    program: u32,
    /// The namespaces, if the program is not our own child.
    namespaces: Option<Namespaces>,
    cleanup: Cleanup,
    /// Known once the program itself has ended.
    status: Option<Status>,
    /// Whether no descendant is left.
    is_empty: bool,
    cause: Cause,
    watch: LimitMonitor,
    /// Signals the death of children.
    deaths: SignalFd,
    wall: Option<Duration>,
    grace: Duration,
    /// Set after SIGTERM: the end of the grace period.
    grace_until: Option<Instant>,
}

impl Tree {
    pub(super) fn new(program: u32, task: &Task, deaths: SignalFd) -> Self {
        Self {
            began: now(),
            program,
            namespaces: None,
            cleanup: Cleanup::default(),
            status: None,
            is_empty: false,
            cause: Cause::Itself,
            watch: LimitMonitor::new(task.limits),
            deaths,
            wall: task.limits.wall,
            grace: task.grace,
            grace_until: None,
        }
    }

    /// For a program in namespaces of its own.
    pub(super) fn in_namespaces(namespaces: Namespaces, task: &Task, deaths: SignalFd) -> Self {
        Self { namespaces: Some(namespaces), ..Self::new(0, task, deaths) }
    }

    /// Adds the cleanup after the end.
    pub(super) fn with_cleanup(self, cleanup: Cleanup) -> Self {
        Self { cleanup, ..self }
    }

    /// The PID of the program.
    pub(super) fn program(&self) -> u32 {
        self.namespaces.as_ref().map_or(self.program, |namespaces| namespaces.program)
    }

    /// Waits until the tree has ended or must be killed.
    pub(super) fn run(&mut self, control_socket: &ControlSocket) {
        let mut control_socket = Some(control_socket);
        // Most programs have ended by then, and are never monitored.
        let mut look_at = self.began + FIRST_LOOK;
        loop {
            self.reap();
            let time = now();
            if self.is_empty || self.is_over(time) {
                return;
            }
            if self.grace_until.is_none() && self.wall_until().is_some_and(|until| time >= until) {
                self.terminate(Cause::Limit(Limit::Wall));
            }
            if time >= look_at {
                // Bubblewrap and our init process do not count as the program's.
                let ours = if self.namespaces.is_some() { 2 } else { 0 };
                let living = descendants::some_descendants(std::process::id(), self.watch.enough(ours));
                match self.watch.look(&living, ours, reaped_cpu()) {
                    Verdict::Within(rest) => match self.cleanup.finding(&living) {
                        Some(cause) => return self.set_cause(cause),
                        None => look_at = time + rest,
                    },
                    Verdict::Reached(limit) => return self.set_cause(Cause::Limit(limit)),
                }
            }
            let next = self.grace_until.or(self.wall_until());
            match self.wait_for_event(control_socket, next.map_or(look_at, |next| next.min(look_at))) {
                TreeEvent::Nothing => {}
                TreeEvent::Stop if self.grace_until.is_some() => {}
                TreeEvent::Stop => self.terminate(Cause::Stopped),
                TreeEvent::Kill => return self.set_cause(Cause::Stopped),
                TreeEvent::Gone => {
                    control_socket = None;
                    self.shorten_grace();
                }
            }
        }
    }

    /// Whether to stop waiting: the program has ended, or its grace period is over.
    fn is_over(&self, time: Instant) -> bool {
        self.grace_until.map_or(self.status.is_some(), |until| time >= until)
    }

    /// The first cause counts.
    fn set_cause(&mut self, cause: Cause) {
        if self.cause == Cause::Itself {
            self.cause = cause;
        }
    }

    fn terminate(&mut self, cause: Cause) {
        self.set_cause(cause);
        self.grace_until = Some(now() + self.grace);
        descendants::terminate(std::process::id());
    }

    /// Shortens the grace period, because no caller waits any more.
    fn shorten_grace(&mut self) {
        self.grace = self.grace.min(UNATTENDED_GRACE);
        match self.grace_until {
            Some(until) => self.grace_until = Some(until.min(now() + self.grace)),
            None => self.terminate(Cause::Stopped),
        }
    }

    fn wall_until(&self) -> Option<Instant> {
        self.began.checked_add(self.wall?)
    }

    /// Waits for a death, a message or the time. A closed control socket is not polled again.
    fn wait_for_event(&mut self, control_socket: Option<&ControlSocket>, until: Instant) -> TreeEvent {
        let wait = until.saturating_duration_since(now());
        let wait = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let mut sources = vec![PollFd::new(&self.deaths, PollFlags::IN)];
        let words = self.namespaces.as_ref().and_then(|namespaces| namespaces.words.as_ref());
        let at_guard = sources.len() + usize::from(words.is_some());
        sources.extend(words.map(|words| PollFd::new(words, PollFlags::IN)));
        sources.extend(control_socket.map(|control_socket| PollFd::new(control_socket, PollFlags::IN)));
        if poll(&mut sources, Some(&wait)).is_err() {
            return TreeEvent::Nothing;
        }
        let has_word =
            sources.get(at_guard).is_some_and(|control_socket| !control_socket.revents().is_empty());
        let is_told = at_guard > 1 && sources.get(1).is_some_and(|words| !words.revents().is_empty());
        drop(sources);
        if is_told {
            self.read_init_message();
        }
        // Only the fact of a death matters; reaping follows.
        while let Ok(Some(_)) = self.deaths.read_signal() {}
        let mut word = [0];
        match control_socket.filter(|_| has_word).map(|mut control_socket| control_socket.read(&mut word)) {
            None => TreeEvent::Nothing,
            Some(Ok(1)) if word == [STOP] => TreeEvent::Stop,
            Some(Ok(1)) if word == [KILL] => TreeEvent::Kill,
            Some(_) => TreeEvent::Gone,
        }
    }

    /// Reads the next message of the init process, which is available or will never come.
    fn read_init_message(&mut self) {
        let Some(namespaces) = &mut self.namespaces else { return };
        let word = namespaces.words.as_mut().map(wire::read::<InitMessage>);
        match word {
            Some(Ok(InitMessage::Ended(status))) => self.status = Some(status),
            Some(Ok(InitMessage::Begun(_) | InitMessage::Failed(..))) => {}
            Some(Err(_)) | None => namespaces.words = None,
        }
    }

    /// Kills everything in the namespaces at once, which even fork bombs cannot escape.
    fn kill_namespaces(&self) {
        let keeper = self.namespaces.as_ref().and_then(|namespaces| i32::try_from(namespaces.keeper).ok());
        if let Some(keeper) = keeper.and_then(Pid::from_raw)
            && self.keeper_is_ours()
        {
            let _ = kill_process(keeper, Signal::KILL);
        }
    }

    /// A PID is valid until it is reaped.
    fn keeper_is_ours(&self) -> bool {
        self.namespaces.as_ref().is_some_and(|namespaces| !namespaces.is_gone)
    }

    /// Reaps dead children.
    fn reap(&mut self) {
        let program = self.program_pid();
        let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        if self.status.is_none()
            && let Some(program) = program
            && let Ok(Some(_)) = waitid(WaitId::Pid(program), peek)
            && self.cause == Cause::Itself
        {
            // Until it is reaped its PID is valid, and so is its process group: killing the group at once stops even fork
            // bombs.
            let _ = kill_process_group(program, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid) == program => self.status = Some(status_of(status)),
                Ok(Some((pid, _))) => self.note_bubblewrap_end(pid),
                Err(Errno::INTR) => {}
                Ok(None) => return,
                Err(_) => {
                    self.is_empty = true;
                    return;
                }
            }
        }
    }

    /// Notes that bubblewrap has ended, if it has.
    fn note_bubblewrap_end(&mut self, pid: Pid) {
        if let Some(namespaces) = &mut self.namespaces
            && pid.as_raw_nonzero().get().unsigned_abs() == namespaces.keeper
        {
            namespaces.is_gone = true;
        }
    }

    /// Kills and reaps the rest, and reports the end.
    pub(super) fn end(&mut self) -> HelperMessage {
        if let (None, Some(program)) = (self.status, self.program_pid()) {
            let _ = kill_process_group(program, Signal::KILL);
        }
        self.kill_namespaces();
        let began = now();
        while !self.is_empty && now() - began < LAST_WAIT {
            descendants::kill(std::process::id());
            let wait = Timespec { tv_sec: 0, tv_nsec: POLL_INTERVAL.subsec_nanos().into() };
            let _ = poll(&mut [PollFd::new(&self.deaths, PollFlags::IN)], Some(&wait));
            while let Ok(Some(_)) = self.deaths.read_signal() {}
            self.reap();
        }
        // The last message may not have been read yet.
        while self.status.is_none()
            && self.namespaces.as_ref().is_some_and(|namespaces| namespaces.words.is_some())
        {
            self.read_init_message();
        }
        let survivors = descendants::descendants(std::process::id()).len();
        if let Some(cause) = self.cleanup.put_back() {
            self.set_cause(cause);
        }
        let status = self.status.unwrap_or(Status::Signalled(Signal::KILL.as_raw()));
        if self.cause == Cause::Itself {
            self.cause = cause_of(status);
        }
        HelperMessage::Ended {
            status,
            cause: self.cause,
            usage: self.watch.usage(now() - self.began),
            survivors: u32::try_from(survivors).unwrap_or(u32::MAX),
        }
    }

    fn program_pid(&self) -> Option<Pid> {
        i32::try_from(self.program).ok().and_then(Pid::from_raw)
    }
}

enum TreeEvent {
    Nothing,
    Stop,
    Kill,
    Gone,
}

pub(super) fn status_of(status: WaitStatus) -> Status {
    let by_signal = || Status::Signalled(status.terminating_signal().unwrap_or_default());
    status.exit_status().map_or_else(by_signal, Status::Exited)
}

/// Some limits are enforced by the kernel, which sends a signal.
fn cause_of(status: Status) -> Cause {
    match status {
        Status::Signalled(signal) if signal == Signal::XCPU.as_raw() => Cause::Limit(Limit::Cpu),
        Status::Signalled(signal) if signal == Signal::XFSZ.as_raw() => Cause::Limit(Limit::FileBytes),
        Status::Exited(_) | Status::Signalled(_) => Cause::Itself,
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: time in a process without a runtime")]
fn now() -> Instant {
    Instant::now()
}
