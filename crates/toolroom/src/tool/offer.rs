//! Actions that a tool offers to its caller's client.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Attachment;
use crate::characters::{is_invisible, is_terminal_control};
use crate::ledger::ArtifactId;

/// An action on the user's device. The client may perform or ignore it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Offer {
    /// Open an address in their browser.
    OpenUrl {
        /// The address: `http` or `https`.
        url: String,
    },
    /// Show them a file.
    OpenFile(OfferedFile),
    /// Let them save a file.
    SaveFile(OfferedFile),
}

/// A file that is stored as an artifact of the call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedFile {
    /// Its name, without a folder.
    pub name: String,
    /// Its media type. Clients must not trust it.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// The artifact with its content.
    pub artifact: ArtifactId,
    /// A sentence about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
}

impl OfferedFile {
    /// An attached file under this name, without folders, control characters and bidirectional marks.
    #[must_use]
    pub fn from_attachment(attachment: &Attachment, name: &str) -> Self {
        Self {
            name: bare_name(name),
            media_type: attachment.media_type.clone(),
            bytes: attachment.bytes.len() as u64,
            artifact: attachment.id.clone(),
            caption: None,
        }
    }

    /// The same with a sentence about it.
    #[must_use]
    pub fn with_caption(mut self, caption: Option<String>) -> Self {
        self.caption = caption;
        self
    }
}

impl Offer {
    /// The file that it is about.
    #[must_use]
    pub fn file(&self) -> Option<&OfferedFile> {
        match self {
            Self::OpenUrl { .. } => None,
            Self::OpenFile(file) | Self::SaveFile(file) => Some(file),
        }
    }

    pub(crate) fn file_mut(&mut self) -> Option<&mut OfferedFile> {
        match self {
            Self::OpenUrl { .. } => None,
            Self::OpenFile(file) | Self::SaveFile(file) => Some(file),
        }
    }

    /// Replaces every text for which `rewrite` has another one.
    pub(crate) fn rewrite(&mut self, rewrite: impl Fn(&str) -> Option<String>) {
        let texts = match self {
            Self::OpenUrl { url } => vec![url],
            Self::OpenFile(file) | Self::SaveFile(file) => {
                std::iter::once(&mut file.name).chain(file.caption.as_mut()).collect()
            }
        };
        for text in texts {
            if let Some(told) = rewrite(text) {
                *text = told;
            }
        }
    }
}

/// Longer names are cut at the front to keep their extension.
const MAX_NAME_CHARS: usize = 120;

/// A safe file name: no folders, control characters or bidirectional marks.
#[must_use]
pub fn bare_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_seen = |char: &char| !is_terminal_control(*char) && !char.is_control() && !is_invisible(*char);
    let plain: Vec<char> = last.chars().filter(is_seen).collect();
    let skip = plain.len().saturating_sub(MAX_NAME_CHARS);
    let plain: String = plain.into_iter().skip(skip).collect();
    let plain = plain.trim().trim_start_matches('.').trim();
    if plain.is_empty() { "file".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_file_in_one_folder() {
        for (given, bare) in [
            ("report.html", "report.html"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\run.bat", "run.bat"),
            ("a\r\nSet-Cookie: x=1.txt", "aSet-Cookie: x=1.txt"),
            ("\u{202e}gpj.exe", "gpj.exe"),
            ("a\u{61c}b\u{200b}.\u{e0041}txt", "ab.txt"),
            (".bashrc", "bashrc"),
            ("..", "file"),
            ("folder/", "file"),
            ("", "file"),
            ("Grüße 一.pdf", "Grüße 一.pdf"),
        ] {
            assert_eq!(bare_name(given), bare, "{given:?}");
        }
        let long = bare_name(&format!("{}.html", "x".repeat(500)));
        assert!(long.ends_with("x.html") && long.chars().count() == MAX_NAME_CHARS);
    }

    #[test]
    fn an_offer_says_what_it_is() {
        let file = OfferedFile {
            name: "a.txt".to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: 3,
            artifact: ArtifactId::new("art_1"),
            caption: None,
        };
        let offer = serde_json::to_value(Offer::SaveFile(file)).unwrap();
        let expected = serde_json::json!({
            "type": "save_file", "name": "a.txt", "media_type": "text/plain", "bytes": 3, "artifact": "art_1",
        });
        assert_eq!(offer, expected);
    }
}
