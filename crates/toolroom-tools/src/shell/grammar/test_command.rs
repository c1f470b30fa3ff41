//! `[[ … ]]`

use super::parser::{ParseResult, Parser};
use super::tree::{Body, Piece, Position, TestPart, Word};

/// Longer operators come before their prefixes.
const OPERATORS: [&str; 6] = ["&&", "||", "(", ")", "<", ">"];

impl Parser<'_> {
    pub(super) fn test_command(&mut self) -> ParseResult<Body> {
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            self.lines()?;
            if self.eat_word("]]") {
                return match open == 0 && is_sound(&parts) {
                    true => Ok(Body::Test(parts)),
                    false => self.cursor.error("a `[[` that is not understood"),
                };
            }
            if self.eat_word("!") {
                parts.push(TestPart::Operator("!"));
                continue;
            }
            // `<(` begins a word.
            let is_process =
                matches!(self.cursor.peek(), Some(b'<' | b'>')) && self.cursor.nth(1) == Some(b'(');
            let operator = OPERATORS.iter().find(|operator| !is_process && self.cursor.starts_with(operator));
            if let Some(operator) = operator {
                self.eat_operator(operator)?;
                match *operator {
                    "(" => open += 1,
                    ")" if open == 0 => return self.cursor.error("a `)` without its `(`"),
                    ")" => open -= 1,
                    _ => {}
                }
                parts.push(TestPart::Operator(operator));
                continue;
            }
            if self.eat_word("=~") {
                parts.push(TestPart::Word(plain("=~")));
                self.blanks();
                let position = Position(self.position());
                let pieces = self.pattern()?;
                parts.push(TestPart::Word(Word { position, pieces }));
                continue;
            }
            let word = self.expect_any_word()?;
            if self.cursor.peek() == Some(b'(') {
                return self.cursor.error("a pattern with brackets");
            }
            parts.push(TestPart::Word(word));
        }
    }

    /// A regular expression; brackets and bars are part of it.
    fn pattern(&mut self) -> ParseResult<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.cursor.peek() {
                Some(b'(') => open += 1,
                Some(b')') if open == 0 => return self.cursor.error("a `)` without its `(`"),
                Some(b')') => open -= 1,
                Some(b'|') if open > 0 => {}
                Some(b' ' | b'\t' | b'\n') if open == 0 && !pieces.is_empty() => return Ok(pieces),
                None | Some(b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'<' | b'>') => {
                    return self.cursor.error("a regular expression that is not understood");
                }
                Some(_) => {
                    self.word_pieces(&mut pieces)?;
                    continue;
                }
            }
            let bracket = self.cursor.character().map(String::from).unwrap_or_default();
            push_bare(&mut pieces, &bracket);
        }
    }
}

/// Unary operators, written as words.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

/// Binary operators, written as words.
const BINARY: [&str; 13] =
    ["=", "==", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];

/// Whether the parts are terms joined by `&&` and `||`.
fn is_sound(parts: &[TestPart]) -> bool {
    let bare = |part: Option<&TestPart>| match part {
        Some(TestPart::Word(word)) => match word.pieces.as_slice() {
            [Piece::Bare(text)] => Some(text.clone()),
            _ => None,
        },
        _ => None,
    };
    let is_word = |at: usize| matches!(parts.get(at), Some(TestPart::Word(_)));
    let mut at = 0;
    loop {
        while matches!(parts.get(at), Some(TestPart::Operator("!" | "("))) {
            at += 1;
        }
        let unary = bare(parts.get(at)).is_some_and(|text| {
            text.strip_prefix('-').is_some_and(|letter| letter.len() == 1 && UNARY.contains(letter))
        });
        let binary = bare(parts.get(at + 1)).is_some_and(|text| BINARY.contains(&text.as_str()))
            || matches!(parts.get(at + 1), Some(TestPart::Operator("<" | ">")));
        // A word that may be a unary operator is one, regardless of what follows.
        let length = match (unary, binary && is_word(at + 2)) {
            (true, _) => 2,
            (false, true) => 3,
            (false, false) => 1,
        };
        if !is_word(at) || !is_word(at + length - 1) {
            return false;
        }
        at += length;
        while matches!(parts.get(at), Some(TestPart::Operator(")"))) {
            at += 1;
        }
        match parts.get(at) {
            None => return true,
            Some(TestPart::Operator("&&" | "||")) => at += 1,
            Some(_) => return false,
        }
    }
}

fn plain(text: &str) -> Word {
    Word { position: Position::default(), pieces: vec![Piece::Bare(text.to_owned())] }
}

/// Adds literal text.
pub(super) fn push_bare(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        Some(Piece::Bare(last)) => last.push_str(text),
        _ => pieces.push(Piece::Bare(text.to_owned())),
    }
}
