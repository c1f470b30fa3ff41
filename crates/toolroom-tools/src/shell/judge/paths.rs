//! What the names of files tell.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::path_parts::Parts;
use super::value::{UNKNOWN, Value};

/// Names, written with spaces between them.
type Names = LazyLock<HashSet<&'static str>>;

fn set(names: &'static str) -> HashSet<&'static str> {
    names.split_whitespace().collect()
}

/// Folders of the system that nothing may empty, nor what lies directly in them.
const SYSTEM: [&str; 15] = [
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "root", "sbin", "sys", "usr",
    "System", "Library",
];

/// Folders that nothing may empty.
const TOPS: [&str; 9] = ["home", "Users", "var", "opt", "srv", "mnt", "media", "run", "Applications"];

/// Whether whoever empties this has destroyed a system or a home.
pub(super) fn is_root(value: &Value) -> bool {
    let text = value.text.as_str();
    let parts = Parts::of(text);
    let is_absolute = parts.is_absolute;
    let mut parts = parts.as_slice();
    // Everything in a folder is the folder.
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

/// Whether this is everything in the current folder or above it.
pub(super) fn is_here(value: &Value) -> bool {
    let parts = Parts::of(&value.text);
    let all =
        |part: &&str| *part == ".." || (value.is_glob && part.bytes().all(|byte| b"*.?".contains(&byte)));
    !parts.is_absolute && !value.text.is_empty() && parts.as_slice().iter().all(all)
}

/// Devices that hold nothing.
const HARMLESS_DEVICES: [&str; 9] =
    ["null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "tty"];

/// Whether this is a device that writing to would destroy something.
pub(super) fn is_device(text: &str) -> bool {
    let parts = Parts::of(text);
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

/// Whether this is a connection in the disguise of a file.
pub(super) fn is_connection(text: &str) -> bool {
    matches!(Parts::of(text).as_slice(), ["dev", "tcp" | "udp", ..])
}

/// Whether this is a record of what was done.
pub(super) fn is_record(text: &str) -> bool {
    let parts = Parts::of(text);
    let is_absolute = parts.is_absolute;
    let history = |name: &str| name.starts_with('.') && name.ends_with("_history");
    let parts = parts.as_slice();
    (is_absolute && parts.starts_with(&["var", "log"]))
        || parts
            .last()
            .is_some_and(|name| history(name) || matches!(*name, "wtmp" | "btmp" | "lastlog" | "utmp"))
}

static SECRET_FOLDERS: Names = LazyLock::new(|| {
    set(".ssh .aws .gnupg .kube .azure .terraform.d .password-store .docker keyrings .mozilla google-chrome \
    gcloud .gem .oci gh")
});

static SECRET_FILES: Names = LazyLock::new(|| {
    set(".netrc .pgpass .my.cnf .git-credentials .npmrc .pypirc .vault-token shadow gshadow sudoers \
    credentials credentials.json credentials.toml kubeconfig .htpasswd id_rsa id_dsa id_ecdsa id_ed25519 \
    authorized_keys")
});

/// The paths that a word may hold: itself, what is joined to an option, what stands behind `=` or `@`, and what braces
/// make of it.
fn paths_in(value: &Value) -> impl Iterator<Item = &str> {
    let text = value.text.as_str();
    let behind_equals = text.rsplit_once('=').map(|(_, path)| path);
    let behind_option =
        text.strip_prefix('-').filter(|_| !text.starts_with("--")).and_then(|rest| rest.get(1..));
    // `HEAD:.env` is a file of `git`, `host:.env` one of another machine.
    let behind_colon = text.rsplit_once(':').map(|(_, path)| path);
    let whole = [Some(text), behind_equals, behind_option, behind_colon];
    let pieces = value.alternatives.iter().map(String::as_str);
    whole.into_iter().flatten().chain(pieces).map(|path| path.trim_start_matches('@'))
}

/// Whether secrets are kept there.
pub(super) fn is_secret(value: &Value) -> bool {
    paths_in(value).any(|text| {
        let parts = Parts::of(text);
        let parts = parts.as_slice();
        parts.iter().any(|part| SECRET_FOLDERS.contains(*part))
            || parts.last().is_some_and(|name| is_secret_file(name))
            || matches!(parts, ["proc", .., "environ" | "mem" | "root" | "fd"])
            || (value.is_glob && may_be_secret(parts))
    })
}

fn is_secret_file(name: &str) -> bool {
    let name = name.trim_end_matches('*');
    let sample = [".example", ".sample", ".template", ".dist", ".defaults", ".test"];
    let is_environment =
        name == ".env" || (name.starts_with(".env.") && !sample.iter().any(|end| name.ends_with(end)));
    let ending = |end: &str| name.len() > end.len() && name.ends_with(end);
    is_environment
        || SECRET_FILES.contains(name)
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

/// Files that somebody runs or obeys, with spaces between them.
static STARTUP_FILES: Names = LazyLock::new(|| {
    set(".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv \
    .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .gitconfig .gitmodules .hgrc \
    .vimrc .gvimrc .exrc .nanorc .emacs .tmux.conf .screenrc .mcp.json .envrc crontab config.fish .pam_environment \
    .xinitrc .xprofile .xsession .gdbinit .lldbinit .pythonrc .irbrc .pryrc .Rprofile .octaverc .psqlrc .sqliterc \
    .wgetrc .curlrc .lesskey .ripgreprc .mailrc .yarnrc .yarnrc.yml .pnpmfile.cjs sitecustomize.py usercustomize.py")
});

/// Folders in which each file is one, and which nobody may take away.
static STARTUP_FOLDERS: Names = LazyLock::new(|| {
    set(".git .husky .vscode .idea .claude .cursor autostart cron.d cron.daily cron.hourly \
    cron.weekly cron.monthly init.d profile.d bashrc.d LaunchAgents LaunchDaemons environment.d")
});

/// Folders, each in another one, in which each file is one.
const STARTUP_NESTED: [(&str, &str); 8] = [
    (".config", "systemd"),
    (".config", "git"),
    (".config", "fish"),
    (".config", "nvim"),
    (".local", "bin"),
    ("~", "bin"),
    ("spool", "cron"),
    (".vim", "plugin"),
];

/// What `git` runs by itself.
static HOOKS: Names = LazyLock::new(|| {
    set("applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg \
    commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update post-receive post-update \
    post-rewrite fsmonitor-watchman post-index-change reference-transaction pre-auto-gc")
});

/// Whether what a word names is run by somebody else later.
pub(super) fn may_be_startup(value: &Value) -> bool {
    // Most words are not even near.
    value.text.contains(['.', '/', '~']) && paths_in(value).any(is_startup) || value.text == "crontab"
}

/// Whether what stands there is run by somebody else later.
pub(super) fn is_startup(text: &str) -> bool {
    let parts = Parts::of(text);
    let Some((name, folders)) = parts.as_slice().split_last() else { return false };
    let inside = |folder: &str| folders.contains(&folder);
    STARTUP_FILES.contains(*name)
        || STARTUP_FOLDERS.contains(*name)
        || (inside(".git") && (inside("hooks") || matches!(*name, "config" | "config.worktree" | "hooks")))
        || (folders.last() == Some(&"hooks") && HOOKS.contains(name.trim_end_matches(UNKNOWN)))
        || (folders.last() == Some(&".cargo") && name.starts_with("config"))
        || folders.iter().any(|folder| *folder != ".git" && STARTUP_FOLDERS.contains(*folder))
        || STARTUP_NESTED.iter().any(|(outer, inner)| {
            folders.windows(2).any(|pair| pair == [*outer, *inner])
                || (folders.last(), *name) == (Some(outer), *inner)
        })
}

/// Whether this is an open descriptor in the disguise of a file.
pub(super) fn is_descriptor(text: &str) -> bool {
    let parts = Parts::of(text);
    let is_absolute = parts.is_absolute;
    is_absolute && matches!(parts.as_slice(), ["dev", "stdin" | "fd", ..] | ["proc", _, "fd", ..])
}

/// A path as it is compared with others: without `.`, `..` and double slashes.
pub(super) fn normal(path: &str) -> Cow<'_, str> {
    if !path.contains('/') {
        return Cow::Borrowed(path);
    }
    let parts = Parts::of(path);
    let root = if parts.is_absolute { "/" } else { "" };
    Cow::Owned(format!("{root}{}", parts.as_slice().join("/")))
}

/// Whether a redirection into it leaves the system alone.
pub(super) fn spares_the_system(value: &Value) -> bool {
    if value.text.starts_with(UNKNOWN) || value.splits || value.is_glob {
        return false;
    }
    !is_system(value)
}

/// Whether this is a path of the system, where programs keep what is not theirs.
pub(super) fn is_system(value: &Value) -> bool {
    let parts = Parts::of(&value.text);
    parts.is_absolute
        && match parts.as_slice() {
            ["dev", name, ..] => !HARMLESS_DEVICES.contains(name) && !matches!(*name, "fd" | "shm" | "pts"),
            ["var", "tmp", ..] => false,
            [top, ..] => SYSTEM.contains(top) || matches!(*top, "var" | "opt" | "srv" | "run"),
            [] => true,
        }
}

/// Whether a folder is not below the current one, nor one for temporary files, or is not known.
pub(super) fn is_outside(value: &Value) -> bool {
    let text = value.text.as_str();
    let parts = Parts::of(text);
    match parts.as_slice() {
        _ if text.starts_with(['~', UNKNOWN]) || value.splits => true,
        ["tmp", ..] | ["var", "tmp", ..] if parts.is_absolute => false,
        [first, ..] => parts.is_absolute || *first == "..",
        [] => parts.is_absolute,
    }
}

/// Whether this is one named file below the current folder, or a temporary one.
pub(super) fn is_one_file_inside(value: &Value) -> bool {
    let parts = Parts::of(&value.text);
    let is_named = value.known().is_some() && !value.is_glob && !value.text.ends_with(['/', '.']);
    is_named
        && !parts.as_slice().contains(&".git")
        && !is_outside(value)
        && parts.as_slice().len() > usize::from(parts.is_absolute)
}
