//! Lines that a process has promised to keep, until they are where they belong.
//!
//! Adding one costs a copy to memory that belongs to a file, or a write to it where that cannot be, and what was added
//! outlives the process. There are two parts: while the lines of one are brought where they belong, new ones go to the
//! other. A process that ends in order empties and removes both. One that is killed leaves them behind, for whoever comes
//! next.

use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FallocateFlags, fallocate};

use crate::memory_map::MemoryMap;

/// What the two parts of an inbox end with.
const PARTS: [&str; 2] = ["0", "1"];

/// What a part is called while nobody holds it yet.
const UNFINISHED: &str = "new";

/// The most that a part holds.
pub const PART_BYTES: usize = 4 * 1024 * 1024;

/// As much of a part as tells one filling from the next: each line begins with a name of its own.
const BEGINNING: usize = 64;

/// How long somebody who wants to read waits for what others have promised, and how often they look.
const PATIENCE: Duration = Duration::from_millis(500);
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The inbox of this process.
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

/// Where lines go: the file in memory, if that can be, and how much of it is used.
#[derive(Debug)]
struct PartState {
    mapped: Option<MemoryMap>,
    filled: usize,
}

impl WriteAheadFile {
    /// An inbox in `folder`, which is made if it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    #[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
    pub fn open(folder: &Path) -> io::Result<Self> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = hex::encode(random);
        let [first, second] = PARTS.map(|part| Part::create(folder, &format!("{name}.{part}")));
        Ok(Self { parts: [first?, second?] })
    }

    /// Adds lines to one of the two parts.
    ///
    /// # Errors
    /// When they cannot be written; a piece of them may then be.
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

    /// Empties one of them.
    ///
    /// # Errors
    /// When it cannot be emptied.
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

    /// Removes what is empty. What is still in the other is for the next one.
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
    /// Locked before it has its name: whoever finds it by name finds it held.
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
        // Without it, each line is written to the file.
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

/// The room of a new part, given to it beforehand: a disk that is full later does not matter.
#[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
fn in_memory(file: &std::fs::File) -> io::Result<MemoryMap> {
    fallocate(file, FallocateFlags::empty(), 0, PART_BYTES as u64)?;
    MemoryMap::of(file, PART_BYTES)
}

/// A part that somebody left behind.
#[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
#[derive(Debug)]
pub struct OrphanedFile {
    path: PathBuf,
    /// Keeps others from taking it, too.
    _held: std::fs::File,
    /// What is in it.
    pub lines: Vec<u8>,
}

impl OrphanedFile {
    /// Everything in `folder` whose process is gone, or why a part of it cannot be read.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn find_all(folder: &Path) -> io::Result<Vec<io::Result<Self>>> {
        Ok(parts(folder)?.into_iter().filter_map(|path| Self::take(path).transpose()).collect())
    }

    #[expect(clippy::disallowed_types, reason = "this is the door: files of our own folder")]
    fn take(path: PathBuf) -> io::Result<Option<Self>> {
        let mut file = match std::fs::OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            // Somebody was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => {}
            // Its process lives.
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        let mut lines = Vec::new();
        file.read_to_end(&mut lines)?;
        // What was never used is zero.
        lines.truncate(memchr::memchr(0, &lines).unwrap_or(lines.len()));
        Ok(Some(Self { path, _held: file, lines }))
    }

    /// Everything in it is where it belongs.
    ///
    /// # Errors
    /// When it cannot be removed.
    #[expect(clippy::disallowed_methods, reason = "this is the door: files of our own folder")]
    pub fn remove(self) -> io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Waits until what others have promised so far is where it belongs, but not for long.
pub async fn wait_for_other_processes(folder: &Path) {
    // Whoever cannot look does not wait.
    let mut awaited: Vec<_> = parts(folder).unwrap_or_default().into_iter().filter_map(beginning).collect();
    let mut waited = Duration::ZERO;
    while !awaited.is_empty() && waited < PATIENCE {
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
        awaited.retain(|(path, first)| beginning(path.clone()).is_some_and(|(_, now)| now == *first));
    }
}

/// How a part begins that has something in it.
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
    fn what_is_left_behind_is_found_once_its_process_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox");
        assert!(OrphanedFile::find_all(&path).unwrap().is_empty(), "no folder, nothing in it");
        let inbox = WriteAheadFile::open(&path).unwrap();
        inbox.append(0, b"one\n").unwrap();
        inbox.append(0, b"two\n").unwrap();
        inbox.append(1, b"three\n").unwrap();
        assert!(OrphanedFile::find_all(&path).unwrap().is_empty(), "it is held");
        inbox.clear(1).unwrap();
        drop(inbox);
        let left = OrphanedFile::find_all(&path).unwrap();
        assert!(OrphanedFile::find_all(&path).unwrap().is_empty(), "somebody has taken it");
        let left: Vec<OrphanedFile> = left.into_iter().map(Result::unwrap).collect();
        let lines: Vec<_> = left.iter().map(|left| left.lines.as_slice()).collect();
        assert_eq!(lines, [b"one\ntwo\n"]);
        for left in left {
            left.remove().unwrap();
        }
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn where_it_cannot_be_in_memory_each_line_is_written_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = WriteAheadFile::open(folder.path()).unwrap();
        for part in &inbox.parts {
            part.room().mapped = None;
            part.file.set_len(0).unwrap();
        }
        inbox.append(0, b"one\n").unwrap();
        inbox.clear(0).unwrap();
        inbox.append(0, b"two\n").unwrap();
        inbox.append(1, b"three\n").unwrap();
        inbox.clear(1).unwrap();
        drop(inbox);
        let left: Vec<OrphanedFile> =
            OrphanedFile::find_all(folder.path()).unwrap().into_iter().map(Result::unwrap).collect();
        assert_eq!(left.iter().map(|left| left.lines.as_slice()).collect::<Vec<_>>(), [b"two\n"]);
    }

    #[test]
    fn a_part_that_is_full_takes_nothing_more_until_it_is_emptied() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let inbox = WriteAheadFile::open(folder.path()).unwrap();
        assert!(inbox.parts.iter().all(|part| part.room().mapped.is_some()), "it is in memory there");
        let line = [b'x'; 1024];
        (0..PART_BYTES / line.len()).for_each(|_| inbox.append(0, &line).unwrap());
        assert_eq!(inbox.append(0, b"more\n").unwrap_err().kind(), io::ErrorKind::StorageFull);
        inbox.clear(0).unwrap();
        inbox.append(0, b"more\n").unwrap();
        drop(inbox);
        let left = OrphanedFile::find_all(folder.path()).unwrap().pop().unwrap().unwrap();
        assert_eq!(left.lines, b"more\n");
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_waits_for_what_was_promised_before() {
        let folder = tempfile::tempdir().unwrap();
        wait_for_other_processes(&folder.path().join("missing")).await;
        let inbox = WriteAheadFile::open(folder.path()).unwrap();
        let began = tokio::time::Instant::now();
        wait_for_other_processes(folder.path()).await;
        assert_eq!(began.elapsed(), Duration::ZERO, "nothing is promised");
        inbox.append(0, b"one\n").unwrap();
        let (waited, ()) = tokio::join!(
            async {
                wait_for_other_processes(folder.path()).await;
                began.elapsed()
            },
            async {
                tokio::time::sleep(3 * LOOK_EVERY).await;
                inbox.clear(0).unwrap();
                inbox.append(0, b"two\n").unwrap();
            }
        );
        assert!((3 * LOOK_EVERY..PATIENCE).contains(&waited), "{waited:?}");
        wait_for_other_processes(folder.path()).await;
        assert!(began.elapsed() - waited >= PATIENCE, "who never keeps a promise is not waited for");
    }
}
