//! Programs that need approval because they use the network, remove, install or administrate, and files that matter.

use super::interpreters::is_interpreter;
use super::invocation::Invocation;
use super::launchers::valued;
use super::paths::{
    holds_secrets, is_here, is_one_file_inside, is_secret, is_temporary, may_be_startup, normal,
};
use super::reading_commands::only_tells;
use super::report::Concern;
use super::risky_programs::{KnownProgram, known};
use super::value::{Origin, UNKNOWN, Value};
use super::working_folder::WorkingFolder;
use super::wrappers::wrapper;
use super::{destinations, file_modes, npx, risky_options, shell_builtins};

/// Concerns about an invocation that lead to a question.
pub(super) fn concerns(
    invocation: &Invocation,
    folder: &WorkingFolder,
    removes_one_file: bool,
) -> Vec<Concern> {
    let mut concerns = shell_builtins::concerns(invocation);
    concerns.extend(program(invocation, removes_one_file).map(Concern::risk));
    concerns.extend(destinations::concerns(invocation, folder));
    // A wrapped command is checked once, together with its program.
    if wrapper(invocation.name()).is_none() {
        concerns.extend(files(invocation, folder));
    }
    concerns.extend(handed(invocation));
    concerns
}

/// Whether the judge knows a program of this name.
pub(super) fn is_known(name: &str) -> bool {
    known(name).is_some() || wrapper(name).is_some() || is_interpreter(name)
}

/// Whether an invocation removes one named file below its working folder, which is everyday work.
pub(super) fn removes_one_file(invocation: &Invocation) -> bool {
    if !matches!(invocation.name(), "rm" | "unlink") || invocation.has_more {
        return false;
    }
    let harmless = |text: &str| {
        matches!(text, "--" | "--force" | "--verbose" | "--interactive")
            || !text.starts_with("--") && text.bytes().skip(1).all(|letter| b"fviI".contains(&letter))
    };
    let mut files = invocation.operands();
    let is_one = files.next().is_some_and(is_one_file_inside) && files.next().is_none();
    let mut options = invocation.arguments().iter().take_while(|value| value.text != "--");
    let is_plain = options.all(|value| !value.text.starts_with('-') || harmless(&value.text));
    is_one && is_plain
}

fn program(invocation: &Invocation, removes_one_file: bool) -> Option<&'static str> {
    let name = invocation.name();
    if removes_one_file || npx::local_tool(invocation).is_some() {
        return None;
    }
    if name == "rm" && invocation.operands().any(is_here) {
        return Some("removes everything in this folder");
    }
    if name.starts_with("mkfs.") {
        return Some("makes a file system, and destroys what was there");
    }
    by_name(invocation)
        .or_else(|| file_modes::risk(invocation))
        .or_else(|| risky_options::risk(invocation))
        .or_else(|| by_words(invocation))
}

fn by_name(invocation: &Invocation) -> Option<&'static str> {
    let lists = |verbs: &str, verb: &str| verbs.split(' ').any(|known| known == verb);
    match known(invocation.name())? {
        KnownProgram::Risky(why) => (!only_tells(invocation)).then_some(why),
        KnownProgram::RiskyFor(verbs, why) => {
            let mut any = invocation.verbs().peekable();
            let is_unknown =
                any.peek().is_none() && (invocation.has_more || lists(verbs, "")) && !only_tells(invocation);
            (is_unknown || any.any(|verb| verb.is_dynamic() || lists(verbs, &verb.text))).then_some(why)
        }
        KnownProgram::ReadOnly(reading) => {
            (!only_tells(invocation) && !reading.fits(invocation)).then_some(reading.why)
        }
        KnownProgram::Harmless => None,
    }
}

fn by_words(invocation: &Invocation) -> Option<&'static str> {
    let is_harmless = matches!(known(invocation.name()), Some(KnownProgram::Harmless));
    match invocation.name() {
        "rsync"
            if invocation
                .operands()
                .any(|value| value.text.contains(':') || value.text.starts_with(UNKNOWN)) =>
        {
            Some("reaches another machine")
        }
        "fallocate" | "head" if invocation.arguments().iter().any(|value| is_huge(&value.text)) => {
            Some("takes a lot of disk")
        }
        "cp" | "mv" | "ln" | "install" | "rsync" | "sort"
            if invocation.operands().any(|value| normal(&value.text) == "/dev/null") =>
        {
            Some("empties or replaces a file")
        }
        "tee" | "sponge" | "sort" if invocation.stdin.is_empty() => Some("empties or replaces a file"),
        "mv" if moves_to_temporary(invocation) => {
            Some("moves files to a temporary folder, which is removed later")
        }
        "cp" | "mv" | "ln" | "install" if invocation.operands().any(is_program) => {
            Some("gives a shell another name")
        }
        "go" if invocation.verb() == "run" && runs_from_elsewhere(invocation) => {
            Some("runs a package from elsewhere")
        }
        "openssl" if matches!(invocation.verb(), "s_client" | "s_server" | "rsa" | "pkey" | "pkcs12") => {
            Some("reaches another machine, or reads keys")
        }
        _ if !is_harmless && invocation.arguments().iter().any(is_every_address) => {
            Some("opens a port to other machines")
        }
        _ => None,
    }
}

/// Whether files are moved into a temporary folder.
fn moves_to_temporary(invocation: &Invocation) -> bool {
    let named = valued(invocation, "t", &["target-directory"]);
    let target = named.first().or_else(|| invocation.operands().last());
    target.is_some_and(is_temporary)
        && invocation.operands().any(|file| file.text != "--" && !is_temporary(file))
}

/// Whether this is a size of one gibibyte or more.
fn is_huge(text: &str) -> bool {
    text.strip_suffix(['G', 'T', 'P'])
        .is_some_and(|count| count.ends_with(|last: char| last.is_ascii_digit()))
}

/// Whether `go run` names a package with a version, which may be outside of the project.
fn runs_from_elsewhere(invocation: &Invocation) -> bool {
    let is_local = |value: &&Value| value.text.starts_with('.') || value.text.ends_with(".go");
    let named = invocation.operands().skip(1).take_while(|value| !is_local(value));
    invocation.has_more
        || named.into_iter().any(|value| value.text.contains('@') || value.text.starts_with(UNKNOWN))
}

/// Whether an argument is the wildcard address of all network interfaces, with or without a port.
fn is_every_address(value: &Value) -> bool {
    let text = value.text.rsplit_once('=').map_or(value.text.as_str(), |(_, text)| text);
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let joined = text.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or(text);
    joined.starts_with("0.0.0.0")
        || joined.starts_with("[::]")
        || joined == "::"
        || joined.strip_prefix("0:").is_some_and(|port| port.len() >= 4 && is_port(port))
        || joined.strip_prefix(":::").is_some_and(is_port)
}

/// Whether this is an interpreter in a program folder.
fn is_program(value: &Value) -> bool {
    let Some((folder, name)) = value.text.rsplit_once('/') else { return false };
    folder.ends_with("bin") && is_interpreter(name)
}

/// Programs that only print their arguments.
const PRINTING: [&str; 6] = ["echo", "printf", "true", "false", ":", "basename"];

/// Programs that only read their file arguments.
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

/// The concern for a file name that is assembled by the line.
pub(super) const COMPOSED: &str = "reads a file whose name is assembled by the line";

/// Programs that read their file arguments and also do more.
const COPYING: &str = "cp mv ln install rsync tar zip base64 xxd od hexdump strings sort tac paste awk sed";

/// Whether the program outputs the content of its file arguments.
fn reads_files(name: &str) -> bool {
    let others =
        ["git", "find", "fd", "fdfind", "test", "[", "realpath", "readlink", "dirname", "jq", "ls", "stat"];
    COPYING.split(' ').any(|copying| copying == name) || READING.contains(&name) && !others.contains(&name)
}

/// Long options with the pattern of a search.
const PATTERN_OPTIONS: [&str; 4] = ["regexp", "file", "expression", "from-file"];

fn files(invocation: &Invocation, folder: &WorkingFolder) -> Vec<Concern> {
    let name = invocation.name();
    // `openssl x509` prints certificates, never a key.
    let prints_certificate = name == "openssl" && matches!(invocation.verb(), "x509" | "crl" | "verify");
    if PRINTING.contains(&name) || prints_certificate {
        return Vec::new();
    }
    let mut concerns = Vec::new();
    // The first operand of a search is the pattern, unless an option has it.
    let searches = matches!(name, "grep" | "rg" | "egrep" | "fgrep" | "ag" | "sed" | "awk" | "jq");
    let has_pattern_option = searches && invocation.has_option("ef", &PATTERN_OPTIONS);
    let pattern = invocation.operands().next().filter(|_| searches && !has_pattern_option);
    // Sources are read, the destination is not.
    let unread = matches!(name, "cp" | "mv" | "ln" | "install" | "rsync")
        .then(|| invocation.operands().last())
        .flatten();
    let names_target = invocation.has_option("t", &["target-directory"]);
    let names_no_file = |text: &str| {
        let is_pattern_option =
            matches!(text, "--regexp" | "--expression") || !text.starts_with("--") && text.ends_with('e');
        text == "--exclude"
            || name == "zip" && text == "-x"
            || has_pattern_option && text.starts_with('-') && is_pattern_option
    };
    let mut is_left_out = false;
    for value in invocation.arguments() {
        let text = value.text.as_str();
        if pattern.is_some_and(|pattern| std::ptr::eq(pattern, value))
            || std::mem::replace(&mut is_left_out, names_no_file(text))
            || text.starts_with("--exclude")
        {
            continue;
        }
        let is_read = unread.is_none_or(|unread| !std::ptr::eq(unread, value));
        if value.origin == Origin::Composed && is_read && reads_files(name) && !text.contains('=') {
            concerns.push(Concern::touch(COMPOSED));
        }
        let elsewhere = folder.path(text).map(|path| Value::plain(&path));
        let is_one = |judge: fn(&Value) -> bool| judge(value) || elsewhere.as_ref().is_some_and(judge);
        let is_copied = is_read && matches!(name, "cp" | "mv" | "rsync" | "tar" | "zip");
        if is_one(is_secret) && !matches!(name, "test" | "[") || is_copied && is_one(holds_secrets) {
            concerns.push(Concern::touch("a file that holds secrets"));
        }
        let is_only_read = READING.contains(&name) || name == "cp" && is_read && !names_target;
        if !is_only_read && is_one(may_be_startup) {
            concerns.push(Concern::touch("may write a file that is run by others later"));
        }
    }
    concerns
}

/// Commands that an unknown program should not be given without approval.
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

/// An unknown program that is given a command may be an unknown wrapper.
fn handed(invocation: &Invocation) -> Option<Concern> {
    let is_module = is_interpreter(invocation.name()) && invocation.argument(0) == Some("-m");
    if known(invocation.name()).is_some() || is_module {
        return None;
    }
    let is_grave = |word: &str| {
        let word = word.rsplit('/').next().unwrap_or(word);
        GRAVE.contains(&word) || word.starts_with("mkfs.")
    };
    let grave = invocation.arguments().iter().any(|value| {
        let text = value.text.rsplit_once('=').map_or(value.text.as_str(), |(_, text)| text);
        let mut words = text
            .split(|sign: char| sign.is_whitespace() || ";|&()`!".contains(sign))
            .filter(|word| !word.is_empty());
        words.next().is_some_and(is_grave)
    });
    grave.then(|| Concern::opaque("a program that is not known is given a command, which it may run"))
}
