//! Classifies a response by content type and body.

use toolroom_host::net::Bytes;

use super::exchange::HttpResponse;
use crate::readable::decode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    Html,
    Json,
    Text,
    /// Not readable as text.
    Binary,
}

/// Types that are text although their name does not start with `text/`.
const TEXTS: &[&str] = &[
    "application/ecmascript",
    "application/graphql",
    "application/javascript",
    "application/sql",
    "application/toml",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-www-form-urlencoded",
    "application/x-yaml",
    "application/xml",
    "application/yaml",
];

impl Media {
    /// By content type, or by the body if the type is missing or generic.
    pub(super) fn detect(response: &HttpResponse) -> Self {
        let media_type = media_type(response.content_type());
        let (kind, subtype) = media_type.split_once('/').unwrap_or((&media_type, ""));
        let declared = match (kind, subtype) {
            ("text", "html") | ("application", "xhtml+xml") => Self::Html,
            ("application" | "text", "json") => Self::Json,
            (_, subtype) if subtype.ends_with("+json") => Self::Json,
            ("text", _) => Self::Text,
            (_, subtype) if subtype.ends_with("+xml") && kind != "image" => Self::Text,
            _ if TEXTS.contains(&media_type.as_str()) => Self::Text,
            ("image" | "audio" | "video" | "font" | "model", _) => Self::Binary,
            ("" | "application" | "binary", _) => guessed(&response.body),
            _ => Self::Binary,
        };
        // Regardless of the declared type: only UTF-16 text contains zero bytes.
        let is_wide = response.body.starts_with(b"\xff\xfe") || response.body.starts_with(b"\xfe\xff");
        let says_wide =
            response.content_type().is_some_and(|text| text.to_ascii_lowercase().contains("utf-16"));
        let is_text = is_wide || says_wide || !response.body.contains(&0);
        if is_text { declared } else { Self::Binary }
    }
}

/// The media type without parameters, in lower case; empty if missing.
fn media_type(content_type: Option<&str>) -> String {
    content_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim().to_ascii_lowercase()
}

fn guessed(body: &Bytes) -> Media {
    let start = body.trim_ascii_start();
    let begins = |with: &[u8]| start.get(..with.len()).is_some_and(|is| is.eq_ignore_ascii_case(with));
    if begins(b"<!doctype html") || begins(b"<html") {
        Media::Html
    } else if begins(b"%PDF-") || std::str::from_utf8(body).is_err() {
        Media::Binary
    } else {
        Media::Text
    }
}

/// The body decoded as text.
pub(super) fn text(response: &HttpResponse, media: Media) -> String {
    decode(&response.body, response.content_type(), media == Media::Html)
}

/// `12345 bytes of image/png`.
pub(super) fn describe(response: &HttpResponse) -> String {
    let media_type = media_type(response.content_type());
    let named = if media_type.is_empty() { "an unknown type" } else { &media_type };
    format!("{} bytes of {named}", response.body.len())
}
