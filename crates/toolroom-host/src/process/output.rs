//! Captured output: the beginning, the end, and the number of bytes between.

use std::collections::VecDeque;

/// The output stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The output of one stream in bounded memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    head: Vec<u8>,
    /// Used once `head` is full.
    tail: VecDeque<u8>,
    max_head: usize,
    max_tail: usize,
    total: u64,
}

impl CapturedOutput {
    /// Keeps up to `max_bytes`, half from the beginning and half from the end.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let max_head = max_bytes / 2;
        Self { max_head, max_tail: max_bytes - max_head, ..Self::default() }
    }

    /// An empty one with the same capacity.
    #[must_use]
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.max_head + self.max_tail)
    }

    /// Appends bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = (self.max_head - self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        let rest = rest.get(rest.len().saturating_sub(self.max_tail)..).unwrap_or_default();
        let surplus = (self.tail.len() + rest.len()).saturating_sub(self.max_tail);
        self.tail.drain(..surplus);
        self.tail.extend(rest);
    }

    /// Number of bytes printed.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.total
    }

    /// Number of bytes printed but not kept.
    #[must_use]
    pub fn dropped_bytes(&self) -> u64 {
        self.total - self.head.len() as u64 - self.tail.len() as u64
    }

    /// The two ends; adjacent if nothing was dropped.
    #[must_use]
    pub fn ends(&self) -> (Vec<u8>, Vec<u8>) {
        (self.head.clone(), self.tail.iter().copied().collect())
    }

    /// The last characters, lossily decoded.
    #[must_use]
    pub fn last_chars(&self, max_chars: usize) -> String {
        let (head, tail) = self.ends();
        let bytes = if self.dropped_bytes() == 0 { [head, tail].concat() } else { tail };
        ending(&bytes, max_chars).0
    }

    /// Lossily decoded text of at most `max_chars` characters, plus a mark for the bytes missing in the middle. Characters
    /// are not split.
    #[must_use]
    pub fn text(&self, max_chars: usize) -> String {
        let (head, tail) = self.ends();
        if self.dropped_bytes() == 0 {
            let whole = [head, tail].concat();
            let text = String::from_utf8_lossy(&whole);
            if text.chars().count() <= max_chars {
                return text.into_owned();
            }
            return joined(&whole, &whole, self.total, max_chars);
        }
        joined(&head, &tail, self.total, max_chars)
    }
}

/// Half of the characters from the start of `head`, half from the end of `tail`, of `total` bytes.
fn joined(head: &[u8], tail: &[u8], total: u64, max_chars: usize) -> String {
    let (first, head_bytes) = beginning(head, max_chars.div_ceil(2));
    let (last, tail_bytes) = ending(tail, max_chars / 2);
    let missing = total - head_bytes as u64 - tail_bytes as u64;
    format!("{first}\n[… {missing} bytes left out …]\n{last}")
}

/// The first characters and their number of bytes. An incomplete last character is left out.
fn beginning(bytes: &[u8], max_chars: usize) -> (String, usize) {
    let mut text = String::new();
    let (mut chars, mut used) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        for char in chunk.valid().chars() {
            if chars == max_chars {
                return (text, used);
            }
            text.push(char);
            chars += 1;
            used += char.len_utf8();
        }
        let is_cut_off = used + chunk.invalid().len() == bytes.len() && is_start_of_char(chunk.invalid());
        if chunk.invalid().is_empty() || is_cut_off || chars == max_chars {
            return (text, used);
        }
        text.push(char::REPLACEMENT_CHARACTER);
        chars += 1;
        used += chunk.invalid().len();
    }
    (text, used)
}

/// The last characters and their number of bytes. An incomplete first character is left out.
fn ending(bytes: &[u8], max_chars: usize) -> (String, usize) {
    // No character is longer, so the bytes after this position suffice.
    let from = bytes.len().saturating_sub(max_chars.saturating_mul(4));
    let bytes = bytes.get(from..).unwrap_or_default();
    let rest = bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    let bytes = bytes.get(rest..).unwrap_or_default();
    // Each with its length in bytes.
    let mut chars: Vec<(char, usize)> = Vec::new();
    for chunk in bytes.utf8_chunks() {
        chars.extend(chunk.valid().chars().map(|char| (char, char.len_utf8())));
        if !chunk.invalid().is_empty() {
            chars.push((char::REPLACEMENT_CHARACTER, chunk.invalid().len()));
        }
    }
    let last = chars.get(chars.len().saturating_sub(max_chars)..).unwrap_or_default();
    (last.iter().map(|(char, _)| *char).collect(), last.iter().map(|(_, bytes)| bytes).sum())
}

/// Whether more bytes could complete a character.
fn is_start_of_char(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(max_bytes: usize, parts: &[Vec<u8>]) -> CapturedOutput {
        let mut kept = CapturedOutput::new(max_bytes);
        parts.iter().for_each(|part| kept.push(part));
        kept
    }

    #[test]
    fn short_output_is_kept_completely() {
        let kept = kept(10, &[b"hello".to_vec(), b" you".to_vec()]);
        assert_eq!((kept.text(100).as_str(), kept.dropped_bytes()), ("hello you", 0));
        assert_eq!(CapturedOutput::new(0).text(10), "");
    }

    #[test]
    fn long_output_keeps_its_ends_and_a_mark() {
        let kept = kept(8, &[b"0123456789abcdef".to_vec()]);
        assert_eq!(kept.text(100), "0123\n[… 8 bytes left out …]\ncdef");
        assert_eq!(kept.text(4), "01\n[… 12 bytes left out …]\nef");
        assert_eq!((kept.last_chars(3), kept.last_chars(9)), ("def".to_owned(), "cdef".to_owned()));
        assert_eq!(kept.text(0), "\n[… 16 bytes left out …]\n");
    }

    #[test]
    fn no_character_is_split() {
        // Three bytes each: both cuts are inside one.
        let euros = kept(8, &["€€€€€".as_bytes().to_vec()]);
        assert_eq!(euros.text(100), "€\n[… 9 bytes left out …]\n€");
        let wrong = kept(100, &[b"a\xff\xfeb\xe2\x82".to_vec()]);
        assert_eq!(wrong.text(100), "a\u{fffd}\u{fffd}b\u{fffd}");
    }
}
