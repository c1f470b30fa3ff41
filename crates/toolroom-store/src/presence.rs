//! Who we are among the processes that share a database, and which of the others still live.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolroom::clock::Timestamp;

use crate::{Inbox, Notice};

/// A process of another machine that has been silent for this long is dead. Six missed heartbeats: a machine
/// that swaps or sleeps for a moment keeps its calls.
pub(crate) const SILENT_IS_DEAD: Duration = Duration::from_secs(60);

/// Looks at a process; see [`Presence::is_alive`].
pub type Probe = dyn Fn(&str) -> Option<bool> + Send + Sync;

/// This process, as whoever may look at processes describes it.
#[derive(Clone)]
pub struct Presence {
    /// The machine since its last boot, and the process namespace: only inside one of these can a process be
    /// looked at.
    pub machine: String,
    /// The process: its number and its start time, so that a number used again is somebody else.
    pub process: String,
    /// Whether the process of that description, on this machine, lives; `None` when that cannot be seen.
    pub is_alive: Arc<Probe>,
    /// Where all of them see that something changed. Without it, everything is read for every call.
    pub notice: Option<Arc<dyn Notice>>,
    /// Where rows are safe before they are in the database. Without it, every call waits for the database.
    pub inbox: Option<Arc<dyn Inbox>>,
}

impl fmt::Debug for Presence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Presence")
            .field("machine", &self.machine)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// What the database says of another process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: String,
    pub(crate) machine: String,
    pub(crate) process: String,
    pub(crate) heartbeat_at: Timestamp,
}

impl Presence {
    /// Whether what `seen` began will never be closed by it. Here the process is looked at, whatever its
    /// heartbeat says; elsewhere, or where it cannot be seen, only the heartbeat can tell.
    pub(crate) fn knows_dead(&self, seen: &Seen, now: Timestamp) -> bool {
        let alive = self.looked_at(seen);
        !alive.unwrap_or_else(|| now.since(seen.heartbeat_at) <= SILENT_IS_DEAD)
    }

    /// Whether the process lives, if that can be seen from here.
    pub(crate) fn looked_at(&self, seen: &Seen) -> Option<bool> {
        if seen.machine == self.machine { (self.is_alive)(&seen.process) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(machine: &str, process: &str, silent_for: Duration, dead: bool) {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let presence = Presence {
            machine: "here".to_owned(),
            process: "me".to_owned(),
            is_alive: Arc::new(|process| (process != "hidden").then_some(process == "alive")),
            notice: None,
            inbox: None,
        };
        let seen = Seen {
            id: "i".to_owned(),
            machine: machine.to_owned(),
            process: process.to_owned(),
            heartbeat_at: now.before(silent_for),
        };
        assert_eq!(presence.knows_dead(&seen, now), dead, "{machine} {process} silent for {silent_for:?}");
    }

    #[test]
    fn the_probe_decides_here_and_the_heartbeat_elsewhere() {
        check("here", "alive", Duration::from_secs(86_400), false);
        check("here", "gone", Duration::ZERO, true);
        check("here", "hidden", SILENT_IS_DEAD, false);
        check("here", "hidden", SILENT_IS_DEAD + Duration::from_micros(1), true);
        check("there", "gone", SILENT_IS_DEAD, false);
        check("there", "alive", SILENT_IS_DEAD + Duration::from_micros(1), true);
    }
}
