//! Pictures for models.

use std::io;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::regular_file::{Links, RegularFile, RegularFileError};

/// Signatures of the media types that models accept.
const KINDS: [(&[u8], &str); 4] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
];

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Its type, detected from the content.
    pub media_type: &'static str,
    /// Its bytes in base64.
    pub base64: String,
}

/// Why a picture could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// It does not exist.
    #[error("there is no file `{}`; check its name, and the folder you are in", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// A folder, a pipe, a socket or a device.
    #[error("`{}` is not a regular file; name a picture", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// It is too large.
    #[error("`{}` is larger than {max_bytes} bytes; make it smaller", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The maximum.
        max_bytes: usize,
    },
    /// It has another format.
    #[error("`{}` is no PNG, JPEG, GIF or WebP picture; convert it to one of them", path.display())]
    NoPicture {
        /// The file.
        path: PathBuf,
    },
    /// A system error.
    #[error("cannot read `{}`", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

/// Reads a picture of at most `max_bytes`. Blocks.
pub fn read(path: &Path, max_bytes: usize) -> Result<Picture, PictureError> {
    let path = path.to_owned();
    let content = match RegularFile::open(&path, Links::Follow).transpose() {
        None => return Err(PictureError::NotFound { path }),
        Some(opened) => opened.and_then(|file| file.read(max_bytes)),
    };
    let content = match content {
        Ok(content) => content,
        Err(RegularFileError::NotRegular) => return Err(PictureError::NotRegular { path }),
        Err(RegularFileError::TooLong) => return Err(PictureError::TooLarge { path, max_bytes }),
        Err(RegularFileError::Io(source)) => return Err(PictureError::Io { path, source }),
    };
    match media_type(&content) {
        Some(media_type) => Ok(Picture { media_type, base64: STANDARD.encode(content) }),
        None => Err(PictureError::NoPicture { path }),
    }
}

fn media_type(content: &[u8]) -> Option<&'static str> {
    let known = KINDS.iter().find(|(start, _)| content.starts_with(start)).map(|(_, kind)| *kind);
    let is_webp = content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP");
    known.or(is_webp.then_some("image/webp"))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write the files themselves")]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_detected_from_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let check = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            read(&path, 100).map(|picture| picture.media_type).map_err(|error| error.to_string())
        };
        assert_eq!(check("a.txt", b"\x89PNG\r\n\x1a\n0000"), Ok("image/png"));
        assert_eq!(check("b", b"\xff\xd8\xff\xe0"), Ok("image/jpeg"));
        assert_eq!(check("c", b"RIFF0000WEBPVP8 "), Ok("image/webp"));
        assert!(check("d.png", b"<svg/>").unwrap_err().contains("is no PNG, JPEG, GIF or WebP picture"));
        assert!(check("e.png", &[0; 101]).unwrap_err().contains("is larger than 100 bytes"));
        let error = |path: &Path| read(path, 100).unwrap_err().to_string();
        assert!(error(&folder.path().join("none")).contains("there is no file"));
        assert!(error(folder.path()).contains("is not a regular file"));
        assert!(error(Path::new("/dev/zero")).contains("is not a regular file"));
    }
}
