//! Opens files that must be regular.
//!
//! A path from outside may name a pipe without a writer, a device or a folder. Opening never blocks, and other file types
//! are refused before reading.

use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Initial buffer size, because files of /proc report length 0.
const SMALL: usize = 4_096;

/// What to do with a symbolic link as the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    Follow,
    Refuse,
}

/// A regular file, open for reading.
#[expect(clippy::disallowed_types, reason = "this is the door: a file that is known to be one")]
#[derive(Debug)]
pub(crate) struct RegularFile {
    pub(crate) file: std::fs::File,
    pub(crate) metadata: Metadata,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub(crate) enum RegularFileError {
    /// A folder, pipe, socket, device, or a link that may not be followed.
    NotRegular,
    /// Larger than the limit.
    TooLong,
    /// A system error.
    Io(io::Error),
}

impl RegularFile {
    /// Opens `path`; `None` if nothing exists.
    #[expect(clippy::disallowed_types, reason = "this is the door: reading a named file")]
    pub(crate) fn open(path: &Path, links: Links) -> Result<Option<Self>, RegularFileError> {
        let flags = match links {
            Links::Follow => OFlags::NONBLOCK,
            Links::Refuse => OFlags::NONBLOCK | OFlags::NOFOLLOW,
        };
        // The same bits, regardless of the sign of the type.
        let flags = flags.bits().cast_signed();
        let file = match std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
            Ok(file) => file,
            // A dangling link is an error: its target may be needed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !is_link(path) => return Ok(None),
            Err(error) => {
                let is_special = Errno::from_io_error(&error) == Some(Errno::NXIO);
                let is_link = links == Links::Refuse && Errno::from_io_error(&error) == Some(Errno::LOOP);
                return Err(match is_special || is_link {
                    true => RegularFileError::NotRegular,
                    false => RegularFileError::Io(error),
                });
            }
        };
        let metadata = file.metadata().map_err(RegularFileError::Io)?;
        if metadata.is_file() { Ok(Some(Self { file, metadata })) } else { Err(RegularFileError::NotRegular) }
    }

    /// The whole content, up to `max_bytes`. It is in one place in memory only, so that the caller can wipe it.
    pub(crate) fn read(self, max_bytes: usize) -> Result<Vec<u8>, RegularFileError> {
        let length = usize::try_from(self.metadata.len()).unwrap_or(usize::MAX);
        if length > max_bytes {
            return Err(RegularFileError::TooLong);
        }
        // The length may change; the limit still holds.
        let mut content = Vec::with_capacity(max_bytes.min(length.max(SMALL)).saturating_add(1));
        let bound = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
        self.file.take(bound).read_to_end(&mut content).map_err(RegularFileError::Io)?;
        if content.len() > max_bytes { Err(RegularFileError::TooLong) } else { Ok(content) }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the door: reading a named file")]
fn is_link(path: &Path) -> bool {
    path.is_symlink()
}
