//! What is worth a question: programs that reach out, remove, install or rule over others, and files that matter.

use super::call::Call;
use super::finding::Finding;
use super::interpreters::is_interpreter;
use super::paths::{is_here, is_secret, may_be_startup};
use super::risky_programs::{Known, known};
use super::shell_builtins;
use super::started_by::valued;
use super::value::{UNKNOWN, Value};
use super::wrappers::wrapper;

/// What speaks against a call where people are asked.
pub(super) fn findings(call: &Call) -> Vec<Finding> {
    let mut findings = shell_builtins::findings(call);
    findings.extend(program(call).map(Finding::risk));
    // What stands behind a wrapper is looked at once, with the program it is for.
    if wrapper(call.name()).is_none() {
        findings.extend(files(call));
    }
    findings.extend(handed(call));
    findings
}

/// Whether a name is that of a program that the judge knows.
pub(super) fn is_known(name: &str) -> bool {
    known(name).is_some() || wrapper(name).is_some() || is_interpreter(name)
}

fn program(call: &Call) -> Option<&'static str> {
    let name = call.name();
    if name == "rm" && call.operands().any(is_here) {
        return Some("removes everything in this folder");
    }
    if name.starts_with("mkfs.") {
        return Some("makes a file system, and destroys what was there");
    }
    let lists = |verbs: &str, verb: &str| verbs.split(' ').any(|known| known == verb);
    match known(name) {
        Some(Known::Risky(why)) => {
            let tells = |value: &Value| matches!(value.text.as_str(), "--version" | "--help" | "-V");
            let only_tells = matches!(call.arguments(), [only] if tells(only));
            return (!only_tells).then_some(why);
        }
        Some(Known::RiskyFor(verbs, why)) => {
            let mut any = call.verbs().peekable();
            let is_unknown = any.peek().is_none() && (call.has_more || lists(verbs, ""));
            return (is_unknown || any.any(|verb| verb.is_dynamic() || lists(verbs, &verb.text)))
                .then_some(why);
        }
        Some(Known::RiskyUnless(verbs, why)) => return (!lists(verbs, call.verb())).then_some(why),
        Some(Known::Harmless) | None => {}
    }
    match name {
        "chmod" if call.operands().next().is_some_and(|mode| gives_rights(&mode.text)) => {
            Some("lets others run a program with rights it has not")
        }
        "install" if valued(call, "m", &["mode"]).iter().any(|mode| gives_rights(&mode.text)) => {
            Some("lets others run a program with rights it has not")
        }
        "rsync"
            if call.operands().any(|value| value.text.contains(':') || value.text.starts_with(UNKNOWN)) =>
        {
            Some("reaches another machine")
        }
        "fallocate" | "truncate"
            if call.arguments().iter().any(|value| value.text.ends_with(['G', 'T', 'P'])) =>
        {
            Some("takes a lot of disk")
        }
        "cp" | "mv" | "ln" | "install" if call.operands().any(is_program) => {
            Some("gives a shell another name")
        }
        "openssl" if matches!(call.verb(), "s_client" | "s_server" | "rsa" | "pkey" | "pkcs12") => {
            Some("reaches another machine, or reads keys")
        }
        _ => None,
    }
}

/// Whether a mode lets a program run with the rights of its owner.
fn gives_rights(mode: &str) -> bool {
    mode.contains('s')
        || u32::from_str_radix(mode.trim_start_matches('='), 8).is_ok_and(|mode| mode & 0o6000 != 0)
}

/// Whether this is an interpreter where programs are kept.
fn is_program(value: &Value) -> bool {
    let Some((folder, name)) = value.text.rsplit_once('/') else { return false };
    folder.ends_with("bin") && is_interpreter(name)
}

/// Programs that only print their arguments.
const PRINTING: [&str; 6] = ["echo", "printf", "true", "false", ":", "basename"];

/// Programs that only read the files they are given.
const READING: &[&str] = &[
    "cat",
    "less",
    "more",
    "head",
    "tail",
    "grep",
    "rg",
    "ls",
    "stat",
    "file",
    "wc",
    "diff",
    "cmp",
    "sha256sum",
    "bat",
    "test",
    "[",
    "realpath",
    "readlink",
    "dirname",
    "egrep",
    "fgrep",
    "ag",
    "tree",
    "du",
    "md5sum",
    "jq",
    "cut",
    "nl",
    "find",
    "fd",
    "fdfind",
    "git",
    "column",
];

fn files(call: &Call) -> Vec<Finding> {
    let name = call.name();
    if PRINTING.contains(&name) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    // The first word of a search is what is searched.
    let skipped =
        usize::from(matches!(name, "grep" | "rg" | "egrep" | "fgrep" | "ag" | "sed" | "awk" | "jq"));
    let pattern = call.operands().take(skipped).next();
    for value in call.arguments() {
        if pattern.is_some_and(|pattern| std::ptr::eq(pattern, value)) {
            continue;
        }
        if is_secret(value) && !matches!(name, "test" | "[") {
            findings.push(Finding::touch("a file that holds secrets"));
        }
        if !READING.contains(&name) && may_be_startup(value) {
            findings.push(Finding::touch("may write a file that is run by others later"));
        }
    }
    findings
}

/// Names that a program nobody knows should not be given unseen.
const GRAVE: &[&str] = &[
    "rm",
    "dd",
    "shred",
    "mkfs",
    "shutdown",
    "reboot",
    "poweroff",
    "halt",
    "sudo",
    "su",
    "doas",
    "curl",
    "wget",
    "nc",
    "ncat",
    "ssh",
    "scp",
    "eval",
    "kill",
    "pkill",
    "killall",
    "chmod",
    "chown",
    "mv",
    "find",
    "xargs",
    "nmap",
    "env",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "fish",
    "python",
    "python3",
    "perl",
    "ruby",
    "node",
    "php",
    "busybox",
    "exec",
    "git",
    "tar",
    "awk",
    "gawk",
    "vim",
    "ed",
    "lua",
    "tclsh",
    "npm",
    "npx",
    "pip",
    "pip3",
    "docker",
    "systemctl",
    "crontab",
    "tee",
    "cp",
    "ln",
];

/// A program that is not known and is given a command may be a wrapper that is not known.
fn handed(call: &Call) -> Option<Finding> {
    if known(call.name()).is_some() {
        return None;
    }
    let is_grave = |word: &str| {
        let word = word.rsplit('/').next().unwrap_or(word);
        GRAVE.contains(&word) || word.starts_with("mkfs.")
    };
    let grave = call.arguments().iter().any(|value| {
        let text = value.text.rsplit_once('=').map_or(value.text.as_str(), |(_, text)| text);
        let mut words = text
            .split(|sign: char| sign.is_whitespace() || ";|&()`!".contains(sign))
            .filter(|word| !word.is_empty());
        words.next().is_some_and(is_grave)
    });
    grave.then(|| Finding::opaque("a program that is not known is given a command, which it may run"))
}
