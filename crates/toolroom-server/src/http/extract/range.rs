//! The `Range` header.

use std::ops::Range;

/// The bytes that a `Range` header asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestedRange {
    /// Everything: without the header, or with a form that is not supported.
    All,
    /// These bytes.
    Bytes(Range<u64>),
    /// Bytes beyond the end.
    Beyond,
}

impl RequestedRange {
    /// Reads `bytes=5-9`, `bytes=5-` and `bytes=-5`, of `length` bytes. Several ranges are not supported.
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
    fn a_range_is_read_or_everything_is_returned() {
        let check = |header: &str, part: RequestedRange| {
            assert_eq!(RequestedRange::read(Some(header), 10), part, "{header}");
        };
        check("bytes=0-0", RequestedRange::Bytes(0..1));
        check("bytes=2-4", RequestedRange::Bytes(2..5));
        check("bytes=2-", RequestedRange::Bytes(2..10));
        check("bytes=2-99", RequestedRange::Bytes(2..10));
        check("bytes=-3", RequestedRange::Bytes(7..10));
        check("bytes=-99", RequestedRange::Bytes(0..10));
        check("bytes=10-", RequestedRange::Beyond);
        check("bytes=-0", RequestedRange::Beyond);
        for odd in ["", "bytes", "bytes=", "bytes=-", "bytes=4-2", "bytes=1-2,4-5", "lines=1-2", "bytes=+1-2"]
        {
            check(odd, RequestedRange::All);
        }
        assert_eq!(RequestedRange::read(None, 10), RequestedRange::All);
        assert_eq!(RequestedRange::read(Some("bytes=0-"), 0), RequestedRange::Beyond);
    }
}
