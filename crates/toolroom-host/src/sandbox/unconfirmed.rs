//! A configuration that appears while a program runs next to it may come from the program. A marker file next to the missing
//! configuration exists while such a program runs. If the configuration exists at its end, the marker stays, and the
//! configuration is ignored until its owner confirms it.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::protected::is_there;
use crate::folders::{CONFIGURATION, PRIVATE_FILE};

/// The suffix after the name of a configuration. Each program has its own marker.
const MARK: &str = ".unconfirmed-";

/// The markers of one program.
#[derive(Debug, Default)]
pub(crate) struct UnconfirmedMarks(Vec<PathBuf>);

impl UnconfirmedMarks {
    /// Creates a marker in each folder.
    #[expect(clippy::disallowed_types, reason = "this is the door: a mark in our own folder")]
    pub(crate) fn put(folders: &[PathBuf]) -> io::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut marks = Self::default();
        for folder in folders {
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(io::Error::other)?;
            let mark = folder.join(format!("{CONFIGURATION}{MARK}{}", hex::encode(random)));
            std::fs::OpenOptions::new().write(true).create_new(true).mode(PRIVATE_FILE).open(&mark)?;
            marks.0.push(mark);
        }
        Ok(marks)
    }
}

impl Drop for UnconfirmedMarks {
    #[expect(clippy::disallowed_methods, reason = "this is the door: a mark in our own folder")]
    fn drop(&mut self) {
        for mark in self.0.iter().filter(|mark| !is_there(&mark.with_file_name(CONFIGURATION))) {
            // A marker too many only makes the owner confirm.
            drop(std::fs::remove_file(mark));
        }
    }
}

/// Whether this configuration appeared while a program ran that could have created it.
#[must_use]
pub fn is_unconfirmed(configuration: &Path) -> bool {
    !marks_beside(configuration).is_empty()
}

/// Confirms a configuration for its owner.
#[expect(clippy::disallowed_methods, reason = "this is the door: marks in our own folder")]
pub fn confirm(configuration: &Path) -> io::Result<()> {
    marks_beside(configuration).into_iter().try_for_each(std::fs::remove_file)
}

#[expect(clippy::disallowed_methods, reason = "this is the door: marks in our own folder")]
fn marks_beside(configuration: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (configuration.parent(), configuration.file_name()) else {
        return Vec::new();
    };
    let begin = [name.as_bytes(), MARK.as_bytes()].concat();
    let is_mark = |name: &OsStr| name.as_bytes().starts_with(&begin);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| is_mark(&entry.file_name())).map(|entry| entry.path()).collect()
}
