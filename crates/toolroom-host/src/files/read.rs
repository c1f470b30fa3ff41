//! Reads text, whole or by lines.

use std::io::Read;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::error::FileError;
use super::judge::{PathRefusal, Role};
use super::media::kind_of;
use super::path_handle::PathHandle;
use super::private_key::{HEAD_BYTES, has_private_key};
use super::requested_path::RequestedPath;
use super::stamp::stamp;
use super::workspace::{Workspace, refused};
use crate::regular_file::{RegularFile, RegularFileError};

/// Maximum size of a file read at once.
pub const MAX_WHOLE_BYTES: usize = 10 * 1024 * 1024;

/// How far into a file lines are counted: about a second of work.
const MAX_COUNTED_BYTES: u64 = 256 * 1024 * 1024;

const CHUNK_BYTES: usize = 64 * 1024;

/// The requested lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first one, counted from 1.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Maximum bytes of a page.
    pub max_bytes: usize,
}

/// Some lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Whole lines with their line breaks, or the beginning of one that is too long.
    pub text: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// The first line of the next page; `None` at the end of the file.
    pub next: Option<u64>,
    /// Whether the page holds only the beginning of one line.
    pub is_cut: bool,
    /// Identifies this version of the file.
    pub stamp: String,
}

impl Workspace {
    /// The text of a file of at most [`MAX_WHOLE_BYTES`], unchanged, including byte order mark and line breaks, so that it
    /// can be written back. Blocks.
    pub fn read(&self, path: &str) -> Result<String, FileError> {
        self.read_stamped(path).map(|(text, _)| text)
    }

    /// Also returns a stamp taken after reading: it differs from the one before if the file changed meanwhile.
    pub fn read_stamped(&self, path: &str) -> Result<(String, String), FileError> {
        let (asked, looked, file) = self.open_file(path)?;
        let failed = |source: std::io::Error| FileError::Io { path: path.to_owned(), source };
        let again = file.try_clone().map_err(failed)?;
        let metadata = file.metadata().map_err(|source| FileError::Io { path: path.to_owned(), source })?;
        let content = RegularFile { file, metadata }.read(MAX_WHOLE_BYTES).map_err(|error| match error {
            RegularFileError::NotRegular => not_a_file(&asked, &looked),
            RegularFileError::TooLong => FileError::TooLarge {
                path: path.to_owned(),
                size: looked.size(),
                max: u64::try_from(MAX_WHOLE_BYTES).unwrap_or(u64::MAX),
            },
            RegularFileError::Io(source) => FileError::Io { path: path.to_owned(), source },
        })?;
        check_head(&asked, &content)?;
        let stamp = stamp(&again).map_err(|errno| self.failed(&asked, errno))?;
        Ok((text_of(&asked, &looked, content)?, stamp))
    }

    /// Some lines of a file of any size. Blocks while the lines before them are counted.
    pub fn read_lines(&self, path: &str, lines: Lines) -> Result<Page, FileError> {
        let (asked, looked, mut file) = self.open_file(path)?;
        let mut pager = Pager::new(lines);
        let mut counted: u64 = 0;
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        loop {
            chunk.clear();
            // The beginning is checked as a whole, for any lines: a key in it may be cut anywhere.
            let size = if counted == 0 { HEAD_BYTES } else { CHUNK_BYTES };
            let bound = u64::try_from(size).unwrap_or(u64::MAX);
            let read = (&mut file).take(bound).read_to_end(&mut chunk);
            let length = read.map_err(|source| FileError::Io { path: path.to_owned(), source })?;
            if length == 0 {
                break;
            }
            let bytes = chunk.as_slice();
            if counted == 0 {
                check_head(&asked, bytes)?;
            }
            if memchr::memchr(0, bytes).is_some() {
                return Err(not_text(&asked, &looked, bytes));
            }
            if pager.take(bytes) == Wants::Nothing {
                break;
            }
            counted = counted.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
            if counted >= MAX_COUNTED_BYTES && pager.line < lines.first {
                return Err(FileError::TooFar {
                    path: path.to_owned(),
                    line: lines.first,
                    max: MAX_COUNTED_BYTES,
                });
            }
        }
        let (content, next, is_cut) = pager.finish();
        check_head(&asked, &content)?;
        let stamp = stamp(&file).map_err(|errno| self.failed(&asked, errno))?;
        Ok(Page { text: text_of(&asked, &looked, content)?, size: looked.size(), next, is_cut, stamp })
    }

    /// Opens a file for reading, after judging it.
    #[expect(clippy::disallowed_types, reason = "this is the door: reading a file in a workspace")]
    pub(super) fn open_file<'a>(
        &self,
        path: &'a str,
    ) -> Result<(RequestedPath<'a>, PathHandle, std::fs::File), FileError> {
        let asked = RequestedPath::parse(path)?;
        let looked = self.look(&asked, Role::File)?;
        if looked.kind() != FileType::RegularFile {
            return Err(not_a_file(&asked, &looked));
        }
        if asked.is_folder() {
            return Err(self.failed(&asked, Errno::NOTDIR));
        }
        let file = looked.open(OFlags::RDONLY).map_err(|errno| self.failed(&asked, errno))?;
        Ok((asked, looked, file.into()))
    }

    /// Fails if a file that is about to be replaced is a private key.
    #[expect(
        clippy::disallowed_types,
        reason = "this is the door: looking into a file before it is replaced"
    )]
    pub(super) fn check_replaced(
        &self,
        asked: &RequestedPath<'_>,
        looked: &PathHandle,
    ) -> Result<(), FileError> {
        let file = looked.open(OFlags::RDONLY).map_err(|errno| self.failed(asked, errno))?;
        let mut head = Vec::with_capacity(HEAD_BYTES);
        let bound = u64::try_from(HEAD_BYTES).unwrap_or(u64::MAX);
        std::fs::File::from(file)
            .take(bound)
            .read_to_end(&mut head)
            .map_err(|source| FileError::Io { path: asked.text().to_owned(), source })?;
        check_head(asked, &head)
    }
}

/// Whether a [`Pager`] needs more of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    More,
    Nothing,
}

/// Extracts lines from chunks of bytes.
struct Pager {
    wanted: Lines,
    /// The line of the next byte.
    line: u64,
    page: Vec<u8>,
    /// Start of that line in the page.
    line_start: usize,
    next: Option<u64>,
    is_cut: bool,
}

impl Pager {
    fn new(wanted: Lines) -> Self {
        let wanted = Lines { first: wanted.first.max(1), ..wanted };
        Self { wanted, line: 1, page: Vec::new(), line_start: 0, next: None, is_cut: false }
    }

    fn take(&mut self, mut bytes: &[u8]) -> Wants {
        let end = self.wanted.first.saturating_add(self.wanted.count);
        while !bytes.is_empty() {
            if self.line >= end {
                self.next = Some(self.line);
                return Wants::Nothing;
            }
            let (piece, rest, is_whole) = match memchr::memchr(b'\n', bytes) {
                Some(at) => (bytes.split_at(at + 1).0, bytes.split_at(at + 1).1, true),
                None => (bytes, [].as_slice(), false),
            };
            bytes = rest;
            if self.line >= self.wanted.first && !self.fits(piece) {
                return Wants::Nothing;
            }
            if is_whole {
                self.line += 1;
                self.line_start = self.page.len();
            }
        }
        Wants::More
    }

    /// Adds a piece of a line. A line that does not fit goes to the next page, unless it is alone here.
    fn fits(&mut self, piece: &[u8]) -> bool {
        let room = self.wanted.max_bytes.saturating_sub(self.page.len());
        if piece.len() <= room {
            self.page.extend_from_slice(piece);
            return true;
        }
        if self.line_start > 0 {
            self.page.truncate(self.line_start);
            self.next = Some(self.line);
        } else {
            self.page.extend_from_slice(piece.get(..room).unwrap_or_default());
            // A character may be cut in two.
            if let Err(error) = std::str::from_utf8(&self.page)
                && error.error_len().is_none()
            {
                self.page.truncate(error.valid_up_to());
            }
            self.is_cut = true;
            self.next = Some(self.line + 1);
        }
        false
    }

    fn finish(self) -> (Vec<u8>, Option<u64>, bool) {
        (self.page, self.next, self.is_cut)
    }
}

pub(super) fn check_head(asked: &RequestedPath<'_>, content: &[u8]) -> Result<(), FileError> {
    match has_private_key(content.get(..HEAD_BYTES).unwrap_or(content)) {
        true => Err(refused(asked, PathRefusal::PrivateKey)),
        false => Ok(()),
    }
}

fn text_of(asked: &RequestedPath<'_>, looked: &PathHandle, content: Vec<u8>) -> Result<String, FileError> {
    if memchr::memchr(0, &content).is_some() {
        return Err(not_text(asked, looked, &content));
    }
    String::from_utf8(content).map_err(|error| not_text(asked, looked, error.as_bytes()))
}

fn not_text(asked: &RequestedPath<'_>, looked: &PathHandle, head: &[u8]) -> FileError {
    FileError::NotText { path: asked.text().to_owned(), what: kind_of(head), size: looked.size() }
}

pub(super) fn not_a_file(asked: &RequestedPath<'_>, looked: &PathHandle) -> FileError {
    FileError::NotAFile { path: asked.text().to_owned(), kind: looked.kind_name() }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
