//! Protected files in a program's own folders, besides those found by name in `crate::sensitive`.

use std::io;
use std::path::{Path, PathBuf};

use crate::folders::make_private;
use crate::owner::give_to;

use super::user::User;

/// The folder of a repository. It cannot be renamed, so that it cannot be replaced by one with other hooks.
pub(super) const REPOSITORY: &str = ".git";

/// Read-only parts of a repository, if there is one.
const LOCKED_IN_REPOSITORY: [&str; 4] = ["config", "config.worktree", "hooks", "info/attributes"];

/// The read-only paths of this folder's repository, existing or not.
pub(super) fn locked(folder: &Path) -> Vec<PathBuf> {
    let repository = folder.join(REPOSITORY);
    let inner =
        LOCKED_IN_REPOSITORY.iter().filter(|_| is_folder(&repository)).map(|name| repository.join(name));
    inner.collect()
}

/// The real path, also of a missing file.
#[expect(clippy::disallowed_methods, reason = "this is the door: where our own folders really are")]
pub(super) fn real_place(path: &Path) -> io::Result<PathBuf> {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Err(error), Some(above), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            Ok(real_place(above)?.join(name))
        }
        (found, ..) => found,
    }
}

/// Targets of links in a folder of ours, existing or not.
#[expect(clippy::disallowed_methods, reason = "this is the door: what is ours and lies elsewhere")]
pub(super) fn linked_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let targets = entries.filter_map(|entry| Some(folder.join(std::fs::read_link(entry.path()).ok()?)));
    targets.filter_map(|target| real_place(&target).ok()).filter(|target| !is_folder(target)).collect()
}

/// Creates a folder of ours, so that a mount can cover it. Created parents get the owner of the folder they are in.
pub(super) fn make_first(folder: &Path, user: Option<User>) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().skip(1).take_while(|above| !is_there(above)).collect();
    make_private(folder)?;
    match user {
        Some(user) => Ok(missing.into_iter().try_for_each(|above| give_to(user, above))?),
        None => Ok(()),
    }
}

/// Whether it can be covered by a mount: a link would be followed.
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
