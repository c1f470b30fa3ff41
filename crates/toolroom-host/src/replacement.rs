//! Replaces a file and keeps the old one next to it.
//!
//! The new file first gets the backup name, and then both names are exchanged atomically: if the process dies, one of the
//! two files has the name that readers look for.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::atomic_file::{AtomicFile, sync_folder_of};

/// Maximum number of kept files with the same name and mark.
const MAX_KEPT: u32 = 100;

/// Whether a file exists, including a dangling link.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the door: our own files, and who has their names")]
pub fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The new file.
#[derive(Debug, Clone, Copy)]
pub enum Replacement<'a> {
    /// A file on the same file system, which is moved.
    File(&'a Path),
    /// A text, written to a file with mode 0600.
    Text(&'a str),
}

impl Replacement<'_> {
    /// Creates it where nothing exists; otherwise fails with [`io::ErrorKind::AlreadyExists`].
    #[expect(clippy::disallowed_methods, reason = "this is the door: our own files, moved and written")]
    fn put(self, path: &Path) -> io::Result<()> {
        match self {
            Self::File(file) => Ok(renameat_with(CWD, file, CWD, path, RenameFlags::NOREPLACE)?),
            Self::Text(text) => {
                let mut staged = AtomicFile::beside(path)?;
                staged.write_all(text.as_bytes())?;
                staged.publish_new()
            }
        }
    }
}

/// Gives `new` the name `path`. The old file is kept as `path.MARK`, or `.MARK-2` and so on if that exists, together with
/// its companion files, whose names end in one of `companions`. Returns the backup path, if there was an old file.
#[expect(clippy::disallowed_methods, reason = "this is the door: our own files, replaced in one step")]
pub fn replace(
    new: Replacement<'_>,
    path: &Path,
    mark: &str,
    companions: &[&str],
) -> io::Result<Option<PathBuf>> {
    if !is_there(path) {
        new.put(path)?;
        sync_folder_of(path)?;
        return Ok(None);
    }
    let aside = first_free(path, mark, |aside| new.put(aside))?;
    for end in companions {
        let companion = with_end(path, end);
        if is_there(&companion) {
            std::fs::rename(companion, with_end(&aside, end))?;
        }
    }
    let kept = match renameat_with(CWD, &aside, CWD, path, RenameFlags::EXCHANGE) {
        Ok(()) => aside,
        // Some file systems cannot. Then the old file has two names for a moment, which is nearly as good.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            let kept = first_free(path, mark, |kept| std::fs::hard_link(path, kept))?;
            std::fs::rename(aside, path)?;
            kept
        }
        Err(error) => return Err(error.into()),
    };
    sync_folder_of(path)?;
    Ok(Some(kept))
}

/// Gives a file a backup name, as [`replace`] does. `None` if it does not exist.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the door: our own files, kept before they are replaced"
)]
pub fn keep_aside(path: &Path, mark: &str) -> io::Result<Option<PathBuf>> {
    if !is_there(path) {
        return Ok(None);
    }
    let aside = first_free(path, mark, |aside| std::fs::hard_link(path, aside))?;
    sync_folder_of(path)?;
    Ok(Some(aside))
}

/// Gives `new` the name `path`, replacing an existing file.
#[expect(clippy::disallowed_methods, reason = "this is the door: our own files, replaced in one step")]
pub(crate) fn put_in_place(new: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(new, path)?;
    sync_folder_of(path)
}

/// The first free name with this mark.
fn first_free(path: &Path, mark: &str, take: impl Fn(&Path) -> io::Result<()>) -> io::Result<PathBuf> {
    let mut number = 1;
    loop {
        let name = match number {
            1 => with_end(path, &format!(".{mark}")),
            number => with_end(path, &format!(".{mark}-{number}")),
        };
        match take(&name) {
            Ok(()) => return Ok(name),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < MAX_KEPT => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// A path with a suffix added to its file name.
#[must_use]
pub fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files themselves")]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_is_kept_under_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let write = |name: &str, text: &str| std::fs::write(at(name), text).unwrap();
        let text = |name: &str| std::fs::read_to_string(at(name)).unwrap();
        write("new", "0");
        assert_eq!(replace(Replacement::File(&at("new")), &at("a.db"), "old", &["-wal"]).unwrap(), None);
        for (number, kept) in [(1, "a.db.old"), (2, "a.db.old-2"), (3, "a.db.old-3")] {
            write("new", &number.to_string());
            write("a.db-wal", "log");
            assert_eq!(
                replace(Replacement::File(&at("new")), &at("a.db"), "old", &["-wal"]).unwrap(),
                Some(at(kept))
            );
            assert_eq!((text("a.db"), text(kept)), (number.to_string(), (number - 1).to_string()));
            assert_eq!(text(&format!("{kept}-wal")), "log");
            assert!(!is_there(&at("new")) && !is_there(&at("a.db-wal")));
        }
        // A link is renamed, not its target.
        std::os::unix::fs::symlink(at("a.db.old"), at("link")).unwrap();
        write("new", "new");
        assert_eq!(
            replace(Replacement::File(&at("new")), &at("link"), "old", &[]).unwrap(),
            Some(at("link.old"))
        );
        assert_eq!(
            (text("link"), text("link.old"), text("a.db.old")),
            ("new".into(), "0".into(), "0".into())
        );
    }

    #[test]
    fn a_file_with_a_backup_name_stays_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        assert_eq!(keep_aside(&key, "old").unwrap(), None);
        std::fs::write(&key, "content").unwrap();
        for kept in ["key.old", "key.old-2"] {
            assert_eq!(keep_aside(&key, "old").unwrap(), Some(folder.path().join(kept)));
            assert_eq!(std::fs::read_to_string(folder.path().join(kept)).unwrap(), "content");
        }
        assert!(is_there(&key));
    }
}
