//! Programs that start others by the way: each has its own form.

use super::call::Call;
use super::finding::Finding;
use super::interpreters;
use super::unwrap::{Unwrapped, behind_options, joined};
use super::value::Value;
use super::wrappers::Wrapper;
use super::{git, sed};

/// What a call would start.
pub(super) fn unwrap(call: &Call) -> Unwrapped {
    match call.name() {
        "watch" => shell_text(call, &WATCH),
        "ssh" => shell_text(call, &SSH),
        "hyperfine" => Unwrapped { texts: operands(call), ..Unwrapped::default() },
        "parallel" | "rush" | "moreutils-parallel" => parallel(call),
        "su" | "runuser" | "script" => Unwrapped {
            texts: valued(call, &["-c"], &["--command", "--session-command"]),
            ..Unwrapped::default()
        },
        "fd" | "fdfind" => fd(call),
        "entr" | "nodemon" | "watchexec" | "cargo-watch" | "inotifywait" => {
            Unwrapped::found(Finding::risk("runs a command again and again"))
        }
        "tar" | "gtar" | "bsdtar" => tar(call),
        "git" => git::unwrap(call),
        "sed" | "gsed" => sed::unwrap(call),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => interpreters::awk(call),
        "rsync" => {
            Unwrapped { texts: valued(call, &["-e"], &["--rsh", "--rsync-path"]), ..Unwrapped::default() }
        }
        "zip"
            if call.has_option("", &["unzip-command"])
                || call.arguments().iter().any(|value| value.text.starts_with("-TT")) =>
        {
            program_text()
        }
        "man" | "less" | "more" if call.has_option("P", &["pager", "html"]) => program_text(),
        "rg" if call.has_option("", &["pre", "hostname-bin"]) => program_text(),
        "sort" if call.has_option("", &["compress-program"]) => program_text(),
        "split" if call.has_option("", &["filter"]) => program_text(),
        "gcc" | "g++" | "cc" | "c++" | "clang" if call.has_argument(&["-wrapper"]) => program_text(),
        "cpio" if call.has_option("", &["rsh-command"]) => program_text(),
        "make" | "gmake" | "ninja" if runs_own_text(call) => program_text(),
        "nix-shell" | "nix" => Unwrapped::found(Finding::opaque("what it would start depends on packages")),
        "vi" | "vim" | "nvim" | "ex" | "view" | "vimdiff" | "gvim" | "rvim" => editor(call),
        "emacs" if call.has_option("lf", &["eval", "load", "funcall", "script", "batch"]) => program_text(),
        "gdb" | "lldb" | "ed" | "expect" | "dc" | "m4" | "screen" | "tmux" | "at" | "batch" | "bwrap"
        | "firejail" | "nsenter" | "systemd-run" | "start-stop-daemon" | "capsh" | "setpriv" | "prlimit"
        | "choom" | "pkexec" | "dtach" | "abduco" | "xterm" | "konsole" | "gnome-terminal" | "osascript"
        | "run-parts" | "sg" | "newgrp" | "ip" | "socat" | "ncat" | "trickle" | "loginctl" | "machinectl"
        | "rpm" => program_text(),
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
    skipped: 0,
    assigns: false,
};

const SSH: Wrapper = Wrapper {
    name: "ssh",
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    valued: "BbcDEeFIiJLlmOopQRSWw",
    long: &[],
    long_valued: &[],
    skipped: 1,
    assigns: false,
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

fn operands(call: &Call) -> Vec<Value> {
    call.operands().cloned().collect()
}

/// The values of an option, joined to it or behind it.
pub(super) fn valued(call: &Call, short: &[&str], long: &[&str]) -> Vec<Value> {
    let mut values = Vec::new();
    let arguments = call.arguments();
    for (index, value) in arguments.iter().enumerate() {
        let text = value.text.as_str();
        let is_cluster = |option: &&&str| {
            let letter = option.trim_start_matches('-');
            text.starts_with('-') && !text.starts_with("--") && text.ends_with(letter)
        };
        if short.iter().any(|option| is_cluster(&option)) || long.contains(&text) {
            values.extend(arguments.get(index + 1).cloned());
            continue;
        }
        let attached = short.iter().find_map(|option| text.strip_prefix(option));
        let assigned = long.iter().find_map(|option| text.strip_prefix(option)?.strip_prefix('='));
        if let Some(rest) = attached.or(assigned) {
            values.push(Value { text: rest.to_owned(), ..value.clone() });
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
    let runs = |value: &Value| matches!(value.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
    let Some(at) = call.arguments().iter().position(runs) else { return Unwrapped::default() };
    let mut inner = call.behind(at + 1);
    if let Some(inner) = &mut inner {
        inner.has_more = true;
    }
    Unwrapped { calls: inner.into_iter().collect(), ..Unwrapped::default() }
}

/// `tar` runs texts for checkpoints, members, volumes and compression.
fn tar(call: &Call) -> Unwrapped {
    let long =
        ["--to-command", "--info-script", "--new-volume-script", "--rsh-command", "--use-compress-program"];
    let mut texts = valued(call, &["-I", "-F"], &long);
    for action in valued(call, &[], &["--checkpoint-action"]) {
        match action.text.strip_prefix("exec=") {
            Some(text) => texts.push(Value { text: text.to_owned(), ..action.clone() }),
            None if action.known().is_none() => texts.push(action),
            None => {}
        }
    }
    let unknown = call.arguments().iter().any(|value| value.may_be_option() && value.known().is_none());
    let findings =
        unknown.then(|| Finding::opaque("options of `tar` that are not known before may start programs"));
    // `tar`'s own options may be abbreviated.
    let short = ["--to-c", "--checkpoint-a", "--use-c", "--info", "--new-v", "--rsh", "--rmt"];
    let abbreviated = call.arguments().iter().any(|value| {
        let name = value.text.split('=').next().unwrap_or_default();
        short.iter().any(|start| name.starts_with(start))
            && !long.contains(&name)
            && name != "--checkpoint-action"
    });
    // Without a dash the first word holds the options.
    let bundled = call.argument(0).is_some_and(|first| !first.starts_with('-') && first.contains(['I', 'F']));
    let abbreviated =
        (abbreviated || bundled).then(|| Finding::opaque("an option of `tar` that starts a program"));
    Unwrapped { texts, findings: findings.into_iter().chain(abbreviated).collect(), ..Unwrapped::default() }
}

fn runs_own_text(call: &Call) -> bool {
    call.has_option("", &["eval"])
        || call.arguments().iter().any(|value| {
            let text = value.text.as_str();
            text.starts_with("SHELL=")
                || text.starts_with(".SHELLFLAGS")
                || matches!(text, "-" | "-f-" | "/dev/stdin")
        })
}

fn editor(call: &Call) -> Unwrapped {
    let commands = |value: &Value| value.text.starts_with('+') || value.known().is_none();
    match call.has_option("cSes", &["cmd"]) || call.arguments().iter().any(commands) {
        true => program_text(),
        false => Unwrapped::default(),
    }
}
