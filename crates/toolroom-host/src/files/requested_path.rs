//! A requested path, before the file system is accessed.

use super::error::FileError;

/// The system's limits.
const MAX_PATH_BYTES: usize = 4_096;
const MAX_NAME_BYTES: usize = 255;

/// Each name costs a descriptor if the kernel cannot follow the path.
const MAX_NAMES: usize = 128;

/// A valid path, split into names. `.` and double slashes are removed; `..` stays, because its target depends on the
/// file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedPath<'a> {
    text: &'a str,
    names: Vec<&'a str>,
}

impl<'a> RequestedPath<'a> {
    /// Parses a path.
    pub fn parse(text: &'a str) -> Result<Self, FileError> {
        let path = || text.escape_debug().to_string();
        if text.trim().is_empty() {
            return Err(FileError::Empty);
        }
        if text.chars().any(char::is_control) {
            return Err(FileError::Unprintable { path: path() });
        }
        if text == "~" || text.starts_with("~/") {
            return Err(FileError::Tilde { path: path() });
        }
        let names: Vec<&str> = text.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
        let is_long = text.len() > MAX_PATH_BYTES || names.len() > MAX_NAMES;
        if is_long || names.iter().any(|name| name.len() > MAX_NAME_BYTES) {
            return Err(FileError::TooLong { bytes: text.len() });
        }
        Ok(Self { text, names })
    }

    /// The original text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Its names, from left to right.
    #[must_use]
    pub fn names(&self) -> &[&'a str] {
        &self.names
    }

    /// Whether it starts at the root of the file system.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        self.text.starts_with('/')
    }

    /// Whether it can only mean a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        ["/", "/.", "/.."].iter().any(|end| self.text.ends_with(end)) || matches!(self.text, "." | "..")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_into_names() {
        for (text, names, is_folder) in [
            ("a", vec!["a"], false),
            ("./a//b/./c.txt", vec!["a", "b", "c.txt"], false),
            ("/srv/x/", vec!["srv", "x"], true),
            ("a/../b", vec!["a", "..", "b"], false),
            (".", vec![], true),
            ("a/..", vec!["a", ".."], true),
            ("..\\..\\x", vec!["..\\..\\x"], false),
            ("~user/x", vec!["~user", "x"], false),
            (" a b ", vec![" a b "], false),
        ] {
            let asked = RequestedPath::parse(text).unwrap();
            assert_eq!((asked.names(), asked.is_folder()), (names.as_slice(), is_folder), "{text}");
            assert_eq!(asked.is_absolute(), text.starts_with('/'));
        }
    }

    #[test]
    fn an_invalid_path_is_refused_with_a_reason() {
        let refused = |text: &str| RequestedPath::parse(text).unwrap_err().to_string();
        assert!(refused("").contains("empty") && refused(" \t").contains("empty"));
        assert_eq!(refused("a\0b"), "`a\\0b` contains a control character");
        assert!(refused("a\nb").contains("control") && refused("\u{1b}[31m").contains("control"));
        assert!(refused("~").contains("home") && refused("~/x").contains("home"));
        assert!(refused(&"a/".repeat(3_000)).contains("too long"));
        assert!(
            refused(&"a/".repeat(129)).contains("too long") && refused(&"a".repeat(256)).contains("too long")
        );
        assert!(
            RequestedPath::parse(&"a/".repeat(128)).is_ok() && RequestedPath::parse(&"a".repeat(255)).is_ok()
        );
    }
}
