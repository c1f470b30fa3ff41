//! The port to the inbox: two places for rows that were promised and are not yet in the database.

use std::fmt::Debug;
use std::io;

/// The most that is put into one of them. Whoever comes when there is no room left waits for the database.
pub const PART_BYTES: usize = 4 * 1024 * 1024;

/// To be there is enough for a row to outlive the process.
pub trait Inbox: Debug + Send + Sync {
    /// Adds a line to one of the two parts.
    ///
    /// # Errors
    /// When it cannot be written; a piece of it may then be.
    fn append(&self, part: usize, line: &[u8]) -> io::Result<()>;

    /// Empties one of them.
    ///
    /// # Errors
    /// When it cannot be emptied.
    fn clear(&self, part: usize) -> io::Result<()>;

    /// Nothing more comes: whatever is empty can go, also while somebody still holds this.
    fn end(&self);
}
