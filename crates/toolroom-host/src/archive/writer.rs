//! Writes archives.

use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tar::{Builder, EntryType, Header};

use super::error::ArchiveError;
use super::member::{Hashed, MAX_MEMBERS, Member, check_name};
use crate::atomic_file::AtomicFile;
use crate::folders::PRIVATE_FILE;
use crate::regular_file::{Links, RegularFile};

/// Writes an archive. The file appears under its name only when finished; dropping the writer discards it.
pub struct ArchiveWriter {
    path: PathBuf,
    tar: Builder<AtomicFile>,
    names: HashSet<String>,
}

impl ArchiveWriter {
    /// Creates an archive with mode 0600, where no file exists yet.
    #[expect(clippy::disallowed_methods, reason = "this is the door: a backup")]
    pub fn create(path: &Path) -> Result<Self, ArchiveError> {
        // Fails early; `finish` checks again.
        if path.symlink_metadata().is_ok() {
            return Err(ArchiveError::Exists { path: path.to_owned() });
        }
        let staged =
            AtomicFile::beside(path).map_err(|source| ArchiveError::Io { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), tar: Builder::new(staged), names: HashSet::new() })
    }

    /// Adds a member from memory.
    pub fn add_bytes(&mut self, name: &str, content: &[u8]) -> Result<Member, ArchiveError> {
        self.add(name, &self.path.clone(), content, u64::try_from(content.len()).unwrap_or(u64::MAX))
    }

    /// Adds a member from a file. If the file shrinks meanwhile, the archive is unusable.
    pub fn add_file(&mut self, name: &str, from: &Path) -> Result<Member, ArchiveError> {
        let opened =
            RegularFile::open(from, Links::Follow).map_err(|error| ArchiveError::refused(from, error))?;
        let opened = opened.ok_or_else(|| ArchiveError::Missing { path: from.to_owned() })?;
        self.add(name, from, opened.file, opened.metadata.len())
    }

    fn add(
        &mut self,
        name: &str,
        from: &Path,
        content: impl Read,
        bytes: u64,
    ) -> Result<Member, ArchiveError> {
        check_name(name)?;
        if self.names.len() == MAX_MEMBERS {
            return Err(ArchiveError::TooMany);
        }
        if !self.names.insert(name.to_owned()) {
            return Err(ArchiveError::Name { name: name.to_owned(), why: "it is there already" });
        }
        let failed = |source| ArchiveError::Io { path: self.path.clone(), source };
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_path(name).map_err(failed)?;
        header.set_size(bytes);
        header.set_mode(PRIVATE_FILE);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_cksum();
        let mut content = Hashed::new(content, bytes);
        self.tar.append(&header, &mut content).map_err(failed)?;
        content.finish(name).ok_or_else(|| ArchiveError::Changed { path: from.to_owned() })
    }

    /// Completes the archive, syncs it and gives it its name.
    pub fn finish(self) -> Result<(), ArchiveError> {
        let published = self.tar.into_inner().and_then(AtomicFile::publish_new);
        published.map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Exists { path: self.path },
            _ => ArchiveError::Io { path: self.path, source },
        })
    }
}
