//! What the names of files tell.

use super::value::{UNKNOWN, Value};

/// Folders of the system that nothing may empty, nor what lies directly in them.
const SYSTEM: [&str; 15] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "sbin", "sys", "usr",
    "System", "Library",
];

/// Folders that nothing may empty.
const TOPS: [&str; 9] = ["home", "Users", "var", "opt", "srv", "mnt", "media", "run", "Applications"];

/// A path without `.`, `..` and double slashes.
fn parts(path: &str) -> (bool, Vec<&str>) {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if path.starts_with('/') => {}
            _ => parts.push(part),
        }
    }
    (path.starts_with('/'), parts)
}

/// Whether whoever empties this has destroyed a system or a home.
pub(super) fn is_root(value: &Value) -> bool {
    let text = value.text.as_str();
    let (is_absolute, mut parts) = parts(text);
    // Everything in a folder is the folder.
    while parts
        .last()
        .is_some_and(|last| value.is_glob && last.bytes().all(|byte| b"*.?[]!^".contains(&byte)))
    {
        parts.pop();
    }
    if !is_absolute {
        return match parts.as_slice() {
            [home] => home.starts_with('~'),
            [] => text.starts_with('~'),
            _ => false,
        };
    }
    match parts.as_slice() {
        [] => true,
        [top] => SYSTEM.contains(top) || TOPS.contains(top) || top.contains(['*', '?', '[']),
        [top, _] => SYSTEM.contains(top) || matches!(*top, "home" | "Users"),
        _ => false,
    }
}

/// Whether this is everything in the current folder or above it.
pub(super) fn is_here(value: &Value) -> bool {
    let (is_absolute, parts) = parts(&value.text);
    let all =
        |part: &&str| *part == ".." || (value.is_glob && part.bytes().all(|byte| b"*.?".contains(&byte)));
    !is_absolute && !value.text.is_empty() && parts.iter().all(all)
}

/// Devices that hold nothing.
const HARMLESS_DEVICES: [&str; 9] =
    ["null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty"];

/// Whether this is a device that writing to would destroy something.
pub(super) fn is_device(text: &str) -> bool {
    let (is_absolute, parts) = parts(text);
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

/// Whether this is a connection in the disguise of a file.
pub(super) fn is_connection(text: &str) -> bool {
    matches!(parts(text).1.as_slice(), ["dev", "tcp" | "udp", ..])
}

/// Whether this is a record of what was done.
pub(super) fn is_record(text: &str) -> bool {
    let (is_absolute, parts) = parts(text);
    let history = |name: &str| name.starts_with('.') && name.ends_with("_history");
    (is_absolute && parts.starts_with(&["var", "log"]))
        || parts
            .last()
            .is_some_and(|name| history(name) || matches!(*name, "wtmp" | "btmp" | "lastlog" | "utmp"))
}

const SECRET_FOLDERS: [&str; 15] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".terraform.d",
    ".password-store",
    ".docker",
    "keyrings",
    ".mozilla",
    "google-chrome",
    "gcloud",
    ".gem",
    ".oci",
    "gh",
];

const SECRET_FILES: [&str; 20] = [
    ".netrc",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".vault-token",
    "shadow",
    "gshadow",
    "sudoers",
    "credentials",
    "credentials.json",
    "credentials.toml",
    "kubeconfig",
    ".htpasswd",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "authorized_keys",
];

/// Whether secrets are kept there.
pub(super) fn is_secret(value: &Value) -> bool {
    let behind_equals = value.text.rsplit_once('=').map(|(_, path)| path);
    std::iter::once(value.text.as_str()).chain(behind_equals).any(|text| {
        let (_, parts) = parts(text.trim_start_matches('@'));
        parts.iter().any(|part| SECRET_FOLDERS.contains(part))
            || parts.last().is_some_and(|name| is_secret_file(name))
            || matches!(parts.as_slice(), ["proc", .., "environ" | "mem" | "root" | "fd"])
            || (value.is_glob && may_be_secret(&parts))
    })
}

fn is_secret_file(name: &str) -> bool {
    let sample = [".example", ".sample", ".template", ".dist", ".defaults", ".test"];
    let is_environment =
        name == ".env" || (name.starts_with(".env.") && !sample.iter().any(|end| name.ends_with(end)));
    let ending = |end: &str| name.len() > end.len() && name.ends_with(end);
    is_environment
        || SECRET_FILES.contains(&name)
        || ending(".pem")
        || ending(".key")
        || ending(".p12")
        || ending(".pfx")
        || ending(".kdbx")
        || ending(".history")
        || (name.starts_with('.') && name.ends_with("_history"))
}

/// A pattern that reaches hidden files, or those of /etc and of other processes.
fn may_be_secret(parts: &[&str]) -> bool {
    let pattern = |part: &&str| part.contains(['*', '?', '[']);
    let hidden = |part: &&str| pattern(part) && (part.starts_with(['.', '[', '?']));
    parts.iter().any(hidden)
        || (matches!(parts.first(), Some(&"etc" | &"proc" | &"root")) && parts.iter().any(pattern))
}

const STARTUP_FILES: [&str; 24] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".inputrc",
    ".gitconfig",
    ".gitmodules",
    ".vimrc",
    ".exrc",
    ".emacs",
    ".tmux.conf",
    ".screenrc",
    ".mcp.json",
    ".envrc",
    "crontab",
    "config.fish",
    ".pam_environment",
    ".xinitrc",
];

/// Whether what stands there is run by somebody else later.
pub(super) fn is_startup(text: &str) -> bool {
    let (_, parts) = parts(text);
    let inside = |folder: &str| parts.iter().rev().skip(1).any(|part| *part == folder);
    parts.last().is_some_and(|name| STARTUP_FILES.contains(name))
        || (inside(".git")
            && (inside("hooks") || parts.ends_with(&["config"]) || parts.ends_with(&["hooks"])))
        || [".husky", "autostart", "cron.d", "cron.daily", "cron.hourly", "init.d", "profile.d"]
            .into_iter()
            .any(inside)
        || (inside(".config") && inside("systemd"))
}

/// Whether a redirection into it leaves the system alone.
pub(super) fn spares_the_system(value: &Value) -> bool {
    if value.text.starts_with(UNKNOWN) || value.splits {
        return false;
    }
    match parts(&value.text) {
        (true, parts) => match parts.as_slice() {
            ["dev", name, ..] => HARMLESS_DEVICES.contains(name) || matches!(*name, "fd" | "shm" | "pts"),
            ["var", "tmp", ..] => true,
            [top, ..] => !SYSTEM.contains(top) && !matches!(*top, "var" | "opt" | "srv" | "run"),
            [] => false,
        },
        (false, _) => true,
    }
}
