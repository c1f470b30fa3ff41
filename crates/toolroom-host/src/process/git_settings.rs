//! What the settings of a repository have git do, as far as that can be told from their names.
//!
//! A setting is harmless if it is known to be. All others are taken for what they could be: programs that git runs for
//! whoever uses the repository next, or places it looks for more settings in. So is every line that cannot be read.

/// Settings that run nothing, as `section.key`, with the names between them left out.
const HARMLESS: [&str; 60] = [
    "branch.description",
    "branch.merge",
    "branch.pushremote",
    "branch.rebase",
    "branch.remote",
    "core.abbrev",
    "core.autocrlf",
    "core.bare",
    "core.bigfilethreshold",
    "core.checkstat",
    "core.commentchar",
    "core.compression",
    "core.deltabasecachelimit",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.logallrefupdates",
    "core.longpaths",
    "core.multipackindex",
    "core.precomposeunicode",
    "core.preloadindex",
    "core.quotepath",
    "core.repositoryformatversion",
    "core.safecrlf",
    "core.sharedrepository",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "core.whitespace",
    "extensions.noop",
    "extensions.objectformat",
    "extensions.partialclone",
    "extensions.preciousobjects",
    "extensions.refstorage",
    "extensions.relativeworktrees",
    "extensions.worktreeconfig",
    "fetch.prune",
    "gc.auto",
    "index.version",
    "init.defaultbranch",
    "lfs.repositoryformatversion",
    "merge.conflictstyle",
    "merge.ff",
    "pull.ff",
    "pull.rebase",
    "push.autosetupremote",
    "push.default",
    "push.followtags",
    "remote.fetch",
    "remote.mirror",
    "remote.partialclonefilter",
    "remote.promisor",
    "remote.prune",
    "remote.tagopt",
    "submodule.active",
    "submodule.url",
    "user.email",
    "user.name",
];

/// Addresses, harmless as long as they name no helper.
const ADDRESSES: [&str; 2] = ["remote.pushurl", "remote.url"];

/// Where the files of a repository are.
const PLACE: &str = "core.worktree";

/// A setting that is not known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Setting {
    /// It may run something.
    Runs(String),
    /// It names this place.
    Place(String),
}

/// The settings in this text that are not known to be harmless.
pub(super) fn doubtful(text: &[u8]) -> Vec<Setting> {
    let Ok(text) = str::from_utf8(text) else {
        return vec![Setting::Runs(hex::encode(text))];
    };
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        if let Some((head, behind)) = rest.strip_prefix('[').and_then(split_head) {
            section = head;
            rest = behind.trim();
        }
        if !rest.is_empty() && !rest.starts_with(['#', ';']) {
            found.extend(judged(&section, rest));
        }
    }
    found
}

/// The section of a head without its bracket in front, and what stands behind it.
fn split_head(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.split_at(text.find([' ', '\t', ']', '"'])?);
    let rest = rest.trim_start();
    let behind = match rest.strip_prefix('"') {
        // Whatever is escaped there may be a quote.
        Some(inner) => {
            inner.split_once('"').filter(|(inner, _)| !inner.contains('\\'))?.1.strip_prefix(']')?
        }
        None => rest.strip_prefix(']')?,
    };
    Some((name.to_ascii_lowercase(), behind))
}

fn judged(section: &str, line: &str) -> Option<Setting> {
    let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
    let name = format!("{section}.{}", key.to_ascii_lowercase());
    let is_plain = !value.contains(['\\', '"']);
    let is_harmless =
        HARMLESS.contains(&name.as_str()) || (ADDRESSES.contains(&name.as_str()) && !value.contains("::"));
    match (name == PLACE, is_plain && is_harmless) {
        (true, _) if is_plain => Some(Setting::Place(value.to_owned())),
        (_, true) => None,
        (_, false) => Some(Setting::Runs(format!("{section} {line}"))),
    }
}

#[cfg(test)]
#[path = "git_settings_tests.rs"]
mod tests;
