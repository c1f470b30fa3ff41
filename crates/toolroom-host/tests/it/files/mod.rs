//! Files below roots: what is reached, and what never is.

mod listing;
mod own_files;
mod race;
mod reading;
mod roots;
mod special;
mod traversal;
mod ways_out;
mod writing;

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolroom_host::files::Workspace;

pub(crate) use self::ways_out::{CANARY, MARK};

/// A workspace, and beside it a folder that must stay as it is.
pub(crate) struct Ground {
    folder: TempDir,
    open: fn(PathBuf) -> Workspace,
}

impl Ground {
    pub(crate) fn new() -> Self {
        Self::prepare(TempDir::new().unwrap(), Workspace::new)
    }

    /// Where nothing waits for a disk. That is a system folder, so the workspace has to be one of our own.
    pub(crate) fn in_memory() -> Self {
        match TempDir::new_in("/dev/shm") {
            Ok(folder) => Self::prepare(folder, Workspace::in_data_folder),
            Err(_) => Self::new(),
        }
    }

    fn prepare(folder: TempDir, open: fn(PathBuf) -> Workspace) -> Self {
        let ground = Self { folder, open };
        std::fs::create_dir(ground.outside()).unwrap();
        std::fs::write(ground.outside().join("canary.txt"), CANARY).unwrap();
        std::fs::write(ground.outside().join(MARK), CANARY).unwrap();
        std::fs::create_dir_all(ground.inside("dir/sub")).unwrap();
        std::fs::write(ground.inside("file.txt"), "inside\n").unwrap();
        std::fs::write(ground.inside("dir/file.txt"), "inside dir\n").unwrap();
        ground
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    pub(crate) fn inside(&self, path: &str) -> PathBuf {
        self.folder.path().join("ws").join(path)
    }

    pub(crate) fn above(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn link(&self, name: &str, to: impl AsRef<Path>) {
        symlink(to, self.inside(name)).unwrap();
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.inside(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.inside(name)).unwrap()
    }

    pub(crate) fn workspace(&self) -> Workspace {
        (self.open)(self.inside(""))
    }

    /// Links followed by the kernel, and none at all.
    pub(crate) fn both(&self) -> [Workspace; 2] {
        [self.workspace(), self.workspace().without_links()]
    }

    /// Fails unless everything outside is as it was.
    #[track_caller]
    pub(crate) fn assert_untouched(&self, what: &str) {
        assert_eq!(names_in(self.above()), BTreeSet::from(["outside".into(), "ws".into()]), "{what}");
        let outside = names_in(&self.outside());
        assert_eq!(outside, BTreeSet::from(["canary.txt".into(), MARK.into()]), "{what}");
        for name in outside {
            assert_eq!(std::fs::read_to_string(self.outside().join(name)).unwrap(), CANARY, "{what}");
        }
    }
}

pub(crate) fn names_in(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}
