//! The port to the inbox: two places for rows that were promised and are not yet in the database.

use std::fmt::Debug;
use std::io;

/// Appending there is enough for a row to outlive the process.
pub trait Inbox: Debug + Send + Sync {
    /// Adds lines to one of the two parts.
    ///
    /// # Errors
    /// When they cannot be written; a piece of them may then be.
    fn append(&self, part: usize, lines: &[u8]) -> io::Result<()>;

    /// Empties one of them.
    ///
    /// # Errors
    /// When it cannot be emptied.
    fn clear(&self, part: usize) -> io::Result<()>;

    /// Nothing more comes: whatever is empty can go, also while somebody still holds this.
    fn end(&self);
}
