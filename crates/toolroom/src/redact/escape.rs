//! Escapes: percent signs, backslashes, character references. Decoding is lenient, because a secret must be recognised in
//! every spelling.

use super::entity;

/// A way of escaping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// `%2F`: URLs and forms.
    Percent,
    /// `\"`, `\n`, `\u002f`, `\x2f`: JSON, source text, shells.
    Backslash,
    /// `&amp;`, `&#47;`, `&#x2f;`: HTML and XML.
    Reference,
}

/// The result of reading an escape.
pub(super) enum Unescaped {
    /// The escape takes `length` bytes and means these.
    Means { bytes: Meaning, length: usize },
    /// No escape.
    Plain,
    /// The text ends within a possible escape.
    Unfinished,
}

/// One character, or one byte of one.
pub(super) struct Meaning {
    bytes: [u8; 4],
    length: usize,
}

impl Meaning {
    fn byte(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }

    fn character(character: char) -> Self {
        let mut bytes = [0; 4];
        let length = character.encode_utf8(&mut bytes).len();
        Self { bytes, length }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The longest character reference that is read.
const MAX_REFERENCE: usize = 12;

impl Escape {
    pub(super) const ALL: [Self; 3] = [Self::Percent, Self::Backslash, Self::Reference];

    /// The byte every escape of this kind starts with.
    pub(super) const fn mark(self) -> u8 {
        match self {
            Self::Percent => b'%',
            Self::Backslash => b'\\',
            Self::Reference => b'&',
        }
    }

    /// Reads the escape at the start of `text`, which is [`Self::mark`].
    pub(super) fn read(self, text: &[u8]) -> Unescaped {
        match self {
            Self::Percent => match hex_digits::<2>(text, 1) {
                Digits::Value(value) => means(u8::try_from(value).ok().map(Meaning::byte), 3),
                Digits::Other => Unescaped::Plain,
                Digits::Unfinished => Unescaped::Unfinished,
            },
            Self::Backslash => backslash(text),
            Self::Reference => reference(text),
        }
    }
}

fn means(meaning: Option<Meaning>, length: usize) -> Unescaped {
    meaning.map_or(Unescaped::Plain, |bytes| Unescaped::Means { bytes, length })
}

enum Digits {
    Value(u32),
    Other,
    Unfinished,
}

/// Exactly `N` hex digits.
fn hex_digits<const N: usize>(text: &[u8], at: usize) -> Digits {
    let mut value = 0;
    for index in at..at + N {
        match text.get(index).map(|byte| char::from(*byte).to_digit(16)) {
            Some(Some(digit)) => value = value * 16 + digit,
            Some(None) => return Digits::Other,
            None => return Digits::Unfinished,
        }
    }
    Digits::Value(value)
}

fn backslash(text: &[u8]) -> Unescaped {
    let Some(letter) = text.get(1) else { return Unescaped::Unfinished };
    match letter {
        b'n' => means(Some(Meaning::byte(b'\n')), 2),
        b'r' => means(Some(Meaning::byte(b'\r')), 2),
        b't' => means(Some(Meaning::byte(b'\t')), 2),
        b'b' => means(Some(Meaning::byte(8)), 2),
        b'f' => means(Some(Meaning::byte(12)), 2),
        b'x' => match hex_digits::<2>(text, 2) {
            Digits::Value(value) => means(u8::try_from(value).ok().map(Meaning::byte), 4),
            Digits::Other => Unescaped::Plain,
            Digits::Unfinished => Unescaped::Unfinished,
        },
        b'u' if text.get(2) == Some(&b'{') => braced(text),
        b'u' => match hex_digits::<4>(text, 2) {
            Digits::Value(high @ 0xd800..=0xdbff) => surrogates(text, high),
            Digits::Value(value) => means(char::from_u32(value).map(Meaning::character), 6),
            Digits::Other => Unescaped::Plain,
            Digits::Unfinished => Unescaped::Unfinished,
        },
        // Shells put a backslash before everything that means something to them.
        other if other.is_ascii_punctuation() || *other == b' ' => means(Some(Meaning::byte(*other)), 2),
        _ => Unescaped::Plain,
    }
}

/// `\ud83d\ude00`: one character in two escapes.
fn surrogates(text: &[u8], high: u32) -> Unescaped {
    let next = text.get(6..).unwrap_or_default();
    if next.is_empty() || next == b"\\" {
        return Unescaped::Unfinished;
    }
    if !next.starts_with(b"\\u") {
        return Unescaped::Plain;
    }
    match hex_digits::<4>(next, 2) {
        Digits::Value(low @ 0xdc00..=0xdfff) => {
            let value = 0x1_0000 + ((high - 0xd800) << 10 | (low - 0xdc00));
            means(char::from_u32(value).map(Meaning::character), 12)
        }
        Digits::Value(_) | Digits::Other => Unescaped::Plain,
        Digits::Unfinished => Unescaped::Unfinished,
    }
}

/// `\u{1f600}`, as JavaScript and Rust write it.
fn braced(text: &[u8]) -> Unescaped {
    let digits = text.iter().skip(3).take(7).position(|byte| !byte.is_ascii_hexdigit());
    match digits {
        Some(count @ 1..=6) if text.get(3 + count) == Some(&b'}') => {
            let value = number(text.get(3..3 + count).unwrap_or_default(), 16);
            means(value.and_then(char::from_u32).map(Meaning::character), 4 + count)
        }
        None if text.len() < 10 => Unescaped::Unfinished,
        _ => Unescaped::Plain,
    }
}

fn reference(text: &[u8]) -> Unescaped {
    let head = text.get(..text.len().min(MAX_REFERENCE)).unwrap_or_default();
    let inside = head.get(1..).unwrap_or_default();
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'#';
    let Some(length) = inside.iter().position(|byte| !part(byte)) else {
        return if head.len() < MAX_REFERENCE { Unescaped::Unfinished } else { Unescaped::Plain };
    };
    if inside.get(length) != Some(&b';') {
        return Unescaped::Plain;
    }
    let character = match inside.get(..length).unwrap_or_default() {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16).and_then(char::from_u32),
        [b'#', digits @ ..] => number(digits, 10).and_then(char::from_u32),
        name => entity::named(name),
    };
    means(character.map(Meaning::character), length + 2)
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(digits).ok()?, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(escape: Escape, text: &str, expected: Option<(&str, usize)>) {
        match (escape.read(text.as_bytes()), expected) {
            (Unescaped::Means { bytes, length }, Some((meaning, read))) => {
                assert_eq!((bytes.as_bytes(), length), (meaning.as_bytes(), read), "{text}");
            }
            (Unescaped::Plain, None) => {}
            (Unescaped::Unfinished, None) => assert!(!text.ends_with('!'), "{text} is long enough"),
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn escapes_are_read_in_all_their_spellings() {
        check(Escape::Percent, "%2Frest", Some(("/", 3)));
        check(Escape::Percent, "%2frest", Some(("/", 3)));
        check(Escape::Percent, "%2", None);
        check(Escape::Percent, "%20 % off!", Some((" ", 3)));
        check(Escape::Percent, "% off!", None);
        check(Escape::Backslash, r"\u00e9t", Some(("é", 6)));
        check(Escape::Backslash, r"\u{e9}t", Some(("é", 6)));
        check(Escape::Backslash, r"\x41t", Some(("A", 4)));
        check(Escape::Backslash, r"\ud83e\udd80", Some(("🦀", 12)));
        check(Escape::Backslash, r"\ud83e\n!", None);
        check(Escape::Backslash, r"\ud83e\u", None);
        check(Escape::Backslash, r"\/", Some(("/", 2)));
        check(Escape::Backslash, r"\\n", Some(("\\", 2)));
        check(Escape::Backslash, r"\d!", None);
        check(Escape::Reference, "&amp;amp;", Some(("&", 5)));
        check(Escape::Reference, "&#039;", Some(("'", 6)));
        check(Escape::Reference, "&#x27;", Some(("'", 6)));
        check(Escape::Reference, "&#X1F980;", Some(("🦀", 9)));
        check(Escape::Reference, "&eacute;", Some(("é", 8)));
        check(Escape::Reference, "&text = other!", None);
        check(Escape::Reference, "&unknown;!", None);
        check(Escape::Reference, "&#x2", None);
        check(Escape::Reference, "&#x110000;!", None);
    }
}
