//! Classifies file names.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use toolroom_host::files::{Judge, Role};

use super::path_parts::Parts;
use super::value::{UNKNOWN, Value};

/// The rules for file names. The home folder is `~`.
static NAMES: LazyLock<Judge> = LazyLock::new(|| Judge::new(Some(PathBuf::from("~"))));

/// System folders that must not be emptied, nor their direct entries.
const SYSTEM: [&str; 15] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "sbin", "sys", "usr",
    "System", "Library",
];

/// Folders that must not be emptied.
const TOPS: [&str; 9] = ["home", "Users", "var", "opt", "srv", "mnt", "media", "run", "Applications"];

/// Whether emptying this destroys a system or a home folder.
pub(super) fn is_root(value: &Value) -> bool {
    let text = value.text.as_str();
    let parts = Parts::new(text);
    let is_absolute = parts.is_absolute;
    let mut parts = parts.as_slice();
    // Everything in a folder counts as the folder.
    while parts
        .last()
        .is_some_and(|last| value.is_glob && last.bytes().all(|byte| b"*.?[]!^".contains(&byte)))
    {
        parts = parts.split_last().map_or(&[], |(_, folders)| folders);
    }
    if !is_absolute {
        return match parts {
            [home] => home.starts_with('~'),
            [] => text.starts_with('~'),
            _ => false,
        };
    }
    match parts {
        [] => true,
        [top] => SYSTEM.contains(top) || TOPS.contains(top) || top.contains(['*', '?', '[']),
        [top, _] => SYSTEM.contains(top) || matches!(*top, "home" | "Users"),
        _ => false,
    }
}

/// Whether this is everything in the current folder or a parent.
pub(super) fn is_here(value: &Value) -> bool {
    let parts = Parts::new(&value.text);
    let all =
        |part: &&str| *part == ".." || (value.is_glob && part.bytes().all(|byte| b"*.?".contains(&byte)));
    !parts.is_absolute && !value.text.is_empty() && parts.as_slice().iter().all(all)
}

/// Devices that store nothing.
const HARMLESS_DEVICES: [&str; 9] =
    ["null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty"];

/// Whether writing to this device destroys data.
pub(super) fn is_device(text: &str) -> bool {
    let parts = Parts::new(text);
    let is_absolute = parts.is_absolute;
    let harmless = |name: &str| {
        HARMLESS_DEVICES.contains(&name)
            || ["fd", "pts", "shm", "tcp", "udp", "mqueue", "ptmx"].contains(&name)
    };
    match parts.as_slice() {
        ["dev", name, ..] => is_absolute && !harmless(name),
        ["proc", "sysrq-trigger" | "kcore"] => is_absolute,
        _ => false,
    }
}

/// Whether this file name opens a network connection.
pub(super) fn is_connection(text: &str) -> bool {
    matches!(Parts::new(text).as_slice(), ["dev", "tcp" | "udp", ..])
}

/// Whether this is a log or history file.
pub(super) fn is_record(text: &str) -> bool {
    let parts = Parts::new(text);
    let is_absolute = parts.is_absolute;
    let history = |name: &str| name.starts_with('.') && name.ends_with("_history");
    let parts = parts.as_slice();
    (is_absolute && parts.starts_with(&["var", "log"]))
        || parts
            .last()
            .is_some_and(|name| history(name) || matches!(*name, "wtmp" | "btmp" | "lastlog" | "utmp"))
}

/// The paths a word may contain: the word itself, an option's value, the text behind `=` or `@`, and the results of
/// brace expansion.
fn paths_in(value: &Value) -> impl Iterator<Item = &str> {
    let text = value.text.as_str();
    let behind_equals = text.rsplit_once('=').map(|(_, path)| path);
    let behind_option =
        text.strip_prefix('-').filter(|_| !text.starts_with("--")).and_then(|rest| rest.get(1..));
    // `HEAD:.env` is a file in `git`, `host:.env` a file on another machine.
    let behind_colon = text.rsplit_once(':').map(|(_, path)| path);
    let whole = [Some(text), behind_equals, behind_option, behind_colon];
    let pieces = value.alternatives.iter().map(String::as_str);
    whole.into_iter().flatten().chain(pieces).map(|path| path.trim_start_matches('@'))
}

/// Password and rights files of the system, which no tool opens.
const SECRETS_OF_THE_SYSTEM: [&str; 3] = ["gshadow", "shadow", "sudoers"];

/// Endings of files that may contain a key or typed input. File tools check the content of such files.
const ENDS_OF_SECRETS: [&str; 3] = [".key", ".pem", "_history"];

/// Whether secrets are stored there.
pub(super) fn is_secret(value: &Value) -> bool {
    paths_in(value).any(|text| {
        let named = normal(text.trim_end_matches('*'));
        let parts = Parts::new(text);
        let parts = parts.as_slice();
        NAMES.credentials(Path::new(named.as_ref()), Role::File).is_err()
            || parts.last().is_some_and(|name| SECRETS_OF_THE_SYSTEM.contains(name))
            || ENDS_OF_SECRETS.iter().any(|end| named.len() > end.len() && named.ends_with(end))
            || matches!(parts, ["proc", .., "environ" | "mem" | "root" | "fd"])
            || (value.is_glob && may_be_secret(parts))
    })
}

/// A pattern that matches hidden files, or files in /etc or of other processes.
fn may_be_secret(parts: &[&str]) -> bool {
    let pattern = |part: &&str| part.contains(['*', '?', '[']);
    let hidden = |part: &&str| pattern(part) && (part.starts_with(['.', '[', '?']));
    parts.iter().any(hidden)
        || (matches!(parts.first(), Some(&"etc" | &"proc" | &"root")) && parts.iter().any(pattern))
}

/// Whether the word may name a start file, which other programs run later.
pub(super) fn may_be_startup(value: &Value) -> bool {
    // Fast path: most words cannot match.
    let is_near = value.text.contains(['.', '/', '~']) && !value.text.contains("://");
    is_near && paths_in(value).any(is_startup)
}

/// Whether this is a start file, which other programs run later.
pub(super) fn is_startup(text: &str) -> bool {
    NAMES.is_start_file(Path::new(normal(text).as_ref()))
}

/// Whether the folder contains secrets under any name.
pub(super) fn holds_secrets(folder: &Value) -> bool {
    NAMES.holds_credentials(Path::new(normal(&folder.text).as_ref()))
}

/// Whether files in this folder are run later by other programs, under any name.
pub(super) fn holds_startup(folder: &Value) -> bool {
    NAMES.holds_start_files(Path::new(normal(&folder.text).as_ref()))
}

/// Whether this file name is an open descriptor.
pub(super) fn is_descriptor(text: &str) -> bool {
    let parts = Parts::new(text);
    let is_absolute = parts.is_absolute;
    is_absolute && matches!(parts.as_slice(), ["dev", "stdin" | "fd", ..] | ["proc", _, "fd", ..])
}

/// A normalized path: without `.`, `..` and double slashes.
pub(super) fn normal(path: &str) -> Cow<'_, str> {
    if !path.contains('/') {
        return Cow::Borrowed(path);
    }
    let parts = Parts::new(path);
    let root = if parts.is_absolute { "/" } else { "" };
    Cow::Owned(format!("{root}{}", parts.as_slice().join("/")))
}

/// Whether a redirection into it cannot damage the system.
pub(super) fn spares_the_system(value: &Value) -> bool {
    if value.text.starts_with(UNKNOWN) || value.splits || value.is_glob {
        return false;
    }
    !is_system(value)
}

/// Whether this is a system path, where programs store data of others.
pub(super) fn is_system(value: &Value) -> bool {
    let parts = Parts::new(&value.text);
    parts.is_absolute
        && match parts.as_slice() {
            ["dev", name, ..] => !HARMLESS_DEVICES.contains(name) && !matches!(*name, "fd" | "shm" | "pts"),
            ["var", "tmp", ..] => false,
            [top, ..] => SYSTEM.contains(top) || matches!(*top, "var" | "opt" | "srv" | "run"),
            [] => true,
        }
}

/// Whether a folder is unknown, or neither below the current folder nor temporary.
pub(super) fn is_outside(value: &Value) -> bool {
    let text = value.text.as_str();
    let parts = Parts::new(text);
    match parts.as_slice() {
        _ if text.starts_with(['~', UNKNOWN]) || value.splits => true,
        ["tmp", ..] | ["var", "tmp", ..] if parts.is_absolute => false,
        [first, ..] => parts.is_absolute || *first == "..",
        [] => parts.is_absolute,
    }
}

/// Whether this is a temporary folder, or inside one.
pub(super) fn is_temporary(value: &Value) -> bool {
    let parts = Parts::new(&value.text);
    parts.is_absolute && matches!(parts.as_slice(), ["tmp", ..] | ["var", "tmp", ..] | ["dev", "shm", ..])
}

/// Whether this is one named file below the current folder, or a temporary file.
pub(super) fn is_one_file_inside(value: &Value) -> bool {
    let parts = Parts::new(&value.text);
    let is_named = value.known().is_some() && !value.is_glob && !value.text.ends_with(['/', '.']);
    is_named
        && !parts.as_slice().contains(&".git")
        && !is_outside(value)
        && parts.as_slice().len() > usize::from(parts.is_absolute)
}
