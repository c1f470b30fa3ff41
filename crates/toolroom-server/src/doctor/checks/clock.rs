//! The check `clock`: the system clock, and whether a crash would write secrets into a core dump.

use std::time::Duration;

use toolroom::clock::Timestamp;
use toolroom_host::machine::Machine;
use toolroom_tools::builtin::doctor::{Check, Finding};

/// A clock outside these years was not set.
const YEARS: std::ops::RangeInclusive<i16> = 2025..=2100;

/// How much the clocks of machines that share a database may differ.
pub(crate) const CLOCK_SLACK: Duration = Duration::from_secs(60);

const SET_CLOCK: &str = "sudo timedatectl set-ntp true";

pub(crate) fn check(machine: &Machine, newest_at: Option<Timestamp>, now: Timestamp) -> Check {
    let mut found = Vec::new();
    if !YEARS.contains(&machine.year) {
        let details = format!("the clock says it is the year {}", machine.year);
        found.push(Finding::error("clock.year", details, SET_CLOCK));
    }
    let ahead = newest_at.map(|newest| newest.since(now));
    if let Some(ahead) = ahead.filter(|ahead| *ahead > CLOCK_SLACK) {
        let details = format!("the clock is {} s behind the newest call in the journal", ahead.as_secs());
        found.push(Finding::warning("clock.behind", details, SET_CLOCK));
    }
    if !machine.core_dumps_off {
        let details = "core dumps are on: a crash would write secrets to a file";
        found.push(Finding::warning("clock.core_dumps", details, "ulimit -c 0"));
    }
    Check::new("the clock looks right; core dumps are off", found)
}
