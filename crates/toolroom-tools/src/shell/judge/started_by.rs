//! Programs that start others by the way: each has its own form.

use super::awk;
use super::call::Call;
use super::finding::Finding;
use super::interpreters;
use super::reading_commands::only_tells;
use super::unwrap::{Unwrapped, behind_equals, behind_options, joined};
use super::value::Value;
use super::wrappers::{PLAIN, Wrapper};
use super::{git, make, npx, sed, starting_options, tar};

/// What a call would start.
pub(super) fn unwrap(call: &Call) -> Unwrapped {
    if only_tells(call) && !interpreters::is_interpreter(call.name()) {
        return Unwrapped::default();
    }
    match call.name() {
        "npx" | "bunx" => Unwrapped::call(npx::local_tool(call).and_then(|at| call.behind(at))),
        "watch" => shell_text(call, &WATCH),
        "ssh" => shell_text(call, &SSH),
        "hyperfine" | "pee" | "mispipe" | "cross-env-shell" => {
            Unwrapped { texts: operands(call), ..Unwrapped::default() }
        }
        "parallel" | "rush" | "moreutils-parallel" => parallel(call),
        "su" | "runuser" | "script" => {
            Unwrapped { texts: valued(call, "c", &["command", "session-command"]), ..Unwrapped::default() }
        }
        "fd" | "fdfind" => fd(call),
        "entr" | "nodemon" | "watchexec" | "cargo-watch" | "inotifywait" => {
            Unwrapped::found(Finding::risk("runs a command again and again"))
        }
        "tar" | "gtar" | "bsdtar" => tar::unwrap(call),
        "git" => git::unwrap(call),
        "sed" | "gsed" => sed::unwrap(call),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk::unwrap(call),
        "rsync" => Unwrapped { texts: valued(call, "e", &["rsh", "rsync-path"]), ..unseen_names(call) },
        "make" | "gmake" | "ninja" => make::unwrap(call),
        "zip" if !starting_options::starts(call) => unseen_names(call),
        "nix-shell" | "nix" => Unwrapped::found(Finding::opaque("what it would start depends on packages")),
        "vi" | "nvim" | "ex" | "view" | "vimdiff" | "gvim" | "rvim" | "rview" => editor(call),
        name if name == "vim" || name.starts_with("vim.") => editor(call),
        _ if starting_options::starts(call) => program_text(),
        _ => interpreters::inline(call),
    }
}

fn program_text() -> Unwrapped {
    Unwrapped::found(Finding::opaque("it may start other programs"))
}

const WATCH: Wrapper = Wrapper {
    name: "watch",
    flags: "bcdegptxCrw",
    valued: "nq",
    long: &["beep", "color", "differences", "errexit", "chgexit", "precise", "no-title", "exec", "no-wrap"],
    long_valued: &["interval", "equexit"],
    ..PLAIN
};

const SSH: Wrapper = Wrapper {
    name: "ssh",
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    valued: "BbcDEeFIiJLlmOopQRSWw",
    skipped: 1,
    ..PLAIN
};

/// The arguments behind the options are a text for a shell.
fn shell_text(call: &Call, wrapper: &Wrapper) -> Unwrapped {
    match behind_options(call, wrapper) {
        Err(finding) => Unwrapped::found(finding),
        Ok(at) => match call.arguments().get(at..) {
            None | Some([]) => Unwrapped::default(),
            Some(words) => Unwrapped { texts: vec![joined(words)], ..Unwrapped::default() },
        },
    }
}

/// Every operand, and every value that is joined to an option.
fn operands(call: &Call) -> Vec<Value> {
    let joined =
        call.arguments().iter().filter(|value| value.text.starts_with('-')).filter_map(behind_equals);
    call.operands().cloned().chain(joined).collect()
}

/// The values of an option, joined to it or behind it. A letter that may be one in a cluster is taken for it.
pub(super) fn valued(call: &Call, short: &str, long: &[&str]) -> Vec<Value> {
    let mut values = Vec::new();
    let arguments = call.arguments();
    for (index, value) in arguments.iter().enumerate() {
        let text = value.text.as_str();
        let joined = if let Some(rest) = text.strip_prefix("--") {
            let (name, joined) = rest.split_once('=').map_or((rest, None), |(name, text)| (name, Some(text)));
            // Long options may be abbreviated.
            if name.is_empty() || !long.iter().any(|long| long.starts_with(name)) {
                continue;
            }
            joined
        } else {
            let Some(cluster) = text.strip_prefix('-') else { continue };
            let Some(at) = cluster.find(|letter: char| short.contains(letter)) else { continue };
            cluster.get(at + 1..).filter(|rest| !rest.is_empty())
        };
        match joined {
            Some(joined) => values.push(Value { text: joined.to_owned(), ..value.clone() }),
            None => values.extend(arguments.get(index + 1).cloned()),
        }
    }
    values
}

fn parallel(call: &Call) -> Unwrapped {
    let is_end = |value: &Value| value.text.starts_with(":::");
    let arguments = call.arguments();
    let end = arguments.iter().position(is_end).unwrap_or(arguments.len());
    let from = arguments.iter().position(|value| !value.text.starts_with('-')).unwrap_or(end);
    let mut unwrapped = Unwrapped::found(Finding::opaque("runs a command for each of many arguments"));
    unwrapped.texts.extend(arguments.get(from..end).filter(|words| !words.is_empty()).map(joined));
    unwrapped
}

fn fd(call: &Call) -> Unwrapped {
    let exact = |text: &str| matches!(text, "-x" | "-X" | "--exec" | "--exec-batch");
    let runs = |value: &Value| {
        let text = value.text.as_str();
        text.starts_with("--exec")
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'X']))
    };
    let Some(at) = call.arguments().iter().position(runs) else { return Unwrapped::default() };
    if !call.argument(at).is_some_and(exact) {
        return program_text();
    }
    let mut inner = call.behind(at + 1);
    if let Some(inner) = &mut inner {
        inner.has_more = true;
    }
    Unwrapped { calls: inner.into_iter().collect(), ..Unwrapped::default() }
}

/// Names of files that the shell fills in may be options.
pub(super) fn unseen_names(call: &Call) -> Unwrapped {
    let words = call.arguments().iter().take_while(|value| value.text != "--");
    let mut unseen = words.filter(|value| value.is_glob && value.text.starts_with(['*', '?', '[']));
    match unseen.next().is_some() || call.has_more {
        true => Unwrapped::found(Finding::opaque(
            "a file with the name of an option may start a program; `./*` cannot be one",
        )),
        false => Unwrapped::default(),
    }
}

fn editor(call: &Call) -> Unwrapped {
    let commands = |value: &Value| value.text.starts_with('+') || value.known().is_none();
    match call.has_option("cSesul", &["cmd", "remote-expr", "remote-send"])
        || call.arguments().iter().any(commands)
    {
        true => program_text(),
        false => Unwrapped::default(),
    }
}
