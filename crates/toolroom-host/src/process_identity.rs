//! Identity and liveness of processes that share a database.
//!
//! A call is lost only when the process that began it is dead. A PID alone cannot tell: PIDs are reused, and differ between
//! containers and restarts.

use std::io;

use crate::process::Stat;

/// It always runs; if it is invisible, only own processes are visible.
const FIRST_PROCESS: u32 = 1;

/// Identifies this process among all that ever ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Boot id and PID namespace. Processes can only be compared inside the same one.
    pub machine: String,
    /// PID and start time.
    pub process: String,
}

impl ProcessIdentity {
    /// The current process.
    #[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's word about ourselves")]
    pub fn current() -> io::Result<Self> {
        let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
        let namespace = std::fs::read_link("/proc/self/ns/pid")?;
        let pid = std::process::id();
        let started = start_time(pid)?;
        Ok(Self {
            machine: format!("{} {}", boot.trim(), namespace.display()),
            process: format!("{pid} {started}"),
        })
    }

    /// Whether a process on this machine, as in [`ProcessIdentity::process`], is alive. `None` if the system hides the
    /// processes of other users: an unknown state must not count as dead.
    #[must_use]
    pub fn is_alive(process: &str) -> Option<bool> {
        let Some((pid, started)) = process.split_once(' ') else { return Some(false) };
        let Ok(pid) = pid.parse() else { return Some(false) };
        match start_time(pid) {
            Ok(now) => Some(now == started),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                start_time(FIRST_PROCESS).is_ok().then_some(false)
            }
            Err(_) => None,
        }
    }
}

/// The start time of a process, in clock ticks since boot.
fn start_time(pid: u32) -> io::Result<String> {
    let stat = Stat::read(pid)?;
    // A zombie runs no code: it will never close its calls.
    if stat.is_dead() { Err(io::ErrorKind::NotFound.into()) } else { Ok(stat.started_ticks.to_string()) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests start processes")]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_alive_until_it_ends() {
        let me = ProcessIdentity::current().unwrap();
        assert_eq!(ProcessIdentity::is_alive(&me.process), Some(true));

        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let name = format!("{} {}", child.id(), start_time(child.id()).unwrap());
        assert_eq!(ProcessIdentity::is_alive(&name), Some(true));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(ProcessIdentity::is_alive(&name), Some(false));
    }

    #[test]
    fn a_reused_pid_is_another_process() {
        let pid = std::process::id();
        assert_eq!(ProcessIdentity::is_alive(&format!("{pid} 1")), Some(false));
        for text in ["", "x", "1", "99999999999 1"] {
            assert_eq!(ProcessIdentity::is_alive(text), Some(false), "{text}");
        }
    }
}
