//! `git`: which commands only read, and which options start programs.

use super::invocation::Invocation;
use super::launchers::valued;
use super::paths::{is_one_file_inside, is_outside, is_system, may_be_startup};
use super::report::Concern;
use super::started_programs::StartedPrograms;
use super::value::{UNKNOWN, Value};

/// Commands that read, or whose changes can be undone.
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
    "reset",
    "clean",
    "rm",
];

/// Configuration keys that may be set for one command.
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

/// The programs an invocation of `git` would start, and concerns about it.
pub(super) fn programs_started_by(invocation: &Invocation) -> StartedPrograms {
    let mut started = StartedPrograms::default();
    let arguments = invocation.arguments();
    let mut at = 0;
    let mut folder: Option<&Value> = None;
    while let Some(value) = arguments.get(at) {
        let text = value.text.as_str();
        if value.may_be_option() && value.known().is_none() {
            return StartedPrograms::found(Concern::opaque(
                "a command of `git` that is not known in advance",
            ));
        }
        at += 1;
        match text {
            "-C" => {
                folder = arguments.get(at);
                at += 1;
            }
            "-c" | "--config-env" => {
                started.concerns.extend(key(arguments.get(at)));
                at += 1;
            }
            "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" => {
                at += 1;
                started.concerns.push(Concern::risk("another repository, whose settings may start programs"));
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
                started
                    .concerns
                    .push(Concern::opaque("an option of `git` that is not known, or starts a pager"));
            }
            _ => {
                let rest = arguments.get(at..).unwrap_or_default();
                started.concerns.extend(command(text, rest));
                let leads_out = matches!(text, "apply" | "am" | "rm") && folder.is_some_and(is_outside);
                if leads_out || writes_elsewhere(text, rest) {
                    started.concerns.push(Concern::risk("writes outside of the folder it runs in"));
                }
                started.concerns.extend(runs(
                    invocation,
                    text,
                    rest,
                    at,
                    &mut started.calls,
                    &mut started.texts,
                ));
                if invocation.has_more
                    && !matches!(text, "add" | "log" | "diff" | "show" | "blame" | "ls-files" | "status")
                {
                    started
                        .concerns
                        .push(Concern::risk("`git` with arguments that are not known in advance"));
                }
                return started;
            }
        }
    }
    if invocation.has_more {
        started.concerns.push(Concern::opaque("a command of `git` that is not known in advance"));
    }
    started
}

fn key(value: Option<&Value>) -> Option<Concern> {
    let name = value.and_then(Value::known).and_then(|text| text.split('=').next()).unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let harmless =
        HARMLESS_KEYS.contains(&name.as_str()) || name.starts_with("color.") || name.starts_with("advice.");
    (!harmless).then(|| Concern::opaque("a setting of `git` that may start programs"))
}

fn command(name: &str, rest: &[Value]) -> Option<Concern> {
    let has = |words: &[&str]| rest.iter().any(|value| words.contains(&value.text.as_str()));
    let options: Vec<&str> =
        rest.iter().map(|value| value.text.as_str()).take_while(|text| *text != "--").collect();
    let starts =
        |starts: &[&str]| options.iter().any(|text| starts.iter().any(|start| text.starts_with(start)));
    let has_letter =
        |letters: &str| options.iter().any(|text| letters.chars().any(|letter| is_cluster(text, letter)));
    let operands = rest.iter().filter(|value| !value.text.starts_with('-')).count();
    let first = rest.first().map_or("", |value| value.text.as_str());
    let why = match name {
        "push" | "pull" | "fetch" | "clone" | "ls-remote" | "send-email" | "request-pull" | "svn" | "p4" => {
            "reaches another repository"
        }
        // Without it, only staged changes are reset.
        "reset"
            if starts(&["--h", "--m", "--k"])
                || options.iter().any(|text| text.contains(['~', '^', '@'])) =>
        {
            "moves a branch, and may throw work away"
        }
        "clean" if has_letter("e") || starts(&["--e"]) || !has_letter("n") && !starts(&["--dry"]) => {
            "removes files"
        }
        "rm" if !options.contains(&"--cached")
            && !matches!(rest, [file] if is_one_file_inside(file) && !is_wide(file)) =>
        {
            "removes files"
        }
        "restore"
            if has_letter("Ws") || starts(&["--w", "--so"]) || !has_letter("S") && !starts(&["--sta"]) =>
        {
            "throws changes away"
        }
        "checkout"
            if has_letter("fB")
                || starts(&["--f", "--our", "--th"])
                || has(&["--"])
                || rest.iter().any(is_wide)
                || operands > 1 && !has_letter("b") && !starts(&["--orphan"]) =>
        {
            "throws changes away"
        }
        "switch" if has_letter("fC") || starts(&["--f", "--di"]) => "throws changes away",
        "stash" if matches!(first, "drop" | "clear") => "throws changes away",
        // `-d` alone only deletes merged branches.
        "branch" if has_letter("DMCf") || starts(&["--forc"]) => "removes a branch",
        "bisect" if matches!(first, "visualize" | "view") => "opens a window",
        "help" if has_letter("w") || starts(&["--w"]) => "opens a window",
        "symbolic-ref" if operands > 1 || has_letter("d") || starts(&["--d"]) => {
            "moves a branch, and may throw work away"
        }
        "notes" if first == "remove" => "removes a note",
        "tag" if has_letter("df") || starts(&["--d", "--forc"]) => "removes a tag",
        "reflog" if matches!(first, "delete" | "expire") => "removes what work could be brought back from",
        "gc" if starts(&["--prune", "--aggressive"]) => "removes what work could be brought back from",
        "worktree" if matches!(first, "remove" | "prune") => "removes files",
        "remote"
            if !matches!(first, "" | "get-url")
                && (rest.len() > 1 || !matches!(first, "-v" | "--verbose" | "show")) =>
        {
            "changes where the repository reaches"
        }
        "config" if !only_tells_settings(rest) => "changes settings, which may start programs",
        "filter-branch" | "filter-repo" | "replace" | "update-ref" | "fast-import" => "rewrites history",
        "archive" if starts(&["--r", "--e", "-o", "--o"]) => "writes a file or reaches another repository",
        "submodule" if !matches!(first, "" | "status" | "summary") => {
            "reaches another repository, or runs a command"
        }
        _ if !COMFORTABLE.contains(&name) => "a command of `git` that is not known, or an alias",
        _ => return None,
    };
    Some(Concern::risk(why))
}

/// Whether a word can name several files.
fn is_wide(value: &Value) -> bool {
    value.is_glob
        || matches!(value.text.as_str(), "." | "./")
        || value.text.starts_with(':')
        || value.text.contains('*')
}

/// Whether `config` only shows settings.
fn only_tells_settings(rest: &[Value]) -> bool {
    let mut words = rest.iter().map(|value| value.text.as_str());
    let is_scope =
        |text: &str| matches!(text, "--global" | "--local" | "--system" | "--show-origin" | "--show-scope");
    match words.find(|text| !is_scope(text)) {
        None | Some("-l" | "--list" | "get" | "list") => true,
        Some(first) if first.starts_with("--get") => true,
        Some(first) => !first.starts_with('-') && first.contains('.') && words.next().is_none(),
    }
}

/// Whether a command writes into a folder named by an argument.
fn writes_elsewhere(name: &str, rest: &[Value]) -> bool {
    match name {
        "apply" | "am" => rest.iter().any(|value| {
            let text = value.text.as_str();
            let folder = text.strip_prefix("--directory=").map(Value::plain);
            text.len() > 4 && "--unsafe-paths".starts_with(text) || folder.as_ref().is_some_and(is_outside)
        }),
        "worktree" | "init" => rest.iter().any(is_system),
        _ => false,
    }
}

/// Options of git commands that start programs or write files.
fn runs(
    invocation: &Invocation,
    name: &str,
    rest: &[Value],
    at: usize,
    calls: &mut Vec<Invocation>,
    texts: &mut Vec<Value>,
) -> Vec<Concern> {
    let mut concerns = Vec::new();
    if name == "bisect" && rest.first().is_some_and(|value| value.text == "run") {
        calls.extend(invocation.behind(at + 1));
    }
    if name == "submodule" && rest.first().is_some_and(|value| value.text == "foreach") {
        texts.push(super::started_programs::joined(rest.get(1..).unwrap_or_default()));
    }
    if name == "rebase"
        && let Some(rest) = invocation.behind(at.saturating_sub(1))
    {
        texts.extend(valued(&rest, "x", &["exec"]));
    }
    let mut is_message = false;
    for value in rest {
        let text = value.text.as_str();
        if text == "--" {
            break;
        }
        let is_named = !value.splits
            && text.starts_with("--")
            && text.split_once('=').is_some_and(|(name, _)| !name.contains(UNKNOWN));
        if value.may_be_option() && value.known().is_none() && !is_message && !is_named {
            concerns.push(Concern::risk("`git` with options that are not known in advance"));
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
            concerns.push(Concern::opaque("an option of `git` that starts a program"));
        }
        if is_long(&["output", "output-directory"]) {
            concerns.push(Concern::risk("writes a file"));
        }
        if matches!(name, "format-patch" | "mv" | "worktree" | "init") && may_be_startup(value) {
            concerns.push(Concern::touch("may write a file that is run by others later"));
        }
        if is_long(&["template"]) && matches!(name, "init" | "clone") {
            concerns.push(Concern::opaque("a repository that starts programs"));
        }
        if text.starts_with("ext::") {
            concerns.push(Concern::opaque("a repository that starts programs"));
        }
    }
    concerns
}

/// Whether a cluster of short options contains the letter.
fn is_cluster(text: &str, letter: char) -> bool {
    text.strip_prefix('-').is_some_and(|cluster| !cluster.starts_with('-') && cluster.contains(letter))
}
