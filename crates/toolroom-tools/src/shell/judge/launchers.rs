//! Programs that start other programs, each with its own syntax.

use super::awk;
use super::interpreters;
use super::invocation::Invocation;
use super::reading_commands::only_tells;
use super::report::Concern;
use super::started_programs::{StartedPrograms, behind_equals, behind_options, joined};
use super::value::Value;
use super::wrappers::{PLAIN, Wrapper};
use super::{git, launch_options, make, npx, sed, tar};

/// The programs an invocation would start.
pub(super) fn programs_started_by(invocation: &Invocation) -> StartedPrograms {
    if only_tells(invocation) && !interpreters::is_interpreter(invocation.name()) {
        return StartedPrograms::default();
    }
    match invocation.name() {
        "npx" | "bunx" => {
            StartedPrograms::call(npx::local_tool(invocation).and_then(|at| invocation.behind(at)))
        }
        "watch" => shell_text(invocation, &WATCH),
        "ssh" => shell_text(invocation, &SSH),
        "hyperfine" | "pee" | "mispipe" | "cross-env-shell" => {
            StartedPrograms { texts: operands(invocation), ..StartedPrograms::default() }
        }
        "parallel" | "rush" | "moreutils-parallel" => parallel(invocation),
        "su" | "runuser" | "script" => StartedPrograms {
            texts: valued(invocation, "c", &["command", "session-command"]),
            ..StartedPrograms::default()
        },
        "fd" | "fdfind" => fd(invocation),
        "entr" | "nodemon" | "watchexec" | "cargo-watch" | "inotifywait" => {
            StartedPrograms::found(Concern::risk("runs a command again and again"))
        }
        "tar" | "gtar" | "bsdtar" => tar::programs_started_by(invocation),
        "git" => git::programs_started_by(invocation),
        "sed" | "gsed" => sed::programs_started_by(invocation),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk::programs_started_by(invocation),
        "rsync" => StartedPrograms {
            texts: valued(invocation, "e", &["rsh", "rsync-path"]),
            ..unseen_names(invocation)
        },
        "make" | "gmake" | "ninja" => make::programs_started_by(invocation),
        "zip" if !launch_options::starts(invocation) => unseen_names(invocation),
        "nix-shell" | "nix" => {
            StartedPrograms::found(Concern::opaque("what it would start depends on packages"))
        }
        "vi" | "nvim" | "ex" | "view" | "vimdiff" | "gvim" | "rvim" | "rview" => editor(invocation),
        name if name == "vim" || name.starts_with("vim.") => editor(invocation),
        _ if launch_options::starts(invocation) => program_text(),
        _ => interpreters::inline(invocation),
    }
}

fn program_text() -> StartedPrograms {
    StartedPrograms::found(Concern::opaque("it may start other programs"))
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

/// The arguments after the options are a text for a shell.
fn shell_text(invocation: &Invocation, wrapper: &Wrapper) -> StartedPrograms {
    match behind_options(invocation, wrapper) {
        Err(concern) => StartedPrograms::found(concern),
        Ok(at) => match invocation.arguments().get(at..) {
            None | Some([]) => StartedPrograms::default(),
            Some(words) => StartedPrograms { texts: vec![joined(words)], ..StartedPrograms::default() },
        },
    }
}

/// Every operand, and every value joined to an option.
fn operands(invocation: &Invocation) -> Vec<Value> {
    let joined =
        invocation.arguments().iter().filter(|value| value.text.starts_with('-')).filter_map(behind_equals);
    invocation.operands().cloned().chain(joined).collect()
}

/// The values of an option, joined or separate. A letter that may be in a cluster counts.
pub(super) fn valued(invocation: &Invocation, short: &str, long: &[&str]) -> Vec<Value> {
    let mut values = Vec::new();
    let arguments = invocation.arguments();
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

fn parallel(invocation: &Invocation) -> StartedPrograms {
    let is_end = |value: &Value| value.text.starts_with(":::");
    let arguments = invocation.arguments();
    let end = arguments.iter().position(is_end).unwrap_or(arguments.len());
    let from = arguments.iter().position(|value| !value.text.starts_with('-')).unwrap_or(end);
    let mut started = StartedPrograms::found(Concern::opaque("runs a command for each of many arguments"));
    started.texts.extend(arguments.get(from..end).filter(|words| !words.is_empty()).map(joined));
    started
}

fn fd(invocation: &Invocation) -> StartedPrograms {
    let exact = |text: &str| matches!(text, "-x" | "-X" | "--exec" | "--exec-batch");
    let runs = |value: &Value| {
        let text = value.text.as_str();
        text.starts_with("--exec")
            || (text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'X']))
    };
    let Some(at) = invocation.arguments().iter().position(runs) else { return StartedPrograms::default() };
    if !invocation.argument(at).is_some_and(exact) {
        return program_text();
    }
    let mut inner = invocation.behind(at + 1);
    if let Some(inner) = &mut inner {
        inner.has_more = true;
    }
    StartedPrograms { calls: inner.into_iter().collect(), ..StartedPrograms::default() }
}

/// File names filled in by the shell may be options.
pub(super) fn unseen_names(invocation: &Invocation) -> StartedPrograms {
    let words = invocation.arguments().iter().take_while(|value| value.text != "--");
    let mut unseen = words.filter(|value| value.is_glob && value.text.starts_with(['*', '?', '[']));
    match unseen.next().is_some() || invocation.has_more {
        true => StartedPrograms::found(Concern::opaque(
            "a file with the name of an option may start a program; `./*` cannot be one",
        )),
        false => StartedPrograms::default(),
    }
}

fn editor(invocation: &Invocation) -> StartedPrograms {
    let commands = |value: &Value| value.text.starts_with('+') || value.known().is_none();
    match invocation.has_option("cSesul", &["cmd", "remote-expr", "remote-send"])
        || invocation.arguments().iter().any(commands)
    {
        true => program_text(),
        false => StartedPrograms::default(),
    }
}
