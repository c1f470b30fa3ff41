//! Whole files of any type, to be passed to another program or a client.

use std::io::Read as _;
use std::path::PathBuf;

use super::error::FileError;
use super::private_key::HEAD_BYTES;
use super::read::check_head;
use super::workspace::Workspace;

/// Bytes between two checks for cancellation.
const PIECE_BYTES: u64 = 1 << 20;

/// A file that was found and admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedFile {
    /// Its real path, without links.
    pub place: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

impl Workspace {
    /// The real path of a file that may be read. Blocks.
    pub fn locate(&self, path: &str) -> Result<LocatedFile, FileError> {
        let (asked, looked, file) = self.open_file(path)?;
        let mut head = Vec::with_capacity(HEAD_BYTES);
        let bound = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX);
        let read = file.take(bound).read_to_end(&mut head);
        read.map_err(|source| FileError::Io { path: path.to_owned(), source })?;
        check_head(&asked, &head)?;
        Ok(LocatedFile { size: looked.size(), place: looked.place })
    }

    /// The content of a file of at most `max` bytes, and its real path. Blocks; stops when cancelled.
    pub fn read_whole(
        &self,
        path: &str,
        max: usize,
        is_wanted: impl Fn() -> bool,
    ) -> Result<(LocatedFile, Vec<u8>), FileError> {
        let (asked, looked, mut file) = self.open_file(path)?;
        let max = u64::try_from(max).unwrap_or(u64::MAX);
        let too_large = |size| FileError::TooLarge { path: path.to_owned(), size, max };
        if looked.size() > max {
            return Err(too_large(looked.size()));
        }
        // Reserved at once, because growing would double the memory for a moment.
        let expected = usize::try_from(looked.size()).unwrap_or(0).saturating_add(1);
        let mut content = Vec::with_capacity(expected);
        loop {
            if !is_wanted() {
                return Err(FileError::GivenUp { path: path.to_owned() });
            }
            let piece = (&mut file).take(PIECE_BYTES).read_to_end(&mut content);
            let piece = piece.map_err(|source| FileError::Io { path: path.to_owned(), source })?;
            let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
            // It may have grown meanwhile.
            if size > max {
                return Err(too_large(size));
            }
            if piece == 0 {
                check_head(&asked, &content)?;
                return Ok((LocatedFile { place: looked.place, size }, content));
            }
        }
    }
}
