//! A few bytes in a file that every process of a folder sees at once.
//!
//! Whoever changes something that others go by puts up another notice; whoever finds the one they know need not look
//! any further. Reading it costs no more than a look at memory.

use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::memory_map::MemoryMap;

/// What a notice says: nothing but that it is another one.
pub type Revision = [u8; 16];

/// A place for notices.
#[expect(clippy::disallowed_types, reason = "this is the door: a file that processes of one folder share")]
#[derive(Debug)]
pub struct FileCounter {
    file: std::fs::File,
    /// The same, in memory; `None` where that cannot be.
    mapped: Option<MemoryMap>,
}

impl FileCounter {
    /// The place at `path`, made if there is none.
    ///
    /// # Errors
    /// When there is none and none can be made.
    #[expect(
        clippy::disallowed_types,
        reason = "this is the door: a file that processes of one folder share"
    )]
    pub fn open(path: &Path) -> io::Result<Self> {
        // Bits of a flag word, the same ones whatever the sign of the type.
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
        place.mapped = MemoryMap::of(&place.file, size_of::<Revision>()).ok();
        Ok(place)
    }

    /// What stands there; `None` when that cannot be seen.
    #[must_use]
    pub fn read(&self) -> Option<Revision> {
        if let Some(mapped) = &self.mapped {
            let [first, last] = mapped.words();
            // What is cut off ends in zeros.
            let words = u128::from(last.to_le()) << 64 | u128::from(first.to_le());
            return (last != 0).then_some(words.to_le_bytes());
        }
        let mut words = Revision::default();
        self.file.read_exact_at(&mut words, 0).ok()?;
        Some(words)
    }

    /// Puts up another one. Random, so that two who do so at the same time do not put up the same.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn bump(&self) -> io::Result<()> {
        let mut words = Revision::default();
        getrandom::fill(&mut words).map_err(io::Error::other)?;
        // Its last word is never zero, which is what is read of a notice that is cut off.
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
    fn whoever_looks_sees_that_something_changed() {
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
    fn what_is_cut_off_says_nothing() {
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
