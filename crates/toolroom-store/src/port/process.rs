//! Identity and liveness of the processes that share a database.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolroom::clock::Timestamp;

/// A process on another machine counts as dead after six missed heartbeats, so that a short pause of that machine does not
/// end its calls.
pub(crate) const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(60);

/// Whether the process with this [`ProcessIdentity::process`] is alive; `None` if that cannot be determined.
pub type LivenessProbe = dyn Fn(&str) -> Option<bool> + Send + Sync;

/// Identifies this process and checks whether other processes on the same machine are alive.
#[derive(Clone)]
pub struct ProcessIdentity {
    /// Boot id and PID namespace. Processes can only be probed inside the same one.
    pub machine: String,
    /// PID and start time, so that a reused PID is a different process.
    pub process: String,
    /// Probes a process on this machine.
    pub probe: Arc<LivenessProbe>,
}

impl fmt::Debug for ProcessIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ProcessIdentity")
            .field("machine", &self.machine)
            .field("process", &self.process)
            .finish_non_exhaustive()
    }
}

/// The database row of a process with open calls or runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstanceRow {
    pub(crate) id: String,
    pub(crate) machine: String,
    pub(crate) process: String,
    pub(crate) heartbeat_at: Timestamp,
}

impl ProcessIdentity {
    /// Whether the process of `instance` is dead. On this machine the probe decides, independent of the heartbeat; for
    /// another machine, or without an answer of the probe, the heartbeat.
    pub(crate) fn is_dead(&self, instance: &InstanceRow, now: Timestamp) -> bool {
        let alive = self.probe_instance(instance);
        !alive.unwrap_or_else(|| now.since(instance.heartbeat_at) <= HEARTBEAT_TIMEOUT)
    }

    /// Whether the process of `instance` is alive; `None` if it cannot be probed from here.
    pub(crate) fn probe_instance(&self, instance: &InstanceRow) -> Option<bool> {
        if instance.machine == self.machine { (self.probe)(&instance.process) } else { None }
    }

    /// Whether `instance` is this process.
    pub(crate) fn is_self(&self, instance: &InstanceRow) -> bool {
        instance.machine == self.machine && instance.process == self.process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(machine: &str, process: &str, silent_for: Duration, dead: bool) {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let identity = ProcessIdentity {
            machine: "here".to_owned(),
            process: "me".to_owned(),
            probe: Arc::new(|process| (process != "hidden").then_some(process == "alive")),
        };
        let instance = InstanceRow {
            id: "i".to_owned(),
            machine: machine.to_owned(),
            process: process.to_owned(),
            heartbeat_at: now.before(silent_for),
        };
        assert_eq!(identity.is_dead(&instance, now), dead, "{machine} {process} silent for {silent_for:?}");
    }

    #[test]
    fn the_probe_decides_on_this_machine_and_the_heartbeat_on_others() {
        check("here", "alive", Duration::from_secs(86_400), false);
        check("here", "gone", Duration::ZERO, true);
        check("here", "hidden", HEARTBEAT_TIMEOUT, false);
        check("here", "hidden", HEARTBEAT_TIMEOUT + Duration::from_micros(1), true);
        check("there", "gone", HEARTBEAT_TIMEOUT, false);
        check("there", "alive", HEARTBEAT_TIMEOUT + Duration::from_micros(1), true);
    }
}
