//! The shell's report at the end of a command.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use memchr::memmem;

/// From a longer report the shell's state is dropped.
const MAX_BYTES: usize = 512 * 1024;

/// Longer than any path.
const MAX_HEADER_BYTES: usize = 16 * 1024;

/// The result of a command, and the shell's state after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) code: i32,
    /// `None` if the folder was deleted.
    pub(super) folder: Option<PathBuf>,
    /// A script that restores this state in another shell. `None` if it is too long.
    pub(super) state: Option<Vec<u8>>,
}

/// Finds the report in the bytes of the socket.
#[derive(Debug)]
pub(super) struct ReportReader {
    beginning: Vec<u8>,
    ending: Vec<u8>,
    bytes: Vec<u8>,
    has_begun: bool,
    is_cut: bool,
}

impl ReportReader {
    /// For the report with this word.
    pub(super) fn new(word: &str) -> Self {
        Self {
            beginning: format!("{word} ").into_bytes(),
            ending: format!("\0{word}\0").into_bytes(),
            bytes: Vec::new(),
            has_begun: false,
            is_cut: false,
        }
    }

    /// Adds bytes; returns the report once it is complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<Report> {
        // Earlier bytes have been searched.
        let mut new = self.bytes.len().saturating_sub(self.ending.len());
        self.bytes.extend_from_slice(bytes);
        if !self.has_begun {
            let Some(at) = memmem::find(&self.bytes, &self.beginning) else {
                let foreign = self.bytes.len().saturating_sub(self.beginning.len());
                self.bytes.drain(..foreign);
                return None;
            };
            self.bytes.drain(..at + self.beginning.len());
            self.has_begun = true;
            new = 0;
        }
        let found = memmem::find(self.bytes.get(new..).unwrap_or_default(), &self.ending);
        if let Some(end) = found {
            return self.report(new + end);
        }
        if self.bytes.len() > MAX_BYTES {
            let header = memchr::memchr_iter(0, &self.bytes).nth(1).map_or(MAX_HEADER_BYTES, |end| end + 1);
            let rest = self.bytes.len() - self.ending.len();
            self.bytes.drain(header.min(MAX_HEADER_BYTES)..rest);
            self.is_cut = true;
        }
        None
    }

    fn report(&self, end: usize) -> Option<Report> {
        let whole = self.bytes.get(..end)?;
        let mut parts = whole.splitn(3, |byte| *byte == 0);
        let (first, folder, state) = (parts.next()?, parts.next()?, parts.next()?);
        // Output of a trap may follow.
        let code = first.split(|byte| *byte == b'\n').next()?;
        let code = str::from_utf8(code).ok()?.parse().ok()?;
        let folder = folder.strip_suffix(b"\n").filter(|folder| !folder.is_empty());
        Some(Report {
            code,
            folder: folder.map(|folder| PathBuf::from(OsString::from_vec(folder.to_vec()))),
            state: (!self.is_cut).then(|| state.to_vec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &[u8] = b"w0 3\n\0/a\nb\n\0umask 0022\nx\0w0\0";

    fn expected() -> Report {
        Report { code: 3, folder: Some("/a\nb".into()), state: Some(b"umask 0022\nx".to_vec()) }
    }

    #[test]
    fn a_report_may_arrive_in_any_pieces() {
        for size in 1..WHOLE.len() {
            let mut reading = ReportReader::new("w0");
            let reports: Vec<Report> = WHOLE.chunks(size).filter_map(|piece| reading.push(piece)).collect();
            assert_eq!(reports, [expected()], "{size}");
        }
    }

    #[test]
    fn a_report_with_another_word_is_skipped() {
        let mut reading = ReportReader::new("w0");
        assert_eq!(reading.push(b"w1 0\n/\n\0\0w1\0 junk w"), None);
        assert_eq!(reading.push(b"0 3\n\0/a\nb\n\0umask 0022\nx\0w1\0"), None);
        let mut plain = ReportReader::new("w0");
        assert_eq!(plain.push(&[b"w1 0\n\0".as_slice(), WHOLE].concat()), Some(expected()));
    }

    #[test]
    fn a_long_state_is_dropped_and_a_missing_folder_is_none() {
        let mut reading = ReportReader::new("w0");
        assert_eq!(reading.push(b"w0 0\ntrapped\n\0\0umask 0"), None);
        for _ in 0..MAX_BYTES / 1000 * 3 {
            assert_eq!(reading.push(&[b'x'; 1000]), None);
        }
        assert!(reading.bytes.len() <= MAX_BYTES + 1000);
        assert_eq!(reading.push(b"\0w0\0"), Some(Report { code: 0, folder: None, state: None }));
    }
}
