//! What is known of a word before its expansion.

use crate::shell::grammar::{Braces, Parameter, Piece, alternatives};

/// Stands for an unknown part. Cannot occur in parsed text.
pub(super) const UNKNOWN: char = '\u{fffc}';

/// Where the unknown parts of a word come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Variables, or commands that list names.
    #[default]
    Listed,
    /// Assembled by the line itself, as with `printf`, so it may name anything.
    Composed,
}

/// A word as far as it is known. `~` at the start is the home folder; a quoted one is written `./~`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// The text, with [`UNKNOWN`] for each unknown part.
    pub(super) text: String,
    /// May expand to several words, or none.
    pub(super) splits: bool,
    /// Contains an active `*`, `?` or `[`.
    pub(super) is_glob: bool,
    /// A part is the output of a downloader or decoder.
    pub(super) is_fetched: bool,
    pub(super) origin: Origin,
    /// The results of brace expansion, as far as known.
    pub(super) alternatives: Vec<String>,
}

impl Value {
    pub(super) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// A word about which nothing is known.
    pub(super) fn unknown() -> Self {
        Self { text: UNKNOWN.to_string(), splits: true, ..Self::default() }
    }

    /// The text, if known completely.
    pub(super) fn known(&self) -> Option<&str> {
        (!self.is_dynamic()).then_some(self.text.as_str())
    }

    pub(super) fn is_dynamic(&self) -> bool {
        self.splits || self.text.contains(UNKNOWN)
    }

    /// Its beginning is unknown, so it may be an option.
    pub(super) fn may_be_option(&self) -> bool {
        self.text.starts_with([UNKNOWN, '-']) || self.splits
    }

    /// For display.
    pub(super) fn shown(&self) -> String {
        self.text.replace(UNKNOWN, "…")
    }

    /// Reads a here-document.
    pub(super) fn from_quoted(pieces: &[Piece]) -> Self {
        let mut reading = ValueReader::default();
        pieces.iter().for_each(|piece| reading.piece(piece, true));
        reading.value
    }

    /// Reads an unquoted word. Its substitutions are walked separately.
    pub(super) fn from_pieces(pieces: &[Piece]) -> Self {
        let mut reading = ValueReader::default();
        pieces.iter().for_each(|piece| reading.piece(piece, false));
        let mut value = reading.value;
        if reading.braces.is_expansion() {
            value.alternatives = alternatives(&value.text);
            value.splits = true;
            value.text.push(UNKNOWN);
        }
        value
    }
}

#[derive(Default)]
struct ValueReader {
    value: Value,
    braces: Braces,
    has_bracket: bool,
}

impl ValueReader {
    fn piece(&mut self, piece: &Piece, quoted: bool) {
        let text = &mut self.value.text;
        match piece {
            Piece::Bare(bare) if quoted => self.literal(bare),
            Piece::Bare(bare) => {
                // A `[` alone is a program.
                self.has_bracket |= bare.contains('[');
                self.value.is_glob |= bare.contains(['*', '?']) || (self.has_bracket && bare.contains(']'));
                self.braces.read(bare);
                text.push_str(bare);
            }
            Piece::Escaped(character) => {
                let mut buffer = [0; 4];
                self.literal(character.encode_utf8(&mut buffer));
            }
            Piece::Single(single) => self.literal(single),
            Piece::Double(inner) => inner.iter().for_each(|piece| self.piece(piece, true)),
            Piece::Parameter(parameter) => {
                if is_home(parameter) && text.is_empty() {
                    text.push('~');
                    return;
                }
                text.push(UNKNOWN);
                let is_list = matches!(parameter.name.as_str(), "@" | "*") || parameter.subscript.is_some();
                self.value.splits |= !quoted || is_list || parameter.prefix == "!";
            }
            Piece::Substitution(_) => {
                text.push(UNKNOWN);
                self.value.splits |= !quoted;
            }
            Piece::Arithmetic(_) | Piece::Process { .. } => text.push(UNKNOWN),
            Piece::Elements(_) => {
                text.push(UNKNOWN);
                self.value.splits = true;
            }
        }
    }

    fn literal(&mut self, text: &str) {
        if self.value.text.is_empty() && text.starts_with('~') {
            self.value.text.push_str("./");
        }
        self.value.text.push_str(text);
    }
}

fn is_home(parameter: &Parameter) -> bool {
    parameter.name == "HOME" && parameter.prefix.is_empty() && parameter.operator.is_empty()
}
