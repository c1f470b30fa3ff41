//! Files that a tool returns with its result.

use bytes::Bytes;

use crate::clock::Clock;
use crate::ledger::ArtifactId;

/// The longest valid media type.
const MAX_TYPE_CHARS: usize = 100;

/// A file with a result: an image, a sound, a document. It is stored as an artifact of the call, and the result names it by
/// its id instead of containing the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    pub(crate) id: ArtifactId,
    pub(crate) media_type: String,
    pub(crate) bytes: Bytes,
}

impl Attachment {
    /// The media type of unknown content.
    pub const UNKNOWN: &str = "application/octet-stream";

    /// A file with a fresh id. An invalid media type becomes `application/octet-stream`.
    #[must_use]
    pub fn new(clock: &dyn Clock, media_type: &str, bytes: impl Into<Bytes>) -> Self {
        Self { id: ArtifactId::fresh(clock), media_type: plain_type(media_type), bytes: bytes.into() }
    }

    /// The id under which it will be found.
    #[must_use]
    pub const fn id(&self) -> &ArtifactId {
        &self.id
    }

    /// What kind of file it is.
    #[must_use]
    pub fn media_type(&self) -> &str {
        &self.media_type
    }

    /// How large it is.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// `type/subtype` without parameters. Validated, because it comes from outside and ends in a header.
fn plain_type(text: &str) -> String {
    let plain = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_token = |token: &str| {
        let is_fine = |c: char| c.is_ascii_alphanumeric() || "!#$&-^_.+".contains(c);
        !token.is_empty() && token.chars().all(is_fine)
    };
    let is_type = plain.split_once('/').is_some_and(|(kind, rest)| is_token(kind) && is_token(rest));
    if is_type && plain.len() <= MAX_TYPE_CHARS { plain } else { Attachment::UNKNOWN.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: &str = Attachment::UNKNOWN;

    #[test]
    fn an_invalid_media_type_becomes_the_unknown_one() {
        for (given, kept) in [
            ("image/png", "image/png"),
            (" Image/SVG+xml; charset=utf-8", "image/svg+xml"),
            ("text/html\r\nset-cookie: a=b", UNKNOWN),
            ("png", UNKNOWN),
            ("a/b/c", UNKNOWN),
            ("/", UNKNOWN),
            ("", UNKNOWN),
        ] {
            assert_eq!(plain_type(given), kept, "{given:?}");
        }
        assert_eq!(plain_type(&format!("a/{}", "b".repeat(200))), UNKNOWN);
    }
}
