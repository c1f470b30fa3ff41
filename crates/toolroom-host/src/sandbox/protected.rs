//! Files that are kept from a program even in a folder that is its own: what others run without a look, and what opens
//! doors elsewhere.

use std::path::{Path, PathBuf};

/// Run or obeyed by shells, by git, by editors and by whatever starts a session, often long after and by somebody else.
/// They can be read.
const LOCKED: [&str; 31] = [
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".gitconfig",
    ".hg/hgrc",
    ".inputrc",
    ".kshrc",
    ".login",
    ".mcp.json",
    ".pam_environment",
    ".profile",
    ".tcshrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    ".config/autostart",
    ".config/environment.d",
    ".config/fish",
    ".config/git",
    ".config/systemd",
    ".local/share/systemd",
    ".vscode/settings.json",
    ".vscode/tasks.json",
];

/// The folder of a repository. It cannot be put aside, so that none with other hooks takes its place.
pub(super) const REPOSITORY: &str = ".git";

/// The same for a repository, if there is one.
const LOCKED_IN_REPOSITORY: [&str; 4] = ["config", "config.worktree", "hooks", "info/attributes"];

/// Keys and passwords. They can neither be read nor changed.
const HIDDEN: [&str; 13] = [
    ".aws",
    ".azure",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".docker/config.json",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".netrc",
    ".password-store",
    ".pypirc",
    ".ssh",
];

/// What may not be changed in this folder, there or not.
pub(super) fn locked(folder: &Path) -> Vec<PathBuf> {
    let repository = folder.join(REPOSITORY);
    let inner =
        LOCKED_IN_REPOSITORY.iter().filter(|_| is_folder(&repository)).map(|name| repository.join(name));
    LOCKED.iter().map(|name| folder.join(name)).chain(inner).collect()
}

/// What is there in this folder and may not be read.
pub(super) fn hidden(folder: &Path) -> Vec<PathBuf> {
    HIDDEN.iter().map(|name| folder.join(name)).filter(|path| is_there(path)).collect()
}

/// Whether something can be laid over it: a link would be followed.
#[expect(clippy::disallowed_methods, reason = "this is the door: what a protected file is")]
pub(super) fn can_be_covered(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir() || found.is_file())
}

#[expect(clippy::disallowed_methods, reason = "this is the door: whether a protected file is there")]
pub(super) fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

#[expect(clippy::disallowed_methods, reason = "this is the door: whether a protected folder is there")]
pub(super) fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
