//! A process according to `/proc/PID/stat`.

use std::io::{self, Read};

use rustix::io::Errno;

/// The fields used here. Numbers are those of `proc(5)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    /// 3: state.
    pub(super) state: char,
    /// 4: parent.
    pub(crate) parent: u32,
    /// 6: session.
    pub(crate) session: u32,
    /// 14 to 17: CPU time of itself and of reaped children.
    pub(crate) cpu_ticks: u64,
    /// 22: start time since boot. Together with the PID it identifies a process.
    pub(crate) started_ticks: u64,
    /// 24: resident pages.
    pub(crate) resident_pages: u64,
}

impl Stat {
    /// Of the process with this PID. Fails with [`io::ErrorKind::NotFound`] if it does not exist.
    pub(crate) fn read(pid: u32) -> io::Result<Self> {
        let text = kernel_text(&format!("/proc/{pid}/stat"))?;
        Self::parse(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Whether it has ended and only waits to be reaped.
    pub(crate) fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    fn parse(text: &[u8]) -> Option<Self> {
        // The command is in parentheses and may contain anything, so the rest is found from the end.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let fields = std::str::from_utf8(text.get(end + 1..)?).ok()?;
        let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
        let number = |place: usize| -> Option<u64> { fields.get(place - 3)?.parse().ok() };
        // Reaping of children can make the two sums decrease.
        let reaped = |place: usize| number(place).unwrap_or(0);
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: u32::try_from(number(4)?).ok()?,
            session: u32::try_from(number(6)?).ok()?,
            cpu_ticks: number(14)? + number(15)? + reaped(16) + reaped(17),
            started_ticks: number(22)?,
            resident_pages: number(24)?,
        })
    }
}

/// Reads a file of `/proc` with as few system calls as possible: thousands of processes may compete for the CPU.
#[expect(clippy::disallowed_types, reason = "this is the door: the kernel's word about processes")]
pub(super) fn kernel_text(path: &str) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let mut text = vec![0; 4_096];
    let mut length = 0;
    loop {
        let room = text.get_mut(length..).unwrap_or_default();
        match file.read(room) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The process ended between opening and reading.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::SRCH) => {
                return Err(io::ErrorKind::NotFound.into());
            }
            Err(error) => return Err(error),
        }
        if length == text.len() {
            text.resize(2 * length, 0);
        }
    }
    text.truncate(length);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] =
        b"4242 (a) b (c\xff) S 17 4242 99 0 -1 4194560 157 0 0 0 3 4 5 6 20 0 1 0 987654 5283840 321 \
        18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn a_command_may_contain_anything() {
        let stat = Stat::parse(LINE).unwrap();
        let expected = Stat {
            state: 'S',
            parent: 17,
            session: 99,
            cpu_ticks: 18,
            started_ticks: 987_654,
            resident_pages: 321,
        };
        assert_eq!(stat, expected);
        assert!(!stat.is_dead());
    }

    #[test]
    fn a_truncated_line_is_not_a_process() {
        for end in 0..LINE.iter().position(|byte| *byte == b'9').unwrap() + 40 {
            assert_eq!(Stat::parse(&LINE[..end]), None, "{end}");
        }
        assert_eq!(Stat::read(u32::MAX).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(Stat::read(std::process::id()).unwrap().parent, std::os::unix::process::parent_id());
    }
}
