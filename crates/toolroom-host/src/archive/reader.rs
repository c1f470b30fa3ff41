//! Reads untrusted archives.

use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use tar::EntryType;

use super::error::ArchiveError;
use super::member::{Hashed, MAX_MEMBERS, Member, check_name};
use crate::atomic_file::AtomicFile;
use crate::regular_file::{Links, RegularFile};

/// The tar block size.
const BLOCK: u64 = 512;

/// Two empty blocks end an archive.
const END: u64 = 2 * BLOCK;

/// Reads an archive. All headers were checked when it was opened.
#[derive(Debug)]
pub struct ArchiveReader {
    path: PathBuf,
    archive: RegularFile,
    members: Vec<MemberPosition>,
}

/// A member and its position.
#[derive(Debug)]
struct MemberPosition {
    name: String,
    offset: u64,
    bytes: u64,
}

impl ArchiveReader {
    /// Opens an archive and checks everything except the content of its members.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let opened =
            RegularFile::open(path, Links::Follow).map_err(|error| ArchiveError::refused(path, error))?;
        let archive = opened.ok_or_else(|| ArchiveError::Missing { path: path.to_owned() })?;
        let members = survey(path, &archive)?;
        Ok(Self { path: path.to_owned(), archive, members })
    }

    /// Names and lengths of the members, in archive order.
    pub fn members(&self) -> impl Iterator<Item = (&str, u64)> {
        self.members.iter().map(|member| (member.name.as_str(), member.bytes))
    }

    /// The content of a member with at most `max_bytes`.
    pub fn read_member(&mut self, name: &str, max_bytes: u64) -> Result<Vec<u8>, ArchiveError> {
        let place = self.place(name)?;
        if place.bytes > max_bytes {
            let (name, bytes) = (name.to_owned(), place.bytes);
            return Err(ArchiveError::TooLong { name, bytes, max_bytes });
        }
        let failed = |source| ArchiveError::Io { path: self.path.clone(), source };
        let mut member = self.content(place).map_err(failed)?;
        let mut content = Vec::new();
        member.read_to_end(&mut content).map_err(failed)?;
        member.finish(name).map(|_| content).ok_or(ArchiveError::Damaged)
    }

    /// Extracts a member to a new file with mode 0600. The file appears complete and synced, or not at all.
    pub fn extract_member(&mut self, name: &str, to: &Path) -> Result<Member, ArchiveError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::AlreadyExists => ArchiveError::Exists { path: to.to_owned() },
            _ => ArchiveError::Io { path: to.to_owned(), source },
        };
        let mut member = self.content(self.place(name)?).map_err(failed)?;
        let mut staged = AtomicFile::beside(to).map_err(failed)?;
        io::copy(&mut member, &mut staged).map_err(failed)?;
        // The archive may have been truncated since it was opened.
        let member = member.finish(name).ok_or(ArchiveError::Damaged)?;
        staged.publish_new().map_err(failed)?;
        Ok(member)
    }

    fn place(&self, name: &str) -> Result<&MemberPosition, ArchiveError> {
        let found = self.members.iter().find(|member| member.name == name);
        found.ok_or_else(|| ArchiveError::NoMember { name: name.to_owned() })
    }

    fn content(&self, place: &MemberPosition) -> io::Result<Hashed<impl Read>> {
        let mut file = &self.archive.file;
        file.seek(SeekFrom::Start(place.offset))?;
        Ok(Hashed::new(file, place.bytes))
    }
}

/// Lists the members. Each must be a plain file that lies completely inside the archive.
fn survey(path: &Path, archive: &RegularFile) -> Result<Vec<MemberPosition>, ArchiveError> {
    let failed = |source| ArchiveError::Io { path: path.to_owned(), source };
    let damaged = |_| ArchiveError::Damaged;
    let length = archive.metadata.len();
    let mut members: Vec<MemberPosition> = Vec::new();
    let mut names = HashSet::new();
    let mut end = 0;
    let mut tar = tar::Archive::new(&archive.file);
    // Raw entries, because extensions have unbounded lengths of their own.
    for entry in tar.entries_with_seek().map_err(damaged)?.raw(true) {
        let entry = entry.map_err(damaged)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        if members.len() == MAX_MEMBERS {
            return Err(ArchiveError::TooMany);
        }
        if entry.header().entry_type() != EntryType::Regular {
            return Err(ArchiveError::Kind { name });
        }
        check_name(&name)?;
        if !names.insert(name.clone()) {
            return Err(ArchiveError::Name { name, why: "it is there twice" });
        }
        let place = MemberPosition { name, offset: entry.raw_file_position(), bytes: entry.size() };
        let whole =
            place.bytes.checked_next_multiple_of(BLOCK).and_then(|bytes| place.offset.checked_add(bytes));
        end = whole.filter(|end| *end <= length).ok_or(ArchiveError::Damaged)?;
        members.push(place);
    }
    let mut file = &archive.file;
    let mut last = Vec::new();
    file.seek(SeekFrom::Start(end)).map_err(failed)?;
    file.take(END).read_to_end(&mut last).map_err(failed)?;
    let ends = u64::try_from(last.len()) == Ok(END) && last.iter().all(|byte| *byte == 0);
    if ends { Ok(members) } else { Err(ArchiveError::Damaged) }
}
