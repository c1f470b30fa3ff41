//! Classifies git settings by name.
//!
//! Only known settings are harmless. All others, and lines that cannot be parsed, count as commands that git may run for
//! the next user of the repository, or as includes of more settings.

/// Settings that run nothing, as `section.key` without subsections.
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

/// URLs, harmless unless they name a remote helper.
const ADDRESSES: [&str; 2] = ["remote.pushurl", "remote.url"];

/// The location of the working tree.
const PLACE: &str = "core.worktree";

/// Settings that are not harmless, but name no file that git runs by itself: aliases and tools run only on request, other
/// files are only read. As `section.key`, or a whole section.
const NO_PROGRAMS: [&str; 19] = [
    "alias",
    "blame.ignorerevsfile",
    "branch",
    "browser",
    "color",
    "commit.template",
    "core.attributesfile",
    "core.excludesfile",
    "difftool",
    "format",
    "gpg.allowedsignersfile",
    "guitool",
    "http",
    "mailmap",
    "mergetool",
    "sendemail",
    "url",
    "user",
    "web",
];

/// Maximum number of words examined per setting.
const MAX_WORDS: usize = 64;

/// A setting that is not known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting {
    /// It may run a command.
    Runs(ConfiguredProgram),
    /// It names the working tree.
    Place(String),
}

/// What a setting may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfiguredProgram {
    /// The whole setting.
    pub(super) text: String,
    /// The words that may be paths.
    pub(super) words: Vec<String>,
    /// Whether they may be a folder of hooks.
    pub(super) is_hooks: bool,
    /// Whether they may be files with more settings.
    pub(super) is_include: bool,
}

impl ConfiguredProgram {
    fn new(section: &str, key: &str, value: &str, line: &str) -> Self {
        let name = format!("{section}.{key}");
        let is_none = NO_PROGRAMS.iter().any(|none| *none == section || *none == name);
        let is_include = section.starts_with("include");
        let is_hooks = key == "hookspath";
        let mut words = if is_none { Vec::new() } else { paths_in(line) };
        if is_include || is_hooks {
            words.extend(plain(value));
        }
        words.truncate(MAX_WORDS);
        Self { text: format!("{section} {line}"), words, is_hooks, is_include }
    }

    /// A text that cannot be parsed, with all possible meanings.
    fn anything(text: &str, told: String) -> Self {
        let words = paths_in(text).into_iter().take(MAX_WORDS).collect();
        Self { text: told, words, is_hooks: true, is_include: true }
    }
}

/// Words with a slash or dot. Others are programs in `PATH`, options, or words of a language.
fn paths_in(text: &str) -> Vec<String> {
    let is_between = |c: char| c.is_whitespace() || "\"'`=;|&()<>!$".contains(c);
    let words = text.split(is_between).map(|word| word.replace('\\', ""));
    words.filter(|word| word.contains(['/', '.']) && !word.starts_with('-')).collect()
}

/// A value as one path: unquoted and unescaped, with and without a possible comment.
fn plain(value: &str) -> Vec<String> {
    let bare = |text: &str| text.replace(['"', '\\'], "").trim().to_owned();
    let mut all = vec![bare(value), bare(value.split(['#', ';']).next().unwrap_or_default())];
    all.dedup();
    all.retain(|path| !path.is_empty());
    all
}

/// The settings of a text that are not known to be harmless.
pub(super) fn doubtful(text: &[u8]) -> Vec<Setting> {
    let Ok(text) = str::from_utf8(text) else {
        return vec![Setting::Runs(ConfiguredProgram::anything(
            &String::from_utf8_lossy(text),
            hex::encode(text),
        ))];
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
    // A continued value was parsed as two settings.
    let is_continued = |one: &Setting| matches!(one, Setting::Runs(program) if program.text.ends_with('\\'));
    if found.iter().any(is_continued) {
        found.push(Setting::Runs(ConfiguredProgram::anything(text, "lines that go on".to_owned())));
    }
    found
}

/// The section of a header, and the text after it.
fn split_head(text: &str) -> Option<(String, &str)> {
    let (name, rest) = text.split_at(text.find([' ', '\t', ']', '"'])?);
    let rest = rest.trim_start();
    let behind = match rest.strip_prefix('"') {
        // Any escaped character may be a quote.
        Some(inner) => {
            inner.split_once('"').filter(|(inner, _)| !inner.contains('\\'))?.1.strip_prefix(']')?
        }
        None => rest.strip_prefix(']')?,
    };
    Some((name.to_ascii_lowercase(), behind))
}

fn judged(section: &str, line: &str) -> Option<Setting> {
    let (key, value) = line.split_once('=').map_or((line, ""), |(key, value)| (key.trim(), value.trim()));
    let key = key.to_ascii_lowercase();
    let name = format!("{section}.{key}");
    let is_plain = !value.contains(['\\', '"']);
    let is_harmless =
        HARMLESS.contains(&name.as_str()) || (ADDRESSES.contains(&name.as_str()) && !value.contains("::"));
    match (name == PLACE, is_plain && is_harmless) {
        (true, _) if is_plain => Some(Setting::Place(value.to_owned())),
        (_, true) => None,
        (_, false) => Some(Setting::Runs(ConfiguredProgram::new(section, &key, value, line))),
    }
}

#[cfg(test)]
#[path = "git_settings_tests.rs"]
mod tests;
