//! The file that holds acknowledged rows until they are in the database.

use std::fmt::Debug;
use std::io;

/// Capacity of one part. When both parts are full, calls wait for the database.
pub const PART_BYTES: usize = 4 * 1024 * 1024;

/// A file of two parts: one is filled while the rows of the other are committed. Its content survives the end of the
/// process.
pub trait WriteAheadFile: Debug + Send + Sync {
    /// Appends a line to a part.
    ///
    /// # Errors
    /// If it cannot be written. The part may then end in a torn line.
    fn append(&self, part: usize, line: &[u8]) -> io::Result<()>;

    /// Truncates a part.
    ///
    /// # Errors
    /// If it cannot be truncated.
    fn clear(&self, part: usize) -> io::Result<()>;

    /// Removes empty parts. No append follows, even while references to the file remain.
    fn close(&self);
}
