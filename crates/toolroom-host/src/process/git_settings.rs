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
mod tests {
    use super::*;

    fn runs(text: &str) -> bool {
        doubtful(text.as_bytes()).iter().any(|setting| matches!(setting, Setting::Runs(_)))
    }

    #[test]
    fn what_git_writes_itself_is_harmless() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n# a comment \\\n; another\n\n\
            [remote \"origin\"]\r\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [branch \"a/b.c\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user] name = A B # c\n[submodule \"m\"]\nactive\n";
        assert_eq!(doubtful(text.as_bytes()), []);
        let module = "[core]\nworktree = ../../../m\n";
        assert_eq!(doubtful(module.as_bytes()), [Setting::Place("../../../m".to_owned())]);
    }

    #[test]
    fn what_may_run_something_is_found_however_it_is_written() {
        for text in [
            "[core]\nfsmonitor = evil",
            "[CORE]\nFSMonitor=evil",
            "[core] hooksPath = /tmp",
            "[core]pager=evil",
            "[core]\nbare = false\\\npager = evil",
            "[core \"x\"]\nsshCommand = evil",
            "[ core]\neditor = evil",
            "[filter \"a\"]\nsmudge = evil",
            "[alias]\nst = !evil",
            "[include]\npath = evil",
            "[includeIf \"gitdir:/\"]\npath = evil",
            "[remote \"o\"]\nurl = ext::sh -c evil",
            "[remote \"o\"]\nurl = \"ext\":\"\":evil",
            "[remote \"a\\\"]\nuploadpack = evil\n[user \"]\nname = x",
            "[remote \"o\"]\nuploadpack = evil",
            "[submodule \"m\"]\nupdate = !evil",
            "[user\nname = evil",
            "\u{feff}[core]\npager = evil",
            "name = evil",
            "[user]\nname = a\n[core]\u{b}pager = evil",
        ] {
            assert!(runs(text), "{text:?}");
        }
        assert!(matches!(doubtful(b"[core]\n\xff").as_slice(), [Setting::Runs(_)]));
    }

    #[test]
    fn the_list_is_sorted_and_holds_nothing_twice() {
        assert!(HARMLESS.is_sorted_by(|one, next| one < next));
    }
}
