//! The write-ahead file: lines of acknowledged rows until they are in the database.
//!
//! Appending costs a copy to mapped memory, or a write where mapping is not possible, and the lines survive the process.
//! There are two parts: while the lines of one are committed, new ones go to the other. A process that shuts down empties
//! and removes both. A killed process leaves them for the next one.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate};

use crate::memory_map::MemoryMap;

/// The suffixes of the two parts.
const PARTS: [&str; 2] = ["0", "1"];

/// The suffix of a part before it is locked.
const UNFINISHED: &str = "new";

/// Capacity of a part.
pub const PART_BYTES: usize = 4 * 1024 * 1024;

/// The prefix that distinguishes one filling of a part from the next: each line begins with a unique id.
const BEGINNING: usize = 64;

/// How long a reader waits for lines of other processes, and how often it checks.
const TIMEOUT: Duration = Duration::from_millis(500);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The write-ahead file of this process.
#[derive(Debug)]
pub struct WriteAheadFile {
    parts: [Part; 2],
}

#[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
#[derive(Debug)]
struct Part {
    path: PathBuf,
    file: std::fs::File,
    room: Mutex<PartState>,
}

/// The mapped file, if possible, and how much of it is used.
#[derive(Debug)]
struct PartState {
    mapped: Option<MemoryMap>,
    filled: usize,
}

impl WriteAheadFile {
    /// Creates the file in `folder`, which is created if missing.
    ///
    /// # Errors
    /// If it cannot be created.
    #[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
    pub fn open(folder: &Path) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = hex::encode(random);
        let [first, second] = PARTS.map(|part| Part::create(folder, &format!("{name}.{part}")));
        Ok(Self { parts: [first?, second?] })
    }

    /// Appends lines to one of the parts.
    ///
    /// # Errors
    /// If they cannot be written; the part may then end with an incomplete line.
    pub fn append(&self, part: usize, lines: &[u8]) -> io::Result<()> {
        let part = self.part(part)?;
        let mut room = part.room();
        let PartState { mapped, filled } = &mut *room;
        match mapped {
            Some(mapped) => mapped.put(*filled, lines)?,
            None => (&part.file).write_all(lines)?,
        }
        *filled += lines.len();
        Ok(())
    }

    /// Empties a part.
    ///
    /// # Errors
    /// If it cannot be emptied.
    pub fn clear(&self, part: usize) -> io::Result<()> {
        let part = self.part(part)?;
        let mut room = part.room();
        let PartState { mapped, filled } = &mut *room;
        match mapped {
            Some(mapped) => mapped.clear(*filled),
            None => part.file.set_len(0)?,
        }
        *filled = 0;
        Ok(())
    }

    /// Removes empty parts. Others stay for the next process.
    #[expect(clippy::disallowed_methods, reason = "this is the door: files of our own folder")]
    pub fn close(&self) {
        for part in &self.parts {
            if part.room().filled == 0 {
                drop(std::fs::remove_file(&part.path));
            }
        }
    }

    fn part(&self, part: usize) -> io::Result<&Part> {
        self.parts.get(part).ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }
}

impl Drop for WriteAheadFile {
    fn drop(&mut self) {
        self.close();
    }
}

impl Part {
    /// Locked before it gets its name, so that other processes always find it locked.
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "this is the door: files of our own folder"
    )]
    fn create(folder: &Path, name: &str) -> io::Result<Self> {
        let (path, unfinished) = (folder.join(name), folder.join(format!("{name}.{UNFINISHED}")));
        let mut options = std::fs::OpenOptions::new();
        let file = options.read(true).append(true).create_new(true).mode(0o600).open(&unfinished)?;
        let named =
            file.try_lock().map_err(io::Error::from).and_then(|()| std::fs::rename(&unfinished, &path));
        if let Err(error) = named {
            drop(std::fs::remove_file(&unfinished));
            return Err(error);
        }
        // Without mapped memory, each line is written to the file.
        let mapped = in_memory(&file).ok();
        if mapped.is_none() {
            file.set_len(0)?;
        }
        Ok(Self { path, file, room: Mutex::new(PartState { mapped, filled: 0 }) })
    }

    fn room(&self) -> MutexGuard<'_, PartState> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Allocates and maps a new part, so that a full disk cannot affect it later.
#[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
fn in_memory(file: &std::fs::File) -> io::Result<MemoryMap> {
    fallocate(file, FallocateFlags::empty(), 0, PART_BYTES as u64)?;
    MemoryMap::map(file, PART_BYTES)
}

/// A part left behind by a dead process.
#[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
#[derive(Debug)]
pub struct OrphanedFile {
    path: PathBuf,
    /// Keeps other processes from taking it too.
    _held: std::fs::File,
    /// Its content.
    pub lines: Vec<u8>,
}

impl OrphanedFile {
    /// All parts in `folder` of dead processes, or errors for unreadable ones.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn find_all(folder: &Path) -> io::Result<Vec<io::Result<Self>>> {
        Ok(parts(folder)?.into_iter().filter_map(|path| Self::take(path).transpose()).collect())
    }

    #[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
    fn take(path: PathBuf) -> io::Result<Option<Self>> {
        let mut file = match std::fs::OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => {}
            // Its process is alive.
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        let mut lines = Vec::new();
        file.read_to_end(&mut lines)?;
        // Unused space is zero.
        lines.truncate(memchr::memchr(0, &lines).unwrap_or(lines.len()));
        Ok(Some(Self { path, _held: file, lines }))
    }

    /// Removes it, once its lines are committed.
    ///
    /// # Errors
    /// If it cannot be removed.
    #[expect(clippy::disallowed_methods, reason = "this is the door: files of our own folder")]
    pub fn remove(self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Waits until other processes have committed their current lines, up to a short timeout.
pub async fn wait_for_other_processes(folder: &Path) {
    // If the folder is unreadable, there is no wait.
    let mut awaited: Vec<_> = parts(folder).unwrap_or_default().into_iter().filter_map(beginning).collect();
    let mut waited = Duration::ZERO;
    while !awaited.is_empty() && waited < TIMEOUT {
        tokio::time::sleep(POLL_INTERVAL).await;
        waited += POLL_INTERVAL;
        awaited.retain(|(path, first)| beginning(path.clone()).is_some_and(|(_, now)| now == *first));
    }
}

/// The prefix of a non-empty part.
#[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
fn beginning(path: PathBuf) -> Option<(PathBuf, Vec<u8>)> {
    let file = std::fs::File::open(&path).ok()?;
    let mut first = vec![0; BEGINNING];
    let length = file.read_at(&mut first, 0).ok()?;
    first.truncate(length);
    first.first().is_some_and(|byte| *byte != 0).then_some((path, first))
}

#[expect(clippy::disallowed_methods, reason = "this is the door: files of our own folder")]
fn parts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let is_part = |path: &PathBuf| {
        path.extension().and_then(|end| end.to_str()).is_some_and(|end| PARTS.contains(&end))
    };
    paths.filter(|path| path.as_ref().is_ok_and(is_part)).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at files")]
mod tests {
    use super::*;

    #[test]
    fn orphaned_lines_are_found_once_their_process_is_dead() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox");
        assert!(OrphanedFile::find_all(&path).unwrap().is_empty(), "no folder, nothing in it");
        let file = WriteAheadFile::open(&path).unwrap();
        file.append(0, b"one\n").unwrap();
        file.append(0, b"two\n").unwrap();
        file.append(1, b"three\n").unwrap();
        assert!(OrphanedFile::find_all(&path).unwrap().is_empty(), "it is held");
        file.clear(1).unwrap();
        drop(file);
        let left = OrphanedFile::find_all(&path).unwrap();
        assert!(OrphanedFile::find_all(&path).unwrap().is_empty(), "already taken");
        let left: Vec<OrphanedFile> = left.into_iter().map(Result::unwrap).collect();
        let lines: Vec<_> = left.iter().map(|left| left.lines.as_slice()).collect();
        assert_eq!(lines, [b"one\ntwo\n"]);
        for left in left {
            left.remove().unwrap();
        }
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn without_mapped_memory_each_line_is_written_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = WriteAheadFile::open(folder.path()).unwrap();
        for part in &file.parts {
            part.room().mapped = None;
            part.file.set_len(0).unwrap();
        }
        file.append(0, b"one\n").unwrap();
        file.clear(0).unwrap();
        file.append(0, b"two\n").unwrap();
        file.append(1, b"three\n").unwrap();
        file.clear(1).unwrap();
        drop(file);
        let left: Vec<OrphanedFile> =
            OrphanedFile::find_all(folder.path()).unwrap().into_iter().map(Result::unwrap).collect();
        assert_eq!(left.iter().map(|left| left.lines.as_slice()).collect::<Vec<_>>(), [b"two\n"]);
    }

    #[test]
    fn a_full_part_accepts_no_lines_until_it_is_emptied() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let file = WriteAheadFile::open(folder.path()).unwrap();
        assert!(file.parts.iter().all(|part| part.room().mapped.is_some()), "it is in memory there");
        let line = [b'x'; 1024];
        (0..PART_BYTES / line.len()).for_each(|_| file.append(0, &line).unwrap());
        assert_eq!(file.append(0, b"more\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
        file.clear(0).unwrap();
        file.append(0, b"more\n").unwrap();
        drop(file);
        let left = OrphanedFile::find_all(folder.path()).unwrap().pop().unwrap().unwrap();
        assert_eq!(left.lines, b"more\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_waits_for_lines_appended_before() {
        let folder = tempfile::tempdir().unwrap();
        wait_for_other_processes(&folder.path().join("missing")).await;
        let file = WriteAheadFile::open(folder.path()).unwrap();
        let began = tokio::time::Instant::now();
        wait_for_other_processes(folder.path()).await;
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing is promised");
        file.append(0, b"one\n").unwrap();
        let (waited, ()) = tokio::join!(
            async {
                wait_for_other_processes(folder.path()).await;
                began.elapsed()
            },
            async {
                tokio::time::sleep(3 * POLL_INTERVAL).await;
                file.clear(0).unwrap();
                file.append(0, b"two\n").unwrap();
            }
        );
        assert!((3 * POLL_INTERVAL..TIMEOUT).contains(&waited), "{waited:?}");
        wait_for_other_processes(folder.path()).await;
        assert!(began.elapsed() - waited >= TIMEOUT, "who never keeps a promise is not waited for");
    }
}
