//! Which part of some bytes a reader wants.

use std::ops::Range;

/// What a `Range` header asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything: it asks for nothing, or for something we do not do.
    All,
    /// These bytes.
    Bytes(Range<u64>),
    /// Bytes that are not there.
    Beyond,
}

impl Part {
    /// Reads `bytes=5-9`, `bytes=5-` and `bytes=-5`, of `length` bytes. Several parts at once are not done.
    pub(crate) fn read(header: Option<&str>, length: u64) -> Self {
        let Some((first, last)) = header.and_then(bounds) else { return Self::All };
        let range = match (first, last) {
            (Some(first), Some(last)) if first > last => return Self::All,
            (Some(first), last) => first..last.map_or(length, |last| last.saturating_add(1)).min(length),
            (None, Some(last)) => length.saturating_sub(last)..length,
            (None, None) => return Self::All,
        };
        if range.is_empty() { Self::Beyond } else { Self::Bytes(range) }
    }
}

fn bounds(header: &str) -> Option<(Option<u64>, Option<u64>)> {
    let (first, last) = header.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| match text.trim() {
        "" => Some(None),
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => Some(Some(text.parse().ok()?)),
        _ => None,
    };
    Some((number(first)?, number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_read_or_everything_is_given() {
        let check = |header: &str, part: Part| assert_eq!(Part::read(Some(header), 10), part, "{header}");
        check("bytes=0-0", Part::Bytes(0..1));
        check("bytes=2-4", Part::Bytes(2..5));
        check("bytes=2-", Part::Bytes(2..10));
        check("bytes=2-99", Part::Bytes(2..10));
        check("bytes=-3", Part::Bytes(7..10));
        check("bytes=-99", Part::Bytes(0..10));
        check("bytes=10-", Part::Beyond);
        check("bytes=-0", Part::Beyond);
        for odd in ["", "bytes", "bytes=", "bytes=-", "bytes=4-2", "bytes=1-2,4-5", "lines=1-2", "bytes=+1-2"]
        {
            check(odd, Part::All);
        }
        assert_eq!(Part::read(None, 10), Part::All);
        assert_eq!(Part::read(Some("bytes=0-"), 0), Part::Beyond);
    }
}
