//! Media types by file extension.

use toolroom::tool::Attachment;

/// Types that desktop programs display and do not run, by extension. Other files are sent to be saved and never opened: a
/// launcher or script would run.
const DISPLAYABLE: [(&str, &str); 42] = [
    ("avif", "image/avif"),
    ("bmp", "image/bmp"),
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("doc", "application/msword"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("epub", "application/epub+zip"),
    ("flac", "audio/flac"),
    ("gif", "image/gif"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("ics", "text/calendar"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("json", "application/json"),
    ("log", "text/plain"),
    ("m4a", "audio/mp4"),
    ("md", "text/markdown"),
    ("mkv", "video/x-matroska"),
    ("mov", "video/quicktime"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("ogg", "audio/ogg"),
    ("opus", "audio/opus"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("rtf", "application/rtf"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("tsv", "text/tab-separated-values"),
    ("txt", "text/plain"),
    ("wav", "audio/wav"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

/// The media type, if a desktop displays it.
pub(super) fn displayable(name: &str) -> Option<&'static str> {
    let (_, end) = name.rsplit_once('.')?;
    DISPLAYABLE.iter().find(|(known, _)| known.eq_ignore_ascii_case(end)).map(|(_, media_type)| *media_type)
}

/// The media type, or that for unknown files.
pub(super) fn for_name(name: &str) -> &'static str {
    displayable(name).unwrap_or(Attachment::UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_could_run_are_not_displayed() {
        for name in ["a.html", "B.PDF", "c.tar.txt", "grüße.ics"] {
            assert!(displayable(name).is_some(), "{name}");
        }
        for name in ["a.desktop", "a.sh", "a.html.desktop", "a.exe", "a.AppImage", "a.jar", "html", "a.", ""]
        {
            assert_eq!((displayable(name), for_name(name)), (None, Attachment::UNKNOWN), "{name}");
        }
        assert!(DISPLAYABLE.is_sorted());
    }
}
