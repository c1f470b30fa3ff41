//! A pseudo-terminal with a command, as a user would see it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

/// Long for a machine, and only waited for when a test fails.
const LONG: Duration = Duration::from_secs(60);

/// A terminal without a command.
pub(crate) struct Pty {
    person: OwnedFd,
    /// The other end, to look at the mode and to start commands on.
    witness: OwnedFd,
}

/// Where the command's standard output goes; the rest is the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdout {
    Terminal,
    Pipe,
}

/// A running command on a terminal.
pub(crate) struct PtySession {
    seat: Pty,
    child: Child,
    before: String,
    screen: Arc<Screen>,
    reader: JoinHandle<()>,
    /// How much of the screen was checked.
    looked: usize,
}

#[derive(Default)]
struct Screen {
    seen: Mutex<String>,
    more: Condvar,
}

/// The result of an ended command.
#[derive(Debug)]
pub(crate) struct PtyOutcome {
    pub(crate) code: i32,
    pub(crate) screen: String,
    pub(crate) out: String,
}

impl Pty {
    pub(crate) fn new(columns: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let person = openpt(flags).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let witness = ioctl_tiocgptpeer(&person, flags).unwrap();
        tcsetwinsize(&person, Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        Self { person, witness }
    }

    /// Types before anything is started, and waits until the terminal has it.
    pub(crate) fn types_ahead(&self, text: &str) {
        self.types(text);
        let long = Timespec::try_from(LONG).unwrap();
        assert_eq!(poll(&mut [PollFd::new(&self.witness, PollFlags::IN)], Some(&long)).unwrap(), 1);
    }

    /// Types, without waiting for a prompt.
    fn types(&self, text: &str) {
        File::from(self.person.try_clone().unwrap()).write_all(text.as_bytes()).unwrap();
    }

    fn mode(&self) -> String {
        format!("{:?}", tcgetattr(&self.witness).unwrap())
    }

    /// Whether keys are read: a command that only works shows none either, but lets Ctrl-C be a signal.
    fn is_quiet(&self) -> bool {
        !tcgetattr(&self.witness).unwrap().local_modes.intersects(LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Starts a command here. `setsid` makes this its terminal, so that signals come from it.
    pub(crate) fn starts(self, command: &Command, stdout: Stdout) -> PtySession {
        let mut setsid = Command::new("setsid");
        setsid.arg("--ctty").arg(command.get_program()).args(command.get_args());
        // Colours would stand between what is looked for.
        setsid.env("NO_COLOR", "1").env("TERM", "xterm");
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => setsid.env(name, value),
                None => setsid.env_remove(name),
            };
        }
        if let Some(folder) = command.get_current_dir() {
            setsid.current_dir(folder);
        }
        let end = || Stdio::from(self.witness.try_clone().unwrap());
        setsid.stdin(end()).stderr(end());
        setsid.stdout(if stdout == Stdout::Pipe { Stdio::piped() } else { end() });
        let before = self.mode();
        let child = setsid.spawn().unwrap();
        // It holds ends of the terminal, which has to be gone when the command is.
        drop(setsid);
        let screen = Arc::new(Screen::default());
        let reader = read(self.person.try_clone().unwrap(), Arc::clone(&screen));
        PtySession { seat: self, child, before, screen, reader, looked: 0 }
    }
}

/// Puts everything that is shown on the screen.
fn read(person: OwnedFd, screen: Arc<Screen>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut person = File::from(person);
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4_096]);
        // A closed terminal gives an error.
        while let Ok(length @ 1..) = person.read(&mut buffer) {
            bytes.extend_from_slice(&buffer[..length]);
            *screen.seen.lock().unwrap() = String::from_utf8_lossy(&bytes).replace('\r', "");
            screen.more.notify_all();
        }
    })
}

impl PtySession {
    /// Waits until this is shown, behind what was looked at before.
    #[track_caller]
    pub(crate) fn sees(&mut self, text: &str) {
        let looked = self.looked;
        let seen = self.screen.seen.lock().unwrap();
        let missing = |seen: &mut String| !seen.get(looked..).is_some_and(|new| new.contains(text));
        let (seen, waited) = self.screen.more.wait_timeout_while(seen, LONG, missing).unwrap();
        assert!(!waited.timed_out(), "`{text}` is not shown:\n{}", &seen[looked..]);
        self.looked = looked + seen[looked..].find(text).unwrap() + text.len();
    }

    /// Waits for the keys to be shown, and listened for.
    #[track_caller]
    pub(crate) fn is_asked(&mut self) {
        self.sees("[v] view all");
        self.is_listened_to();
    }

    /// Waits until keys are read: from then on nothing that is typed is thrown away.
    #[track_caller]
    pub(crate) fn is_listened_to(&self) {
        let deadline = Instant::now() + LONG;
        while !self.seat.is_quiet() {
            assert!(Instant::now() < deadline, "no prompt:\n{}", self.screen.seen.lock().unwrap());
            std::thread::yield_now();
        }
    }

    pub(crate) fn types(&self, text: &str) {
        self.seat.types(text);
    }

    pub(crate) fn is_sent(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the end. The terminal has to be as it was before.
    #[track_caller]
    pub(crate) fn leaves(self) -> PtyOutcome {
        let Self { seat, mut child, before, screen, reader, .. } = self;
        let stdout = child.stdout.take();
        let out = std::thread::spawn(move || {
            let mut text = String::new();
            stdout.map(|mut stdout| stdout.read_to_string(&mut text).unwrap());
            text
        });
        let pid = Pid::from_child(&child);
        let (end, ended) = mpsc::channel();
        std::thread::spawn(move || end.send(child.wait().unwrap()));
        let Ok(status) = ended.recv_timeout(LONG) else {
            kill_process(pid, Signal::KILL).unwrap();
            panic!("it does not end:\n{}", screen.seen.lock().unwrap());
        };
        assert_eq!(seat.mode(), before, "the terminal is left in another mode");
        let Pty { person, witness } = seat;
        drop(witness);
        reader.join().unwrap();
        drop(person);
        let screen = screen.seen.lock().unwrap().clone();
        PtyOutcome { code: status.code().unwrap_or(-1), screen, out: out.join().unwrap() }
    }
}

impl PtyOutcome {
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.screen, self.out);
        self
    }

    /// Fails if the screen does not show this.
    #[track_caller]
    pub(crate) fn shows(self, text: &str) -> Self {
        assert!(self.screen.contains(text), "`{text}` is not in\n{}", self.screen);
        self
    }
}
