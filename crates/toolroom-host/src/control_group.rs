//! Whether the kernel could limit programs as a group (cgroup v2). Reported only, never required.

use std::path::{Path, PathBuf};

use rustix::fs::Access;
use serde::Serialize;

/// Files that must be writable to create groups.
const OWN_FILES: [&str; 3] = ["", "cgroup.procs", "cgroup.subtree_control"];

/// The control group of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ControlGroup {
    /// No cgroup of version 2.
    Absent,
    /// A cgroup in which this process may not create groups.
    NotDelegated,
    /// A cgroup in which this process may create groups.
    Delegated {
        /// Whether they can limit memory.
        memory: bool,
        /// Whether they can limit the number of processes.
        processes: bool,
    },
}

impl ControlGroup {
    /// Detects it. Changes nothing.
    #[expect(clippy::disallowed_methods, reason = "this is the door: the kernel's word about this process")]
    #[must_use]
    pub fn current() -> Self {
        let text = |file| std::fs::read_to_string(file).unwrap_or_default();
        folder(&text("/proc/self/cgroup"), &text("/proc/self/mountinfo"))
            .map_or(Self::Absent, |folder| Self::at(&folder))
    }

    /// A short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Absent => "no cgroup v2",
            Self::NotDelegated => "a cgroup v2 that is not delegated",
            Self::Delegated { .. } => "a delegated cgroup v2",
        }
    }

    /// How memory and processes are limited, and the role of the cgroup.
    #[must_use]
    pub fn meaning(self) -> String {
        let bounds =
            "memory and processes are bounded by limits of each process and by a watcher of the whole tree";
        let group = match self {
            Self::Absent => "there is no cgroup v2 here, and none is needed",
            Self::NotDelegated => "the cgroup v2 here is not delegated to us, and none is needed",
            Self::Delegated { memory: true, processes: true } => {
                "a cgroup v2 with `memory` and `pids` is delegated to us, which is not needed and not used"
            }
            Self::Delegated { .. } => {
                "a cgroup v2 is delegated to us without `memory` or `pids`, which is not needed and not used"
            }
        };
        format!("{bounds}; {group}")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door: what the kernel lets us do with a group"
    )]
    fn at(folder: &Path) -> Self {
        let Ok(controllers) = std::fs::read_to_string(folder.join("cgroup.controllers")) else {
            return Self::Absent;
        };
        let may_write = |file: &str| rustix::fs::access(folder.join(file), Access::WRITE_OK).is_ok();
        if !OWN_FILES.into_iter().all(may_write) {
            return Self::NotDelegated;
        }
        let has = |wanted| controllers.split_ascii_whitespace().any(|controller| controller == wanted);
        Self::Delegated { memory: has("memory"), processes: has("pids") }
    }
}

/// The folder of our cgroup of version 2, from the kernel's lists of groups and mounts.
fn folder(groups: &str, mounts: &str) -> Option<PathBuf> {
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    mounts.lines().find_map(|line| {
        let (fields, kind) = line.split_once(" - ")?;
        if kind.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = fields.split(' ').skip(3);
        let (root, place) = (fields.next()?, fields.next()?);
        // A mount shows only what is below its root.
        let below = Path::new("/").join(own);
        Some(Path::new(place).join(below.strip_prefix(root).ok()?))
    })
}

#[cfg(test)]
#[path = "control_group_tests.rs"]
mod tests;
