//! A revision in a file that all processes of a folder share.
//!
//! A process that changes shared settings replaces the revision; a process that sees its known revision can use its cache.
//! Reading costs one memory access.

use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::memory_map::MemoryMap;

/// An opaque revision. Only equality means anything.
pub type Revision = [u8; 16];

/// The shared revision.
#[expect(clippy::disallowed_types, reason = "this is the door: a file that processes of one folder share")]
#[derive(Debug)]
pub struct FileCounter {
    file: std::fs::File,
    /// The file in memory; `None` if mapping is not possible.
    mapped: Option<MemoryMap>,
}

impl FileCounter {
    /// Opens the counter at `path`, creating it if missing.
    ///
    /// # Errors
    /// If it cannot be created.
    #[expect(
        clippy::disallowed_types,
        reason = "this is the door: a file that processes of one folder share"
    )]
    pub fn open(path: &Path) -> io::Result<Self> {
        // The same bits, regardless of the sign of the type.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(flags)
            .open(path)?;
        let mut place = Self { file, mapped: None };
        if place.read().is_none() {
            place.bump()?;
        }
        place.mapped = MemoryMap::map(&place.file, size_of::<Revision>()).ok();
        Ok(place)
    }

    /// The current revision; `None` if it cannot be read.
    #[must_use]
    pub fn read(&self) -> Option<Revision> {
        if let Some(mapped) = &self.mapped {
            let [first, last] = mapped.words();
            // A truncated file reads as zeros at the end.
            let words = u128::from(last.to_le()) << 64 | u128::from(first.to_le());
            return (last != 0).then_some(words.to_le_bytes());
        }
        let mut words = Revision::default();
        self.file.read_exact_at(&mut words, 0).ok()?;
        Some(words)
    }

    /// Replaces the revision. Random, so that two concurrent changes differ.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn bump(&self) -> io::Result<()> {
        let mut words = Revision::default();
        getrandom::fill(&mut words).map_err(io::Error::other)?;
        // The last word is never zero, unlike that of a truncated file.
        let [.., last] = &mut words;
        *last |= 1;
        self.file.write_all_at(&words, 0)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at files")]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_that_the_revision_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notice");
        let (here, there) = (FileCounter::open(&path).unwrap(), FileCounter::open(&path).unwrap());
        let first = here.read();
        assert!(first.is_some());
        assert_eq!(there.read(), first, "the second one leaves it as it is");
        there.bump().unwrap();
        assert_ne!(here.read(), first);
        assert_eq!(here.read(), there.read());
    }

    #[test]
    fn a_truncated_file_has_no_revision() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notice");
        let notice = FileCounter::open(&path).unwrap();
        std::fs::write(&path, "short").unwrap();
        assert_eq!(notice.read(), None);
        assert!(FileCounter::open(&path).unwrap().read().is_some(), "the next one mends it");
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notice");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        FileCounter::open(&path).unwrap_err();
        assert!(!folder.path().join("elsewhere").exists());
    }
}
