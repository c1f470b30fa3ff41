//! Guesses the format of content that is not text, by its first bytes.

const KINDS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "a program (ELF)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"PK\x03\x04", "a ZIP archive or office document"),
    (b"PK\x05\x06", "a ZIP archive or office document"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"OggS", "an Ogg recording"),
    (b"ID3", "an MP3 recording"),
    (b"fLaC", "a FLAC recording"),
    (b"\0asm", "a WebAssembly module"),
    (b"MZ", "a Windows program"),
    (b"\xff\xfe", "a text in UTF-16"),
    (b"\xfe\xff", "a text in UTF-16"),
];

/// The name of the format.
pub(super) fn kind_of(head: &[u8]) -> &'static str {
    let known = KINDS.iter().find(|(start, _)| head.starts_with(start));
    match (known, head.get(..4), head.get(4..8), head.get(8..12)) {
        (Some((_, kind)), ..) => kind,
        (None, Some(b"RIFF"), _, Some(b"WEBP")) => "a WebP image",
        (None, Some(b"RIFF"), ..) => "a RIFF recording",
        (None, _, Some(b"ftyp"), _) => "an MP4 recording",
        // Text in another encoding has bytes above ASCII, and no zero bytes.
        _ if !head.contains(&0) => "a text in another encoding, or a binary file",
        _ => "a binary file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognized_by_their_first_bytes() {
        for (head, kind) in [
            (b"\x89PNG\r\n\x1a\n\0\0".as_slice(), "a PNG image"),
            (b"%PDF-1.7", "a PDF document"),
            (b"\x7fELF\x02", "a program (ELF)"),
            (b"\x1f\x8b\x08", "a gzip archive"),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", "a WebP image"),
            (b"\0\0\0\x18ftypmp42", "an MP4 recording"),
            (b"\xff\xfeh\0i\0", "a text in UTF-16"),
            (b"caf\xe9", "a text in another encoding, or a binary file"),
            (b"\x01\0\x02", "a binary file"),
            (b"", "a text in another encoding, or a binary file"),
        ] {
            assert_eq!(kind_of(head), kind, "{head:?}");
        }
    }
}
