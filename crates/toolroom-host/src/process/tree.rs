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
const FAREWELL: Duration = Duration::from_secs(1);

/// How long killed processes may take to disappear.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// Interval of checking for that.
const MOMENT: Duration = Duration::from_millis(2);

/// The process tree of a program.
#[derive(Debug)]
pub(super) struct Tree {
    began: Instant,
    program: u32,
    /// The namespaces, if the program is not our own child.
    house: Option<Namespaces>,
    place: Cleanup,
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
    pub(super) fn of(program: u32, task: &Task, deaths: SignalFd) -> Self {
        Self {
            began: now(),
            program,
            house: None,
            place: Cleanup::default(),
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
    pub(super) fn in_house(house: Namespaces, task: &Task, deaths: SignalFd) -> Self {
        Self { house: Some(house), ..Self::of(0, task, deaths) }
    }

    /// Adds the cleanup after the end.
    pub(super) fn with_place(self, place: Cleanup) -> Self {
        Self { place, ..self }
    }

    /// The PID of the program.
    pub(super) fn program(&self) -> u32 {
        self.house.as_ref().map_or(self.program, |house| house.program)
    }

    /// Waits until the tree has ended or must be killed.
    pub(super) fn run(&mut self, lifeline: &ControlSocket) {
        let mut lifeline = Some(lifeline);
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
                let ours = if self.house.is_some() { 2 } else { 0 };
                let living = descendants::some_descendants(std::process::id(), self.watch.enough(ours));
                match self.watch.look(&living, ours, reaped_cpu()) {
                    Verdict::Within(rest) => match self.place.finding(&living) {
                        Some(cause) => return self.because(cause),
                        None => look_at = time + rest,
                    },
                    Verdict::Reached(limit) => return self.because(Cause::Limit(limit)),
                }
            }
            let next = self.grace_until.or(self.wall_until());
            match self.hear(lifeline, next.map_or(look_at, |next| next.min(look_at))) {
                TreeEvent::Nothing => {}
                TreeEvent::Stop if self.grace_until.is_some() => {}
                TreeEvent::Stop => self.terminate(Cause::Stopped),
                TreeEvent::Kill => return self.because(Cause::Stopped),
                TreeEvent::Gone => {
                    lifeline = None;
                    self.hurry();
                }
            }
        }
    }

    /// Whether to stop waiting: the program has ended, or its grace period is over.
    fn is_over(&self, time: Instant) -> bool {
        self.grace_until.map_or(self.status.is_some(), |until| time >= until)
    }

    /// The first cause counts.
    fn because(&mut self, cause: Cause) {
        if self.cause == Cause::Itself {
            self.cause = cause;
        }
    }

    fn terminate(&mut self, cause: Cause) {
        self.because(cause);
        self.grace_until = Some(now() + self.grace);
        descendants::terminate(std::process::id());
    }

    /// Shortens the grace period, because no caller waits any more.
    fn hurry(&mut self) {
        self.grace = self.grace.min(FAREWELL);
        match self.grace_until {
            Some(until) => self.grace_until = Some(until.min(now() + self.grace)),
            None => self.terminate(Cause::Stopped),
        }
    }

    fn wall_until(&self) -> Option<Instant> {
        self.began.checked_add(self.wall?)
    }

    /// Waits for a death, a message or the time. A closed control socket is not polled again.
    fn hear(&mut self, lifeline: Option<&ControlSocket>, until: Instant) -> TreeEvent {
        let wait = until.saturating_duration_since(now());
        let wait = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        let mut sources = vec![PollFd::new(&self.deaths, PollFlags::IN)];
        let words = self.house.as_ref().and_then(|house| house.words.as_ref());
        let at_lifeline = sources.len() + usize::from(words.is_some());
        sources.extend(words.map(|words| PollFd::new(words, PollFlags::IN)));
        sources.extend(lifeline.map(|lifeline| PollFd::new(lifeline, PollFlags::IN)));
        if poll(&mut sources, Some(&wait)).is_err() {
            return TreeEvent::Nothing;
        }
        let has_word = sources.get(at_lifeline).is_some_and(|lifeline| !lifeline.revents().is_empty());
        let is_told = at_lifeline > 1 && sources.get(1).is_some_and(|words| !words.revents().is_empty());
        drop(sources);
        if is_told {
            self.hear_from_inside();
        }
        // Only the fact of a death matters; reaping follows.
        while let Ok(Some(_)) = self.deaths.read_signal() {}
        let mut word = [0];
        match lifeline.filter(|_| has_word).map(|mut lifeline| lifeline.read(&mut word)) {
            None => TreeEvent::Nothing,
            Some(Ok(1)) if word == [STOP] => TreeEvent::Stop,
            Some(Ok(1)) if word == [KILL] => TreeEvent::Kill,
            Some(_) => TreeEvent::Gone,
        }
    }

    /// Reads the next message of the init process, which is available or will never come.
    fn hear_from_inside(&mut self) {
        let Some(house) = &mut self.house else { return };
        let word = house.words.as_mut().map(wire::read::<InitMessage>);
        match word {
            Some(Ok(InitMessage::Ended(status))) => self.status = Some(status),
            Some(Ok(InitMessage::Begun(_) | InitMessage::Failed(..))) => {}
            Some(Err(_)) | None => house.words = None,
        }
    }

    /// Kills everything in the namespaces at once, which even fork bombs cannot escape.
    fn pull_down(&self) {
        let keeper = self.house.as_ref().and_then(|house| i32::try_from(house.keeper).ok());
        if let Some(keeper) = keeper.and_then(Pid::from_raw)
            && self.keeper_is_ours()
        {
            let _ = kill_process(keeper, Signal::KILL);
        }
    }

    /// A PID is valid until it is reaped.
    fn keeper_is_ours(&self) -> bool {
        self.house.as_ref().is_some_and(|house| !house.is_gone)
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
                Ok(Some((pid, _))) => self.miss(pid),
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
    fn miss(&mut self, pid: Pid) {
        if let Some(house) = &mut self.house
            && pid.as_raw_nonzero().get().unsigned_abs() == house.keeper
        {
            house.is_gone = true;
        }
    }

    /// Kills and reaps the rest, and reports the end.
    pub(super) fn end(&mut self) -> HelperMessage {
        if let (None, Some(program)) = (self.status, self.program_pid()) {
            let _ = kill_process_group(program, Signal::KILL);
        }
        self.pull_down();
        let began = now();
        while !self.is_empty && now() - began < LAST_WAIT {
            descendants::kill(std::process::id());
            let wait = Timespec { tv_sec: 0, tv_nsec: MOMENT.subsec_nanos().into() };
            let _ = poll(&mut [PollFd::new(&self.deaths, PollFlags::IN)], Some(&wait));
            while let Ok(Some(_)) = self.deaths.read_signal() {}
            self.reap();
        }
        // The last message may not have been read yet.
        while self.status.is_none() && self.house.as_ref().is_some_and(|house| house.words.is_some()) {
            self.hear_from_inside();
        }
        let survivors = descendants::descendants(std::process::id()).len();
        if let Some(cause) = self.place.put_back() {
            self.because(cause);
        }
        let status = self.status.unwrap_or(Status::Signalled(Signal::KILL.as_raw()));
        if self.cause == Cause::Itself {
            self.cause = told_by(status);
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
fn told_by(status: Status) -> Cause {
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
