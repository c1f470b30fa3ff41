//! A memory-mapped file: writes are visible to all processes at once and survive the death of ours, without system
//! calls.
//!
//! Truncating such a file kills every process that accesses it afterwards, so only files in our own folder are mapped.

#![expect(
    unsafe_code,
    reason = "memory that belongs to a file cannot be had without it; this is the only place"
)]

use std::io;
use std::os::fd::AsFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::fstatfs;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The first bytes of a file.
#[derive(Debug)]
pub(crate) struct MemoryMap {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: The mapping belongs to this value, and is not bound to a thread.
unsafe impl Send for MemoryMap {}
// SAFETY: Through a shared reference it is read by atomic operations only.
unsafe impl Sync for MemoryMap {}

/// File systems (`statfs(2)`) that write in place: ext, XFS, tmpfs. On others a page may lose its backing storage, and
/// accessing it kills the process.
const IN_PLACE: [u64; 3] = [0xef53, 0x5846_5342, 0x0102_1994];

impl MemoryMap {
    /// Maps the first `length` bytes of a file, which must have that length and keep it.
    pub(crate) fn map(file: impl AsFd, length: usize) -> io::Result<Self> {
        let kind = u64::try_from(fstatfs(&file)?.f_type).unwrap_or_default();
        if !IN_PLACE.contains(&kind) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let (access, shared) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: The kernel chooses an unused address range, so no memory of ours is touched.
        let start = unsafe { mmap(ptr::null_mut(), length, access, shared, file, 0) }?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// The first words of the file.
    pub(crate) fn words<const COUNT: usize>(&self) -> [u64; COUNT] {
        const { assert!(COUNT <= 512, "no more than a page, which is the least there is") };
        std::array::from_fn(|place| {
            // SAFETY: A mapping starts at a page and has at least one, so this is inside it and aligned. Other processes write
            // it through the file.
            unsafe { AtomicU64::from_ptr(self.start.as_ptr().cast::<u64>().add(place)) }
                .load(Ordering::Acquire)
        })
    }

    /// Copies bytes into the file, if they fit.
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) -> io::Result<()> {
        let end = at.checked_add(bytes.len()).filter(|end| *end <= self.length);
        end.ok_or(io::ErrorKind::StorageFull)?;
        // SAFETY: The range is inside the mapping, which is exclusively borrowed.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.as_ptr().add(at), bytes.len()) };
        Ok(())
    }

    /// Sets the first bytes to zero.
    pub(crate) fn clear(&mut self, length: usize) {
        // SAFETY: As above.
        unsafe { ptr::write_bytes(self.start.as_ptr(), 0, length.min(self.length)) };
    }
}

impl Drop for MemoryMap {
    fn drop(&mut self) {
        // SAFETY: It is our mapping, and this is its last use.
        let _unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_types, reason = "tests look at files")]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn memory_and_file_have_the_same_content() {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        file.set_len(100).unwrap();
        let mut mapped = MemoryMap::map(&file, 100).unwrap();
        mapped.put(90, b"0123456789").unwrap();
        assert_eq!(mapped.put(91, b"0123456789").unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(mapped.put(usize::MAX, b"0123456789").unwrap_err().kind(), io::ErrorKind::StorageFull);
        let mut found = [0; 10];
        file.read_exact_at(&mut found, 90).unwrap();
        assert_eq!(&found, b"0123456789");
        file.write_all_at(&7_u64.to_ne_bytes(), 8).unwrap();
        assert_eq!(mapped.words(), [0, 7]);
        mapped.clear(usize::MAX);
        file.read_exact_at(&mut found, 90).unwrap();
        assert_eq!((found, mapped.words()), ([0; 10], [0, 0]));
    }

    #[test]
    fn an_unmappable_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        MemoryMap::map(std::fs::File::open(folder.path()).unwrap(), 10).unwrap_err();
    }
}
