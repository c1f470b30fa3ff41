//! What kind of thing a response is.

use toolroom_host::net::Bytes;

use super::exchange::Arrived;
use crate::readable::decode;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Media {
    Html,
    Json,
    Text,
    /// Nothing that could be read as text.
    Binary,
}

/// Types that are text although their name does not say so.
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
    /// By what the server says, and by looking where it says nothing of use.
    pub(super) fn of(arrived: &Arrived) -> Self {
        let media_type = media_type(arrived.content_type());
        let (kind, subtype) = media_type.split_once('/').unwrap_or((&media_type, ""));
        let told = match (kind, subtype) {
            ("text", "html") | ("application", "xhtml+xml") => Self::Html,
            ("application" | "text", "json") => Self::Json,
            (_, subtype) if subtype.ends_with("+json") => Self::Json,
            ("text", _) => Self::Text,
            (_, subtype) if subtype.ends_with("+xml") && kind != "image" => Self::Text,
            _ if TEXTS.contains(&media_type.as_str()) => Self::Text,
            ("image" | "audio" | "video" | "font" | "model", _) => Self::Binary,
            ("" | "application" | "binary", _) => guessed(&arrived.body),
            _ => Self::Binary,
        };
        // Whatever a server calls it: no text but UTF-16 holds a zero.
        let is_wide = arrived.body.starts_with(b"\xff\xfe") || arrived.body.starts_with(b"\xfe\xff");
        let says_wide =
            arrived.content_type().is_some_and(|text| text.to_ascii_lowercase().contains("utf-16"));
        let is_text = is_wide || says_wide || !arrived.body.contains(&0);
        if is_text { told } else { Self::Binary }
    }
}

/// Without its parameters, in lower case; empty if there is none.
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

/// A body as text, whatever it is.
pub(super) fn text(arrived: &Arrived, media: Media) -> String {
    decode(&arrived.body, arrived.content_type(), media == Media::Html)
}

/// `12345 bytes of image/png`.
pub(super) fn named(arrived: &Arrived) -> String {
    let media_type = media_type(arrived.content_type());
    let named = if media_type.is_empty() { "an unknown type" } else { &media_type };
    format!("{} bytes of {named}", arrived.body.len())
}
