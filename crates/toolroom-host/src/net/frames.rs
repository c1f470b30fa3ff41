//! Separates heads from other frames of HTTP/2.

/// Length, type, flags and stream id.
const HEADER: u8 = 9;

/// The cost of each head frame besides its bytes: a small head takes much more memory once parsed.
const EACH: u64 = 4 * 1024;

/// The state of the frame parser.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Received bytes of the frame header.
    header: u8,
    /// Its first bytes: length and type.
    beginning: u32,
    /// Remaining bytes of the frame.
    left: usize,
    is_head: bool,
}

impl Frames {
    /// The cost of the next bytes as parts of heads.
    pub(super) fn heads(&mut self, mut bytes: &[u8]) -> u64 {
        let mut heads = 0_u64;
        while let Some((first, behind)) = bytes.split_first() {
            if self.left == 0 {
                heads = heads.saturating_add(self.begin(*first));
                bytes = behind;
                continue;
            }
            let (piece, behind) = bytes.split_at(self.left.min(bytes.len()));
            self.left -= piece.len();
            heads = heads.saturating_add(if self.is_head { piece.len() as u64 } else { 0 });
            bytes = behind;
        }
        heads
    }

    /// Handles a byte of the frame header.
    fn begin(&mut self, byte: u8) -> u64 {
        if self.header < 4 {
            self.beginning = self.beginning << 8 | u32::from(byte);
        }
        self.header += 1;
        if self.header < HEADER {
            return 0;
        }
        self.header = 0;
        self.left = usize::try_from(self.beginning >> 8).unwrap_or(usize::MAX);
        // HEADERS, PUSH_PROMISE and CONTINUATION.
        self.is_head = matches!(self.beginning & 0xff, 0x1 | 0x5 | 0x9);
        if self.is_head { EACH } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, length: u8) -> Vec<u8> {
        let mut frame = vec![0, 0, length, kind, 0, 0, 0, 0, 1];
        frame.extend(vec![1; usize::from(length)]);
        frame
    }

    #[test]
    fn only_heads_are_counted_for_any_chunking() {
        let kinds = [(0x4, 0), (0x1, 20), (0x0, 255), (0x9, 0), (0x6, 8), (0x5, 3), (0x0, 0), (0x1, 1)];
        let bytes: Vec<u8> = kinds.iter().flat_map(|(kind, length)| frame(*kind, *length)).collect();
        for size in 1..=bytes.len() {
            let mut frames = Frames::default();
            let counted: u64 = bytes.chunks(size).map(|piece| frames.heads(piece)).sum();
            assert_eq!(counted, 4 * EACH + 20 + 3 + 1, "in pieces of {size}");
        }
    }
}
