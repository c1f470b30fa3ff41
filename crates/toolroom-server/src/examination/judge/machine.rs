//! What the machine means for us: its disk, its sandbox, its clock.

use std::time::Duration;

use toolroom::clock::Timestamp;
use toolroom_host::machine::{Extent, Machine, UserNamespaces};
use toolroom_host::sandbox::Level;
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::super::facts::{DiskFacts, SandboxFacts};
use super::one;
use super::wording::{MB, size};

/// Below this somebody should make room.
pub(super) const LOW_BYTES: u64 = 100 * MB;

/// Below this hardly anything can be written any more.
pub(super) const FULL_BYTES: u64 = 10 * MB;

/// Outside these years a clock was never set, or set wrongly.
const YEARS: std::ops::RangeInclusive<i16> = 2025..=2100;

/// Clocks of machines that share a database may differ so much.
pub(super) const CLOCK_SLACK: Duration = Duration::from_secs(60);

const PRUNE: &str = "toolroom log prune --older-than 30d";
const SET_CLOCK: &str = "sudo timedatectl set-ntp true";

pub(super) fn disk(facts: &Result<DiskFacts, String>) -> Check {
    let facts = match facts {
        Ok(facts) => facts,
        Err(cause) => {
            let details = format!("how much room is left cannot be found out: {cause}");
            return one(Finding::error("disk.unreadable", details, "df -h"));
        }
    };
    let (free, total) = (facts.space.free_bytes, facts.space.total_bytes);
    if total == 0 {
        let details = "its file system does not say how much room there is";
        return one(Finding::warning("disk.unknown", details, "df -h"));
    }
    let mut details = format!("{} free of {}", size(free), size(total));
    if let Some(used) = facts.used {
        let least = if used.extent == Extent::Part { "at least " } else { "" };
        details.push_str(&format!("; data takes {least}{}", size(used.bytes)));
    }
    let found = match free {
        ..FULL_BYTES => {
            // Deleting calls needs room itself, for the log of what is deleted.
            let remedy = format!("delete other files on that disk, then: {PRUNE}");
            Some(Finding::error("disk.full", details.clone(), remedy))
        }
        FULL_BYTES..LOW_BYTES => Some(Finding::warning("disk.low", details.clone(), PRUNE)),
        LOW_BYTES.. => None,
    };
    Check::new(details, found.into_iter().collect())
}

/// How well programs are confined here.
pub(super) fn sandbox(machine: &Machine, found: &Result<SandboxFacts, String>) -> Check {
    let mut parts = vec![match machine.landlock_abi {
        0 => "no Landlock".to_owned(),
        version => format!("Landlock {version}"),
    }];
    parts.push(if machine.seccomp { "seccomp" } else { "no seccomp" }.to_owned());
    parts.push(match machine.user_namespaces {
        UserNamespaces::Possible => "user namespaces".to_owned(),
        UserNamespaces::Absent => "no user namespaces".to_owned(),
        UserNamespaces::Forbidden { by } => format!("no user namespaces (`{by}`)"),
    });
    parts.push(if machine.bubblewrap.is_some() { "bubblewrap" } else { "no bubblewrap" }.to_owned());
    parts.push(machine.control_group.name().to_owned());
    let parts = parts.join(", ");
    let sandbox = match found {
        Ok(sandbox) => sandbox,
        Err(cause) => {
            let details = format!("programs that tools start cannot be confined here: {cause} ({parts})");
            return one(Finding::warning("sandbox.none", details, sandbox_remedy(machine)));
        }
    };
    let meaning = match sandbox.level {
        Level::Namespaces => {
            "programs see the system, their folder and a `/tmp` of their own, and no network"
        }
        Level::Landlock => "programs can open the system and their folder only, and no network",
    };
    let mut details = format!("level `{}`: {meaning} ({parts})", sandbox.level.name());
    if !sandbox.gaps.is_empty() {
        details.push_str(&format!("; what does not hold: {}", sandbox.gaps.join("; ")));
    }
    if let Some(shortfall) = &sandbox.shortfall {
        details.push_str(&format!("; why it is not a stronger level: {shortfall}"));
    }
    details.push_str(&format!("; {}", machine.control_group.meaning()));
    one(Finding::ok(details))
}

pub(super) fn sandbox_remedy(machine: &Machine) -> String {
    match machine.user_namespaces {
        UserNamespaces::Possible => "sudo apt-get install bubblewrap".to_owned(),
        UserNamespaces::Absent => "uname -r".to_owned(),
        UserNamespaces::Forbidden { by } => {
            // The one of AppArmor says what is restricted, the others what is allowed.
            let value = if by.contains("restrict") { 0 } else { 10_000 };
            format!("echo {value} | sudo tee {by}")
        }
    }
}

pub(super) fn clock(machine: &Machine, newest_at: Option<Timestamp>, now: Timestamp) -> Check {
    let mut found = Vec::new();
    if !YEARS.contains(&machine.year) {
        let details = format!("the clock says it is the year {}", machine.year);
        found.push(Finding::error("clock.year", details, SET_CLOCK));
    }
    let ahead = newest_at.map(|newest| newest.since(now));
    if let Some(ahead) = ahead.filter(|ahead| *ahead > CLOCK_SLACK) {
        let details = format!("the clock is {} s behind the newest call of the journal", ahead.as_secs());
        found.push(Finding::warning("clock.behind", details, SET_CLOCK));
    }
    if !machine.core_dumps_off {
        let details = "a crash would leave the memory of this process, with its secrets, in a file";
        found.push(Finding::warning("clock.core_dumps", details, "ulimit -c 0"));
    }
    Check::new("the clock is right as far as can be seen; core dumps are off", found)
}
