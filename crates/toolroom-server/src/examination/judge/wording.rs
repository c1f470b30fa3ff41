//! How findings are worded.

use std::path::Path;

pub(super) const MB: u64 = 1_000_000;
pub(super) const GB: u64 = 1_000 * MB;

/// Names that are listed; of more it is said how many.
pub(super) const LISTED: usize = 5;

/// What brings back what is lost or damaged.
pub(super) const RESTORE: &str = "toolroom backup restore FILE";

pub(super) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if noun.ends_with('s') { "es" } else { "s" };
    format!("{count} {noun}{}", if count == 1 { "" } else { plural })
}

pub(super) fn first_of(lines: &[String]) -> String {
    let first = lines.first().map(String::as_str).unwrap_or_default();
    match lines.len() {
        0 | 1 => first.to_owned(),
        count => format!("{first} (and {} more)", count - 1),
    }
}

pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Coarse, so that two looks one after the other say the same.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        ..MB => "less than 1 MB".to_owned(),
        MB..GB => format!("{} MB", bytes / MB),
        GB.. => format!("{}.{} GB", bytes / GB, bytes % GB / (100 * MB)),
    }
}

/// A path as one word of a shell.
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
