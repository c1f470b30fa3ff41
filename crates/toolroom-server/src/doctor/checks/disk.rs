//! The check `disk`: free space for the data folder.

use std::io;
use std::path::Path;

use toolroom_host::machine::{self, DiskSpace, Extent, TreeSize};
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::{MB, one, size};

/// Free space below this is a warning.
pub(crate) const LOW_BYTES: u64 = 100 * MB;

/// Free space below this is an error.
pub(crate) const FULL_BYTES: u64 = 10 * MB;

/// The size of a larger data folder is a lower bound.
const MAX_COUNTED_ENTRIES: u64 = 100_000;

const PRUNE: &str = "toolroom log prune --older-than 30d";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DiskFacts {
    pub(crate) space: DiskSpace,
    /// Size of the data folder. `None` if it does not exist or cannot be read.
    pub(crate) used: Option<TreeSize>,
}

pub(crate) fn gather(data: &Path) -> io::Result<DiskFacts> {
    let used = machine::tree_size(data, MAX_COUNTED_ENTRIES).ok();
    Ok(DiskFacts { space: machine::space(data)?, used })
}

pub(crate) fn check(facts: &Result<DiskFacts, String>) -> Check {
    let facts = match facts {
        Ok(facts) => facts,
        Err(cause) => {
            let details = format!("free space is unknown: {cause}");
            return one(Finding::error("disk.unreadable", details, "df -h"));
        }
    };
    let (free, total) = (facts.space.free_bytes, facts.space.total_bytes);
    if total == 0 {
        let details = "the file system does not report free space";
        return one(Finding::warning("disk.unknown", details, "df -h"));
    }
    let mut details = format!("{} free of {}", size(free), size(total));
    if let Some(used) = facts.used {
        let least = if used.extent == Extent::Part { "at least " } else { "" };
        details.push_str(&format!("; data takes {least}{}", size(used.bytes)));
    }
    let found = match free {
        ..FULL_BYTES => {
            // Deleting calls needs free space itself, for the write-ahead log.
            let remedy = format!("delete other files on that disk, then: {PRUNE}");
            Some(Finding::error("disk.full", details.clone(), remedy))
        }
        FULL_BYTES..LOW_BYTES => Some(Finding::warning("disk.low", details.clone(), PRUNE)),
        LOW_BYTES.. => None,
    };
    Check::new(details, found.into_iter().collect())
}
