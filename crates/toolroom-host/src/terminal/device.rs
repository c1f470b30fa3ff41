//! An interactive terminal.

use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};
use zeroize::Zeroizing;

use super::key::{Byte, Key, KeyTimeout, Paste, Stroke, next_key, next_stroke};
use super::quiet_mode::QuietMode;

/// Timeout for the rest of a key's sequence, also over slow lines. Unnoticeable after Escape.
const SEQUENCE: Duration = Duration::from_millis(100);

/// Maximum pause within a paste, also over slow lines.
const PASTE: Duration = Duration::from_secs(1);

/// Maximum line length. A hidden line reserves this much at once, so that it is never copied to a larger buffer, which
/// would leave a part of it in memory.
const MAX_LINE_BYTES: usize = 64 * 1_024;

/// An interactive terminal: reads from standard input and writes to standard error.
#[derive(Debug)]
pub struct Terminal {
    input: OwnedFd,
    screen: OwnedFd,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters per line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

impl Terminal {
    /// The terminal of this process; `None` if input or messages are redirected.
    #[must_use]
    pub fn open() -> Option<Self> {
        let (input, screen) = (io::stdin(), io::stderr());
        if !input.is_terminal() || !screen.is_terminal() {
            return None;
        }
        let own = |terminal: std::os::fd::BorrowedFd<'_>| terminal.try_clone_to_owned().ok();
        Some(Self::over(own(input.as_fd())?, own(screen.as_fd())?))
    }

    pub(super) fn over(input: OwnedFd, screen: OwnedFd) -> Self {
        Self { input, screen }
    }

    /// Its size; `None` if unknown.
    #[must_use]
    pub fn size(&self) -> Option<Size> {
        let size = tcgetwinsize(&self.screen).ok()?;
        (size.ws_col > 0 && size.ws_row > 0).then_some(Size { columns: size.ws_col, rows: size.ws_row })
    }

    /// Discards input typed in advance. An important question must not be answered by a key that was meant for something
    /// else.
    pub fn discard_typed_ahead(&mut self) -> io::Result<()> {
        tcflush(&self.input, QueueSelector::IFlush).map_err(io::Error::from)
    }

    /// Reads keys unechoed also between two reads: for callers that work meanwhile.
    pub fn quiet(&mut self) -> io::Result<QuietMode> {
        QuietMode::begin(self.input.as_fd())
    }

    /// Disables echo between our lines; Ctrl-C stays a signal.
    pub fn unechoed(&mut self) -> io::Result<QuietMode> {
        QuietMode::begin_stoppable(self.input.as_fd())
    }

    /// Reads a key without echo; `None` on timeout. Pasted text does not count as keys.
    pub fn read_key(&mut self, timeout: Duration) -> io::Result<Option<Key>> {
        let deadline = now().checked_add(timeout);
        let _quiet = QuietMode::begin(self.input.as_fd())?;
        self.key_until(deadline, Paste::Swallowed)
    }

    /// Whether a line, or the end of input, arrives in time: then [`Terminal::read_line`] does not block.
    pub fn has_line(&mut self, timeout: Duration) -> io::Result<bool> {
        self.is_ready_until(now().checked_add(timeout))
    }

    /// Reads a line with the terminal's own echo and editing; `None` at the end of input.
    pub fn read_line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        loop {
            // Byte by byte: the bytes after the line are for other readers.
            match self.byte_until(None)? {
                Byte::Got(b'\n') => break,
                Byte::Got(_) if line.len() == MAX_LINE_BYTES => return Err(too_long()),
                Byte::Got(byte) => line.push(byte),
                Byte::Nothing | Byte::End if line.is_empty() => return Ok(None),
                Byte::Nothing | Byte::End => break,
            }
        }
        let line = String::from_utf8(line).map_err(|_| invalid("what was typed is not UTF-8"))?;
        Ok(Some(line))
    }

    /// Reads a hidden line, for secrets; `None` at the end of input. Ctrl-C is an [`io::ErrorKind::Interrupted`] error. It
    /// may be longer than an echoed line, because the terminal does not limit it. Several lines at once are an
    /// [`io::ErrorKind::InvalidData`] error.
    pub fn read_hidden_line(&mut self) -> io::Result<Option<Zeroizing<String>>> {
        let line = {
            let _quiet = QuietMode::begin(self.input.as_fd())?;
            self.hidden_line()
        };
        // The Return key was not echoed either.
        rustix::io::write(&self.screen, b"\n")?;
        line
    }

    fn hidden_line(&self) -> io::Result<Option<Zeroizing<String>>> {
        let mut line = Zeroizing::new(String::with_capacity(MAX_LINE_BYTES));
        loop {
            match self.key_until(None, Paste::Taken)? {
                Some(Key::Char(character)) if line.len() + character.len_utf8() > MAX_LINE_BYTES => {
                    self.swallow_rest()?;
                    return Err(too_long());
                }
                Some(Key::Char(character)) => line.push(character),
                Some(Key::Backspace) => drop(line.pop()),
                Some(Key::Control('u')) => line.clear(),
                Some(Key::Interrupt) => return Err(io::ErrorKind::Interrupted.into()),
                Some(Key::Enter) if self.swallow_rest()? => {
                    return Err(invalid("what was pasted has more than one line"));
                }
                Some(Key::Enter) => return Ok(Some(line)),
                Some(Key::EndOfInput) | None => return Ok((!line.is_empty()).then_some(line)),
                Some(Key::Escape | Key::Control(_)) => {}
            }
        }
    }

    /// Discards input directly after a hidden line, and returns whether it was more than another line break. It must be part
    /// of a paste, which the shell would otherwise show and execute.
    fn swallow_rest(&self) -> io::Result<bool> {
        let mut is_more = false;
        loop {
            match self.key_until(now().checked_add(SEQUENCE), Paste::Taken)? {
                None | Some(Key::EndOfInput) => return Ok(is_more),
                Some(Key::Enter) => {}
                Some(_) => is_more = true,
            }
        }
    }

    fn key_until(&self, deadline: Option<Instant>, paste: Paste) -> io::Result<Option<Key>> {
        next_key(paste, |time_limit| match time_limit {
            KeyTimeout::Person => self.byte_until(deadline),
            KeyTimeout::Machine => self.byte_until(now().checked_add(SEQUENCE)),
            KeyTimeout::Paste => self.byte_until(now().checked_add(PASTE)),
        })
    }

    /// The next stroke of the editor; `None` on timeout. Only in quiet mode.
    pub(super) fn stroke(&self, timeout: Duration) -> io::Result<Option<Stroke>> {
        let deadline = now().checked_add(timeout);
        next_stroke(|time_limit| match time_limit {
            KeyTimeout::Person => self.byte_until(deadline),
            KeyTimeout::Machine => self.byte_until(now().checked_add(SEQUENCE)),
            KeyTimeout::Paste => self.byte_until(now().checked_add(PASTE)),
        })
    }

    /// Writes to the screen.
    pub(super) fn draw(&self, text: &str) -> io::Result<()> {
        let mut left = text.as_bytes();
        while !left.is_empty() {
            match rustix::io::write(&self.screen, left) {
                Ok(written) => left = left.get(written..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn byte_until(&self, deadline: Option<Instant>) -> io::Result<Byte> {
        loop {
            if !self.is_ready_until(deadline)? {
                return Ok(Byte::Nothing);
            }
            let mut byte = [0];
            match rustix::io::read(&self.input, &mut byte) {
                // A terminal reports a hangup with the second.
                Ok(0) | Err(Errno::IO) => return Ok(Byte::End),
                Ok(_) => return Ok(Byte::Got(u8::from_ne_bytes(byte))),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits for input. While the terminal edits lines, that is a whole line.
    fn is_ready_until(&self, deadline: Option<Instant>) -> io::Result<bool> {
        loop {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(now()));
            // A timeout beyond the system's range means none.
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut [PollFd::new(&self.input, PollFlags::IN)], left.as_ref()) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(ready) => return Ok(ready > 0),
            }
        }
    }
}

fn too_long() -> io::Error {
    invalid("what was typed is too long")
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[expect(clippy::disallowed_methods, reason = "this is the door: a blocking wait has no runtime to ask")]
fn now() -> Instant {
    Instant::now()
}
