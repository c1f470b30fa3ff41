//! What is worth a question: programs that reach out, remove, install or rule over others, and files that matter.

use super::call::Call;
use super::finding::Finding;
use super::folder::Folder;
use super::interpreters::is_interpreter;
use super::paths::{
    holds_secrets, is_here, is_one_file_inside, is_secret, is_temporary, may_be_startup, normal,
};
use super::reading_commands::only_tells;
use super::risky_programs::{Known, known};
use super::started_by::valued;
use super::value::{Origin, UNKNOWN, Value};
use super::wrappers::wrapper;
use super::{destinations, npx, rights, risky_options, shell_builtins};

/// What speaks against a call where people are asked.
pub(super) fn findings(call: &Call, folder: &Folder, removes_one_file: bool) -> Vec<Finding> {
    let mut findings = shell_builtins::findings(call);
    findings.extend(program(call, removes_one_file).map(Finding::risk));
    findings.extend(destinations::findings(call, folder));
    // What stands behind a wrapper is looked at once, with the program it is for.
    if wrapper(call.name()).is_none() {
        findings.extend(files(call, folder));
    }
    findings.extend(handed(call));
    findings
}

/// Whether a name is that of a program that the judge knows.
pub(super) fn is_known(name: &str) -> bool {
    known(name).is_some() || wrapper(name).is_some() || is_interpreter(name)
}

/// Whether a call removes one named file below the folder it runs in: what people do all day.
pub(super) fn removes_one_file(call: &Call) -> bool {
    if !matches!(call.name(), "rm" | "unlink") || call.has_more {
        return false;
    }
    let harmless = |text: &str| {
        matches!(text, "--" | "--force" | "--verbose" | "--interactive")
            || !text.starts_with("--") && text.bytes().skip(1).all(|letter| b"fviI".contains(&letter))
    };
    let mut files = call.operands();
    let is_one = files.next().is_some_and(is_one_file_inside) && files.next().is_none();
    let mut options = call.arguments().iter().take_while(|value| value.text != "--");
    let is_plain = options.all(|value| !value.text.starts_with('-') || harmless(&value.text));
    is_one && is_plain
}

fn program(call: &Call, removes_one_file: bool) -> Option<&'static str> {
    let name = call.name();
    if removes_one_file || npx::local_tool(call).is_some() {
        return None;
    }
    if name == "rm" && call.operands().any(is_here) {
        return Some("removes everything in this folder");
    }
    if name.starts_with("mkfs.") {
        return Some("makes a file system, and destroys what was there");
    }
    by_name(call)
        .or_else(|| rights::risk(call))
        .or_else(|| risky_options::risk(call))
        .or_else(|| by_words(call))
}

fn by_name(call: &Call) -> Option<&'static str> {
    let lists = |verbs: &str, verb: &str| verbs.split(' ').any(|known| known == verb);
    match known(call.name())? {
        Known::Risky(why) => (!only_tells(call)).then_some(why),
        Known::RiskyFor(verbs, why) => {
            let mut any = call.verbs().peekable();
            let is_unknown = any.peek().is_none() && (call.has_more || lists(verbs, "")) && !only_tells(call);
            (is_unknown || any.any(|verb| verb.is_dynamic() || lists(verbs, &verb.text))).then_some(why)
        }
        Known::Reading(reading) => (!only_tells(call) && !reading.fits(call)).then_some(reading.why),
        Known::Harmless => None,
    }
}

fn by_words(call: &Call) -> Option<&'static str> {
    let is_harmless = matches!(known(call.name()), Some(Known::Harmless));
    match call.name() {
        "rsync"
            if call.operands().any(|value| value.text.contains(':') || value.text.starts_with(UNKNOWN)) =>
        {
            Some("reaches another machine")
        }
        "fallocate" | "head" if call.arguments().iter().any(|value| is_huge(&value.text)) => {
            Some("takes a lot of disk")
        }
        "cp" | "mv" | "ln" | "install" | "rsync" | "sort"
            if call.operands().any(|value| normal(&value.text) == "/dev/null") =>
        {
            Some("empties or replaces a file")
        }
        "tee" | "sponge" | "sort" if call.feed.is_empty() => Some("empties or replaces a file"),
        "mv" if moves_to_temporary(call) => Some("moves files to a temporary folder, which is removed later"),
        "cp" | "mv" | "ln" | "install" if call.operands().any(is_program) => {
            Some("gives a shell another name")
        }
        "go" if call.verb() == "run" && runs_from_elsewhere(call) => Some("runs a package from elsewhere"),
        "openssl" if matches!(call.verb(), "s_client" | "s_server" | "rsa" | "pkey" | "pkcs12") => {
            Some("reaches another machine, or reads keys")
        }
        _ if !is_harmless && call.arguments().iter().any(is_every_address) => {
            Some("opens a port to other machines")
        }
        _ => None,
    }
}

/// Whether files that are not temporary become temporary.
fn moves_to_temporary(call: &Call) -> bool {
    let named = valued(call, "t", &["target-directory"]);
    let target = named.first().or_else(|| call.operands().last());
    target.is_some_and(is_temporary) && call.operands().any(|file| file.text != "--" && !is_temporary(file))
}

/// Whether this is a size of gibibytes or more.
fn is_huge(text: &str) -> bool {
    text.strip_suffix(['G', 'T', 'P'])
        .is_some_and(|count| count.ends_with(|last: char| last.is_ascii_digit()))
}

/// Whether `go run` names a package with a version, which need not be one of the project.
fn runs_from_elsewhere(call: &Call) -> bool {
    let is_local = |value: &&Value| value.text.starts_with('.') || value.text.ends_with(".go");
    let named = call.operands().skip(1).take_while(|value| !is_local(value));
    call.has_more
        || named.into_iter().any(|value| value.text.contains('@') || value.text.starts_with(UNKNOWN))
}

/// Whether an argument is the address that stands for all of this machine, with or without a port.
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

/// Why a file is worth a question whose name nobody has seen.
pub(super) const COMPOSED: &str = "reads a file whose name the line puts together";

/// Programs that read the files they are given, beside those that only do that.
const COPYING: &str = "cp mv ln install rsync tar zip base64 xxd od hexdump strings sort tac paste awk sed";

/// Whether the arguments of a program are files whose content it passes on.
fn reads_files(name: &str) -> bool {
    let others =
        ["git", "find", "fd", "fdfind", "test", "[", "realpath", "readlink", "dirname", "jq", "ls", "stat"];
    COPYING.split(' ').any(|copying| copying == name) || READING.contains(&name) && !others.contains(&name)
}

/// Long options that name what a search looks for.
const PATTERN_OPTIONS: [&str; 4] = ["regexp", "file", "expression", "from-file"];

fn files(call: &Call, folder: &Folder) -> Vec<Finding> {
    let name = call.name();
    // `openssl x509` prints certificates, never a key.
    let prints_certificate = name == "openssl" && matches!(call.verb(), "x509" | "crl" | "verify");
    if PRINTING.contains(&name) || prints_certificate {
        return Vec::new();
    }
    let mut findings = Vec::new();
    // The first word of a search is what is searched, unless an option names that.
    let searches = matches!(name, "grep" | "rg" | "egrep" | "fgrep" | "ag" | "sed" | "awk" | "jq");
    let has_pattern_option = searches && call.has_option("ef", &PATTERN_OPTIONS);
    let pattern = call.operands().next().filter(|_| searches && !has_pattern_option);
    // What is copied or moved is read, where it goes is not.
    let unread =
        matches!(name, "cp" | "mv" | "ln" | "install" | "rsync").then(|| call.operands().last()).flatten();
    let names_target = call.has_option("t", &["target-directory"]);
    let names_no_file = |text: &str| {
        let is_pattern_option =
            matches!(text, "--regexp" | "--expression") || !text.starts_with("--") && text.ends_with('e');
        text == "--exclude"
            || name == "zip" && text == "-x"
            || has_pattern_option && text.starts_with('-') && is_pattern_option
    };
    let mut is_left_out = false;
    for value in call.arguments() {
        let text = value.text.as_str();
        if pattern.is_some_and(|pattern| std::ptr::eq(pattern, value))
            || std::mem::replace(&mut is_left_out, names_no_file(text))
            || text.starts_with("--exclude")
        {
            continue;
        }
        let is_read = unread.is_none_or(|unread| !std::ptr::eq(unread, value));
        if value.origin == Origin::Composed && is_read && reads_files(name) && !text.contains('=') {
            findings.push(Finding::touch(COMPOSED));
        }
        let elsewhere = folder.path(text).map(|path| Value::plain(&path));
        let is_one = |judge: fn(&Value) -> bool| judge(value) || elsewhere.as_ref().is_some_and(judge);
        let is_copied = is_read && matches!(name, "cp" | "mv" | "rsync" | "tar" | "zip");
        if is_one(is_secret) && !matches!(name, "test" | "[") || is_copied && is_one(holds_secrets) {
            findings.push(Finding::touch("a file that holds secrets"));
        }
        let is_only_read = READING.contains(&name) || name == "cp" && is_read && !names_target;
        if !is_only_read && is_one(may_be_startup) {
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
    let is_module = is_interpreter(call.name()) && call.argument(0) == Some("-m");
    if known(call.name()).is_some() || is_module {
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
