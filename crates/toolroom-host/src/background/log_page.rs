//! Some lines of a program's output.

use crate::process::CapturedOutput;

/// Some lines of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogPage {
    /// The lines, lossily decoded; a mark shows how many bytes are missing in a gap.
    pub text: String,
    /// Number of lines in total.
    pub total_lines: u64,
}

impl LogPage {
    /// `limit` lines from line `offset` on, counted from 0. `newlines` is the total number of line breaks printed.
    pub(super) fn new(kept: &CapturedOutput, newlines: u64, offset: u64, limit: u64) -> Self {
        let (head, tail) = kept.ends();
        let missing = kept.dropped_bytes();
        let end = offset.saturating_add(limit);
        let is_wanted = |line: u64| (offset..end).contains(&line);
        let mut text = Vec::new();
        if missing == 0 {
            let whole = [head, tail].concat();
            push_lines(&mut text, &whole, 0, is_wanted);
            return Self { total_lines: newlines + u64::from(is_open(&whole)), text: lossy(&text) };
        }
        // The line in which each part is cut off.
        let (head_cut, tail_cut) = (count(&head), newlines.saturating_sub(count(&tail)));
        push_lines(&mut text, &head, 0, is_wanted);
        if offset <= tail_cut && end > head_cut {
            text.extend_from_slice(format!("\n[… {missing} bytes left out …]\n").as_bytes());
        }
        push_lines(&mut text, &tail, tail_cut, is_wanted);
        Self { total_lines: newlines + u64::from(is_open(&tail)), text: lossy(&text) }
    }
}

fn push_lines(text: &mut Vec<u8>, bytes: &[u8], first: u64, is_wanted: impl Fn(u64) -> bool) {
    let lines = (first..).zip(bytes.split_inclusive(|byte| *byte == b'\n'));
    lines.filter(|(line, _)| is_wanted(*line)).for_each(|(_, line)| text.extend_from_slice(line));
}

/// Number of line breaks.
pub(super) fn count(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// Whether the last line is incomplete.
fn is_open(bytes: &[u8]) -> bool {
    bytes.last().is_some_and(|byte| *byte != b'\n')
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(max_bytes: usize, printed: &str, offset: u64, limit: u64) -> (String, u64) {
        let mut kept = CapturedOutput::new(max_bytes);
        kept.push(printed.as_bytes());
        let page = LogPage::new(&kept, count(printed.as_bytes()), offset, limit);
        (page.text, page.total_lines)
    }

    #[test]
    fn lines_are_counted_from_zero() {
        assert_eq!(page(100, "a\nb\nc\n", 0, 2), ("a\nb\n".to_owned(), 3));
        assert_eq!(page(100, "a\nb\nc", 1, 9), ("b\nc".to_owned(), 3));
        assert_eq!(page(100, "a\nb\nc", 3, 9), (String::new(), 3));
        assert_eq!(page(100, "", 0, 9), (String::new(), 0));
        assert_eq!(page(100, "a\n", 0, u64::MAX), ("a\n".to_owned(), 1));
    }

    #[test]
    fn a_gap_is_marked_at_its_position() {
        // Kept: "00\n01" and "8\n09\n", in which line 8 is cut.
        let printed = "00\n01\n02\n03\n04\n05\n06\n07\n08\n09\n";
        let gap = "\n[… 20 bytes left out …]\n";
        assert_eq!(page(10, printed, 0, 1), ("00\n".to_owned(), 10));
        assert_eq!(page(10, printed, 0, 99), (format!("00\n01{gap}8\n09\n"), 10));
        assert_eq!(page(10, printed, 3, 2), (gap.to_owned(), 10));
        assert_eq!(page(10, printed, 9, 2), ("09\n".to_owned(), 10));
    }
}
