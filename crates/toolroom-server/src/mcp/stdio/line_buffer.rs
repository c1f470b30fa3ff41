//! Splits standard input into lines.

/// The longest line.
pub(in crate::mcp) const LINE_BYTES: usize = 4 * 1024 * 1024;

/// Bytes that were received and not processed.
#[derive(Debug, Default)]
pub(in crate::mcp) struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the next line begins.
    begins: usize,
    /// Up to here there is no line break.
    looked: usize,
    /// Whether the rest of a line that is too long is still to come.
    skips: bool,
}

/// A line of input.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::mcp) enum InputLine<'a> {
    Line(&'a [u8]),
    /// A line that is too long. Reported once; the rest of it is skipped.
    TooLong,
}

impl LineBuffer {
    /// The buffer to append received bytes to.
    pub(in crate::mcp) fn buffer(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.begins);
        self.looked -= self.begins;
        self.begins = 0;
        &mut self.bytes
    }

    /// The next line. `None` if more bytes are needed.
    pub(in crate::mcp) fn next(&mut self) -> Option<InputLine<'_>> {
        loop {
            let unseen = self.bytes.get(self.looked..).unwrap_or_default();
            let Some(end) = unseen.iter().position(|byte| *byte == b'\n') else {
                self.looked = self.bytes.len();
                return self.too_long();
            };
            let (from, to) = (self.begins, self.looked + end);
            self.begins = to + 1;
            self.looked = self.begins;
            match std::mem::take(&mut self.skips) {
                true => {}
                false if to - from > LINE_BYTES => return Some(InputLine::TooLong),
                false => return Some(InputLine::Line(self.bytes.get(from..to).unwrap_or_default())),
            }
        }
    }

    /// The incomplete line at the end of the input.
    pub(in crate::mcp) fn rest(&mut self) -> &[u8] {
        match self.skips {
            true => &[],
            false => self.bytes.get(self.begins..).unwrap_or_default(),
        }
    }

    /// Drops a line that is too long before its end has come.
    fn too_long(&mut self) -> Option<InputLine<'_>> {
        if self.bytes.len() - self.begins <= LINE_BYTES {
            return None;
        }
        self.bytes.clear();
        (self.begins, self.looked) = (0, 0);
        (!std::mem::replace(&mut self.skips, true)).then_some(InputLine::TooLong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines in these pieces; `None` for a line that is too long.
    fn found(pieces: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let (mut lines, mut found) = (LineBuffer::default(), Vec::new());
        for piece in pieces {
            lines.buffer().extend_from_slice(piece);
            while let Some(cut) = lines.next() {
                found.push(match cut {
                    InputLine::Line(line) => Some(line.to_vec()),
                    InputLine::TooLong => None,
                });
            }
        }
        found.push(Some(lines.rest().to_vec()));
        found
    }

    #[test]
    fn a_line_that_is_too_long_is_reported_once() {
        let long = vec![b'x'; LINE_BYTES + 1];
        let all = [&long[..], b"\nb\nc"].concat();
        let expected = [None, Some(b"b".to_vec()), Some(b"c".to_vec())];
        assert_eq!(found(&[&all]), expected);
        assert_eq!(found(&[&all[..LINE_BYTES], &all[LINE_BYTES..]]), expected);
        assert_eq!(found(&[&long, &long, b"\nb", b"\nc"]), expected);
        assert_eq!(found(&[&long, b"more"]), [None, Some(Vec::new())]);
        let whole = [&long[..LINE_BYTES], b"\n"].concat();
        assert_eq!(found(&[&whole]), [Some(long[..LINE_BYTES].to_vec()), Some(Vec::new())]);
    }

    proptest::proptest! {
        #[test]
        fn the_way_input_is_cut_makes_no_difference_to_its_lines(
            pieces in proptest::collection::vec(proptest::collection::vec(0_u8..20, 0..20), 0..10),
        ) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let whole = pieces.concat();
            let expected: Vec<_> = whole.split(|byte| *byte == b'\n').map(|line| Some(line.to_vec())).collect();
            proptest::prop_assert_eq!(found(&pieces), expected);
        }
    }
}
