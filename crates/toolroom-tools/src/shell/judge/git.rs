//! `git`: which of its commands only look, and which of its options start programs.

use super::call::Call;
use super::finding::Finding;
use super::paths::may_be_startup;
use super::started_by::valued;
use super::unwrap::Unwrapped;
use super::value::Value;

/// Commands that look, or change only what can be brought back.
const COMFORTABLE: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "add",
    "commit",
    "branch",
    "checkout",
    "switch",
    "stash",
    "tag",
    "blame",
    "grep",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "describe",
    "shortlog",
    "reflog",
    "merge",
    "rebase",
    "cherry-pick",
    "init",
    "mv",
    "merge-base",
    "cat-file",
    "name-rev",
    "count-objects",
    "whatchanged",
    "diff-tree",
    "diff-index",
    "show-ref",
    "symbolic-ref",
    "for-each-ref",
    "cherry",
    "help",
    "version",
    "worktree",
    "notes",
    "apply",
    "am",
    "format-patch",
    "range-diff",
    "verify-commit",
    "verify-tag",
    "check-ignore",
    "check-attr",
    "fsck",
    "gc",
    "revert",
    "show-branch",
    "var",
    "hash-object",
    "write-tree",
    "bisect",
    "restore",
    "remote",
    "config",
    "archive",
    "submodule",
];

/// Keys that may be set for one command.
const HARMLESS_KEYS: [&str; 9] = [
    "user.name",
    "user.email",
    "core.quotepath",
    "init.defaultbranch",
    "commit.gpgsign",
    "tag.gpgsign",
    "core.autocrlf",
    "log.date",
    "diff.renames",
];

/// What a call of `git` would start, and what speaks against it.
pub(super) fn unwrap(call: &Call) -> Unwrapped {
    let mut unwrapped = Unwrapped::default();
    let arguments = call.arguments();
    let mut at = 0;
    while let Some(value) = arguments.get(at) {
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() {
            return Unwrapped::found(Finding::opaque("a command of `git` that is not known before"));
        }
        at += 1;
        match text {
            "-C" => at += 1,
            "-c" | "--config-env" => {
                unwrapped.findings.extend(key(arguments.get(at)));
                at += 1;
            }
            "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" => {
                at += 1;
                unwrapped
                    .findings
                    .push(Finding::risk("another repository, whose settings may start programs"));
            }
            "--no-pager"
            | "-P"
            | "--version"
            | "--help"
            | "-h"
            | "-v"
            | "--no-optional-locks"
            | "--bare"
            | "--literal-pathspecs"
            | "--no-replace-objects" => {}
            _ if text.starts_with('-') => {
                unwrapped
                    .findings
                    .push(Finding::opaque("an option of `git` that is not known, or starts a pager"));
            }
            _ => {
                let rest = arguments.get(at..).unwrap_or_default();
                unwrapped.findings.extend(command(text, rest));
                unwrapped.findings.extend(runs(
                    call,
                    text,
                    rest,
                    at,
                    &mut unwrapped.calls,
                    &mut unwrapped.texts,
                ));
                if call.has_more
                    && !matches!(text, "add" | "log" | "diff" | "show" | "blame" | "ls-files" | "status")
                {
                    unwrapped.findings.push(Finding::risk("`git` with arguments that are not known before"));
                }
                return unwrapped;
            }
        }
    }
    if call.has_more {
        unwrapped.findings.push(Finding::opaque("a command of `git` that is not known before"));
    }
    unwrapped
}

fn key(value: Option<&Value>) -> Option<Finding> {
    let name = value.and_then(Value::known).and_then(|text| text.split('=').next()).unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let harmless =
        HARMLESS_KEYS.contains(&name.as_str()) || name.starts_with("color.") || name.starts_with("advice.");
    (!harmless).then(|| Finding::opaque("a setting of `git` that may start programs"))
}

fn command(name: &str, rest: &[Value]) -> Option<Finding> {
    let has = |words: &[&str]| rest.iter().any(|value| words.contains(&value.text.as_str()));
    let starts =
        |starts: &[&str]| rest.iter().any(|value| starts.iter().any(|start| value.text.starts_with(start)));
    let first = rest.first().map_or("", |value| value.text.as_str());
    let why = match name {
        "push" | "pull" | "fetch" | "clone" | "ls-remote" | "send-email" | "request-pull" | "svn" | "p4" => {
            "reaches another repository"
        }
        "reset" => "moves a branch, and may throw work away",
        "clean" | "rm" => "removes files",
        "restore" => "throws changes away",
        "checkout" if has(&["-f", "--force", "--", "."]) => "throws changes away",
        "switch" if has(&["-f", "--force", "--discard-changes"]) => "throws changes away",
        "stash" if matches!(first, "drop" | "clear") => "throws changes away",
        "branch" if has(&["-D", "-M", "-f", "--force"]) || (has(&["-d", "--delete"])) => "removes a branch",
        "tag" if has(&["-d", "--delete", "-f", "--force"]) => "removes a tag",
        "reflog" if matches!(first, "delete" | "expire") => "removes what work could be brought back from",
        "gc" if starts(&["--prune", "--aggressive"]) => "removes what work could be brought back from",
        "worktree" if matches!(first, "remove" | "prune") => "removes files",
        "remote"
            if !matches!(first, "" | "get-url")
                && (rest.len() > 1 || !matches!(first, "-v" | "--verbose" | "show")) =>
        {
            "changes where the repository reaches"
        }
        "config"
            if rest.len() > 1
                && !first.starts_with("--get")
                && !matches!(first, "-l" | "--list" | "get" | "list")
                && !has(&["--list", "-l"]) =>
        {
            "changes settings, which may start programs"
        }
        "filter-branch" | "filter-repo" | "replace" | "update-ref" | "fast-import" => "rewrites history",
        "archive" if starts(&["--r", "--e", "-o", "--o"]) => "writes a file or reaches another repository",
        "submodule" if !matches!(first, "" | "status" | "summary") => {
            "reaches another repository, or runs a command"
        }
        _ if !COMFORTABLE.contains(&name) => "a command of `git` that is not known, or an alias",
        _ => return None,
    };
    Some(Finding::risk(why))
}

/// Options of its commands that start programs or write files.
fn runs(
    call: &Call,
    name: &str,
    rest: &[Value],
    at: usize,
    calls: &mut Vec<Call>,
    texts: &mut Vec<Value>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if name == "bisect" && rest.first().is_some_and(|value| value.text == "run") {
        calls.extend(call.behind(at + 1));
    }
    if name == "submodule" && rest.first().is_some_and(|value| value.text == "foreach") {
        texts.push(super::unwrap::joined(rest.get(1..).unwrap_or_default()));
    }
    if name == "rebase"
        && let Some(rest) = call.behind(at.saturating_sub(1))
    {
        texts.extend(valued(&rest, "x", &["exec"]));
    }
    let mut is_message = false;
    for value in rest {
        let text = value.text.as_str();
        if text == "--" {
            break;
        }
        if value.may_be_option() && value.known().is_none() && !is_message {
            findings.push(Finding::risk("`git` with options that are not known before"));
        }
        let is_short =
            |letter: char| text.starts_with('-') && !text.starts_with("--") && text.ends_with(letter);
        is_message = is_short('m') || text == "--message" || text == "--grep" || text == "--author";
        let long = text.strip_prefix("--").map(|long| long.split('=').next().unwrap_or_default());
        // Long options may be abbreviated.
        let is_long = |names: &[&str]| {
            long.is_some_and(|long| !long.is_empty() && names.iter().any(|name| name.starts_with(long)))
        };
        if name == "grep" && (is_long(&["open-files-in-pager"]) || is_cluster(text, 'O'))
            || name != "rebase"
                && is_long(&["upload-pack", "receive-pack", "exec", "ext-diff", "extcmd", "tool"])
        {
            findings.push(Finding::opaque("an option of `git` that starts a program"));
        }
        if is_long(&["output"]) && matches!(name, "log" | "diff" | "show" | "format-patch") {
            findings.push(Finding::risk("writes a file"));
        }
        if matches!(name, "format-patch" | "mv" | "worktree" | "init") && may_be_startup(value) {
            findings.push(Finding::touch("may write a file that is run by others later"));
        }
        if is_long(&["template"]) && matches!(name, "init" | "clone") {
            findings.push(Finding::opaque("a repository that starts programs"));
        }
        if text.starts_with("ext::") {
            findings.push(Finding::opaque("a repository that starts programs"));
        }
    }
    findings
}

/// Whether a letter stands in a cluster of short options.
fn is_cluster(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letter))
}
