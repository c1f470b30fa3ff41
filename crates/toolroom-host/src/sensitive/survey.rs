//! Scans folders for listed files before a program starts that may use these folders.

use std::collections::{BTreeSet, VecDeque};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::home::below_home;
use super::names::{
    ChangedBy, PathKind, in_lower_case, is_credential, is_start_file, is_worth_a_look, length_of_place,
};

/// Maximum number of folders. With more, a program is not started, because their content would be accessible.
const MAX_FOLDERS: usize = 50_000;

/// Timeout of a scan.
const MAX_LOOK: Duration = Duration::from_secs(10);

/// Maximum number of entries of all folders together.
const MAX_ENTRIES: usize = 1_000_000;

/// Maximum number of hidden credentials: each costs a mount.
const MAX_CREDENTIALS: usize = 256;

/// Maximum number of locked or watched start files.
const MAX_START_FILES: usize = 512;

/// Maximum number of readable, locked credentials and nearer start files together.
const MAX_OPENED: usize = 64;

/// Package folders, whose content comes from third parties: start files in them are not the owner's.
const PACKAGES: [&str; 2] = ["node_modules", "site-packages"];

/// Matches every name of the list.
const EVERYTHING: &str = "*";

/// A scan.
#[derive(Debug)]
pub(crate) struct Survey<'a> {
    /// The user's home folder.
    pub(crate) home: Option<&'a Path>,
    /// Credentials that programs may read: names, or several in a row.
    pub(crate) opened: &'a [String],
    /// Whether credentials can be hidden. Otherwise they are not collected.
    pub(crate) is_hiding: bool,
}

/// The files found, nearest first.
#[derive(Debug, Default)]
pub(crate) struct SensitiveFiles {
    /// Files and folders with credentials, and unreadable folders.
    pub(crate) credentials: Vec<PathBuf>,
    /// Folders whose names identify the credentials in them.
    pub(crate) named_folders: BTreeSet<PathBuf>,
    /// Start files and folders of them.
    pub(crate) start_files: Vec<PathBuf>,
    /// Whether a limit was exceeded.
    pub(crate) is_cut: bool,
}

impl Survey<'_> {
    /// Scans these folders. A folder of credentials that was opened by name is open completely. Blocks.
    pub(crate) fn run(&self, folders: &BTreeSet<PathBuf>) -> SensitiveFiles {
        let mut found = SensitiveFiles::default();
        let mut open: VecDeque<PathBuf> = folders
            .iter()
            .filter(|folder| !self.holds_credentials(folder, PathKind::Folder))
            .cloned()
            .collect();
        // Nested folders are scanned with their parent.
        let inner = |path: &Path| path.ancestors().skip(1).any(|above| folders.contains(above));
        open.retain(|folder| !inner(folder));
        let (mut looked_at, mut entries, began) = (0, 0, now());
        while let Some(folder) = open.pop_front() {
            looked_at += 1;
            self.look_into(&folder, folders, &mut found, &mut open, &mut entries);
            if !self.is_hiding {
                found.credentials.clear();
            }
            found.is_cut |= found.credentials.len() > MAX_CREDENTIALS
                || found.start_files.len() > MAX_START_FILES
                || entries > MAX_ENTRIES
                || looked_at + open.len() > MAX_FOLDERS
                || now() - began > MAX_LOOK;
            if found.is_cut {
                break;
            }
        }
        found
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the door: credentials in the folders of a program"
    )]
    fn look_into(
        &self,
        folder: &Path,
        all: &BTreeSet<PathBuf>,
        found: &mut SensitiveFiles,
        open: &mut VecDeque<PathBuf>,
        count: &mut usize,
    ) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return,
            // A program may be able to make it readable again.
            Err(_) => return found.credentials.push(folder.to_owned()),
        };
        for entry in entries {
            *count += 1;
            let Ok(entry) = entry else { return found.credentials.push(folder.to_owned()) };
            let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
            let is_known = is_worth_a_look(&name.to_string_lossy().to_lowercase());
            if !kind.is_dir() && !is_known {
                continue;
            }
            let path = entry.path();
            if is_known && kind.is_symlink() {
                // A mount on a link would cover its target. Links outside are not accessible anyway.
                let is_inside =
                    |target: &PathBuf| all.iter().any(|one| target != one && target.starts_with(one));
                if let Some(target) = path.canonicalize().ok().filter(is_inside) {
                    let kind = if target.is_dir() { PathKind::Folder } else { PathKind::File };
                    let count = found.credentials.len() + found.start_files.len();
                    self.sort(&path, target, kind, found);
                    // Without the link the target cannot be recognized.
                    if found.credentials.len() + found.start_files.len() > count {
                        found.start_files.push(path);
                    }
                }
                continue;
            }
            let is_hidden = match (is_known, kind.is_dir()) {
                (true, true) => self.sort(&path, path.clone(), PathKind::Folder, found),
                (true, false) => self.sort(&path, path.clone(), PathKind::File, found),
                (false, _) => false,
            };
            if kind.is_dir() && !is_hidden {
                open.push_back(path);
            }
        }
    }

    /// Classifies a path by name. Returns whether it is hidden.
    fn sort(&self, named: &Path, place: PathBuf, kind: PathKind, found: &mut SensitiveFiles) -> bool {
        if self.holds_credentials(named, kind) {
            // Readable credentials are read-only.
            let is_opened = self.is_opened(named);
            let list = if is_opened { &mut found.start_files } else { &mut found.credentials };
            if !is_opened || list.len() < MAX_OPENED {
                list.push(place);
            }
            let (names, below) = self.names(named);
            let folders = named.ancestors().skip(1).take(length_of_place(&names, below.as_deref()) - 1);
            found.named_folders.extend(folders.map(Path::to_owned));
            return !is_opened || kind == PathKind::Folder;
        }
        let (names, below) = self.names(named);
        let is_packaged = || named.iter().any(|name| PACKAGES.iter().any(|packages| name == *packages));
        if is_start_file(&names, below.as_deref(), ChangedBy::ByProgram)
            && !found.start_files.iter().any(|outer| place.starts_with(outer))
            && !is_packaged()
        {
            found.start_files.push(place);
        }
        false
    }

    fn holds_credentials(&self, place: &Path, kind: PathKind) -> bool {
        let (names, below) = self.names(place);
        is_credential(&names, below.as_deref(), kind)
    }

    /// Whether all names are open to programs.
    pub(crate) fn opens_everything(&self) -> bool {
        self.opened.iter().any(|opened| opened == EVERYTHING)
    }

    /// Whether the configuration opens it to programs.
    fn is_opened(&self, place: &Path) -> bool {
        let names = in_lower_case(place);
        let opened = self.opened.iter().map(|opened| in_lower_case(Path::new(opened)));
        let is_on_the_way =
            |opened: Vec<String>| names.windows(opened.len().max(1)).any(|names| names == opened);
        self.opens_everything() || opened.into_iter().any(is_on_the_way)
    }

    fn names(&self, place: &Path) -> (Vec<String>, Option<Vec<String>>) {
        (in_lower_case(place), below_home(place, self.home).map(in_lower_case))
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: time in a function that blocks")]
fn now() -> Instant {
    Instant::now()
}
