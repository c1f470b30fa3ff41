//! Simple commands: assignments, words and redirections.

use super::compound::RESERVED;
use super::cursor::{in_name, is_name};
use super::parser::{ParseResult, Parser};
use super::test_command::push_bare;
use super::tree::{Assignment, Body, Command, Piece, Position, Simple, Word};

/// Builtins whose arguments may be list assignments.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

impl Parser<'_> {
    pub(super) fn simple(&mut self, position: Position) -> ParseResult<Command> {
        self.count_command()?;
        let mut simple = Simple::default();
        let mut redirections = Vec::new();
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                continue;
            }
            let Some(mut word) = self.word()? else { break };
            let declares = simple.words.first().is_some_and(|first| {
                matches!(first.pieces.as_slice(), [Piece::Bare(name)] if DECLARING.contains(&name.as_str()))
            });
            if simple.words.is_empty() || declares {
                self.list_value(&mut word)?;
                if let Some(name) = self.assigned(&word)?
                    && simple.words.is_empty()
                {
                    simple.assignments.push(Assignment { name, word });
                    continue;
                }
            }
            if self.cursor.peek() == Some(b'(') || (simple.words.is_empty() && self.is_before_bracket()) {
                let alone =
                    simple.assignments.is_empty() && redirections.is_empty() && simple.words.is_empty();
                return match word.pieces.as_slice() {
                    [Piece::Bare(name)] if alone => self.defined(position, name),
                    _ => self.cursor.error("a `(` behind a word"),
                };
            }
            if simple.words.is_empty() {
                self.not_reserved(&word)?;
            }
            simple.words.push(word);
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirections.is_empty() {
            return self.cursor.error("a command is missing");
        }
        Ok(Command { position, body: Body::Simple(simple), redirections })
    }

    /// A reserved word reached indirectly would be read differently after printing.
    fn not_reserved(&self, word: &Word) -> ParseResult<()> {
        match word.pieces.as_slice() {
            [Piece::Bare(text)] if RESERVED.contains(&text.as_str()) => {
                self.cursor.error("a reserved word where none belongs")
            }
            _ => Ok(()),
        }
    }

    fn is_before_bracket(&self) -> bool {
        let mut ahead = self.cursor;
        ahead.take_while(|byte| matches!(byte, b' ' | b'\t'));
        ahead.peek() == Some(b'(')
    }

    fn defined(&mut self, position: Position, name: &str) -> ParseResult<Command> {
        self.blanks();
        self.eat_operator("(")?;
        self.blanks();
        if !self.cursor.eat(")") {
            return self.cursor.error("a `(` behind a word");
        }
        let body = self.function(name)?;
        Ok(Command { position, body, redirections: Vec::new() })
    }

    /// `(…)` directly after `name=`.
    fn list_value(&mut self, word: &mut Word) -> ParseResult<()> {
        let ends_in_equals = matches!(word.pieces.last(), Some(Piece::Bare(text)) if text.ends_with('='))
            && word.pieces.len() == 1;
        if !ends_in_equals || self.cursor.peek() != Some(b'(') {
            return Ok(());
        }
        if self.assigned(word)?.is_none() {
            return Ok(());
        }
        self.cursor.at += 1;
        let elements = self.nested(|parser| {
            let mut elements = Vec::new();
            loop {
                parser.lines()?;
                if parser.cursor.eat(")") {
                    return Ok(elements);
                }
                elements.push(parser.expect_any_word()?);
            }
        })?;
        word.pieces.push(Piece::Elements(elements));
        match self.cursor.peek() {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>') => Ok(()),
            _ => self.cursor.error("text behind a list"),
        }
    }

    /// The variable a word assigns to, if any.
    fn assigned(&self, word: &Word) -> ParseResult<Option<String>> {
        let Some(Piece::Bare(text)) = word.pieces.first() else { return Ok(None) };
        let length = text.bytes().position(|byte| !in_name(byte)).unwrap_or(text.len());
        let (Some(name), Some(rest)) = (text.get(..length), text.get(length..)) else { return Ok(None) };
        if !is_name(name) {
            return Ok(None);
        }
        if rest.starts_with('=') || rest.starts_with("+=") {
            return Ok(Some(name.to_owned()));
        }
        if !rest.starts_with('[') {
            return Ok(None);
        }
        // The shell reads on to the `]`, even across spaces.
        match closes(&word.pieces) {
            Some(true) => Ok(Some(name.to_owned())),
            Some(false) => Ok(None),
            None => self.cursor.error("a `[` behind a name without its `]`"),
        }
    }
}

/// Whether a word that begins with `name[` has a `=` after the `]`; `None` if there is no `]`.
fn closes(pieces: &[Piece]) -> Option<bool> {
    let mut flat = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Bare(text) => push_bare(&mut flat, text),
            // Other signs cannot be a bracket of the shell.
            _ => push_bare(&mut flat, "_"),
        }
    }
    let Some(Piece::Bare(text)) = flat.first() else { return None };
    let mut open = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' => open += 1,
            b']' if open == 1 => {
                let rest = text.get(at + 1..).unwrap_or_default();
                return Some(rest.starts_with('=') || rest.starts_with("+="));
            }
            b']' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    None
}
