//! Offers of a tool to its client: URLs to open, files to show or save.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::tool::Offer;

/// A URL to open, or a file to show or save.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Offer")]
pub(crate) struct OfferDocument {
    #[serde(flatten)]
    offer: Offer,
    /// Path of the file content on this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    href: Option<String>,
}

impl OfferDocument {
    pub(crate) fn of(offer: &Offer) -> Self {
        let href = offer.file().map(|file| {
            format!("/v1/artifacts/{}/content?name={}", file.artifact, percent_encoded(&file.name))
        });
        Self { offer: offer.clone(), href }
    }
}

/// Percent-encodes a text for URLs and `filename*=`.
pub(crate) fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

/// An offer as a line of text.
pub(crate) fn told(offer: &Offer) -> String {
    match offer {
        Offer::OpenUrl { url } => format!("offers to open {url}"),
        Offer::OpenFile(file) | Offer::SaveFile(file) => {
            let (name, bytes, artifact) = (&file.name, file.bytes, &file.artifact);
            format!("offers the file `{name}` ({bytes} bytes): `{artifact}`")
        }
    }
}
