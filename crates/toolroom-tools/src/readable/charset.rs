//! Decodes bytes to text, with the encoding detected as browsers do.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// How far into a page its encoding declaration is searched.
const PRESCAN: usize = 1_024;

/// Decodes a body. A byte order mark has priority, then the header, then the page's own declaration. Invalid bytes become
/// replacement characters.
#[must_use]
pub fn decode(bytes: &[u8], content_type: Option<&str>, is_html: bool) -> String {
    let told = content_type.and_then(|text| parameter(text.as_bytes(), b"charset"));
    let may_say = is_html || bytes.starts_with(b"<?xml");
    let told = told.or_else(|| if may_say { own_word(bytes) } else { None });
    let encoding = told.unwrap_or_else(|| match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() && is_html => WINDOWS_1252,
        _ => UTF_8,
    });
    let (text, _, _) = encoding.decode(bytes);
    text.into_owned()
}

/// The encoding in `<meta charset>`, `<meta http-equiv>` or an XML declaration.
fn own_word(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN).unwrap_or(bytes).to_ascii_lowercase();
    let tags = start.split(|byte| *byte == b'<').filter_map(|tag| tag.split(|byte| *byte == b'>').next());
    let found = tags.filter_map(|tag| match tag {
        [b'm', b'e', b't', b'a', rest @ ..] => parameter(rest, b"charset"),
        [b'?', b'x', b'm', b'l', rest @ ..] => parameter(rest, b"encoding"),
        _ => None,
    });
    // A page with a readable declaration cannot be UTF-16.
    found.map(Encoding::output_encoding).next()
}

/// The encoding in `name=value` or `name="value"`, anywhere in the text.
fn parameter(text: &[u8], name: &[u8]) -> Option<&'static Encoding> {
    let at = text.windows(name.len()).position(|window| window.eq_ignore_ascii_case(name))?;
    let after = text.get(at + name.len()..)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let label = after.strip_prefix(b"\"").or_else(|| after.strip_prefix(b"'")).unwrap_or(after);
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\'' | b';' | b'>' | b'/') || byte.is_ascii_whitespace();
    Encoding::for_label(label.split(is_end).next()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_header_and_page_are_heard_in_this_order() {
        let latin: &[u8] = b"gr\xfc\xdfe";
        let shift: &[u8] = b"\x93\xfa\x96{";
        let html = |meta: &str, text: &[u8]| [meta.as_bytes(), text].concat();
        for (bytes, header, is_html, expected) in [
            (latin.to_vec(), Some("text/plain; charset=iso-8859-1"), false, "grüße"),
            (latin.to_vec(), Some("text/plain; CHARSET=\"ISO-8859-1\""), false, "grüße"),
            (latin.to_vec(), Some("text/plain"), false, "gr\u{fffd}\u{fffd}e"),
            (latin.to_vec(), Some("text/html"), true, "grüße"),
            ("grüße".into(), Some("text/html"), true, "grüße"),
            (b"\xef\xbb\xbfgr\xc3\xbc".to_vec(), Some("text/html; charset=latin1"), true, "grü"),
            (b"\xff\xfeh\x00i\x00".to_vec(), None, false, "hi"),
            (shift.to_vec(), Some("text/html; charset=Shift_JIS"), true, "日本"),
            (
                html("<META CharSet='shift_jis'>", shift),
                Some("text/html"),
                true,
                "<META CharSet='shift_jis'>日本",
            ),
            (
                html(
                    "<meta http-equiv=Content-Type content=\"text/html; charset=windows-1251\">",
                    b"\xef\xf0",
                ),
                None,
                true,
                "<meta http-equiv=Content-Type content=\"text/html; charset=windows-1251\">пр",
            ),
            (
                html("<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>", b"\xb1"),
                None,
                true,
                "<?xml version=\"1.0\" encoding=\"iso-8859-2\"?>ą",
            ),
            (
                html("<?xml version='1.0' encoding='iso-8859-1'?>", latin),
                Some("text/xml"),
                false,
                "<?xml version='1.0' encoding='iso-8859-1'?>grüße",
            ),
            (html("<meta charset=utf-16>", b"x"), None, true, "<meta charset=utf-16>x"),
            (html("<p>charset=shift_jis</p>", "é".as_bytes()), None, true, "<p>charset=shift_jis</p>é"),
            (latin.to_vec(), Some("text/html; charset=nonsense"), true, "grüße"),
            (b"caf\xc3".to_vec(), None, true, "caf\u{fffd}"),
        ] {
            assert_eq!(decode(&bytes, header, is_html), expected, "{header:?} {bytes:?}");
        }
    }
}
