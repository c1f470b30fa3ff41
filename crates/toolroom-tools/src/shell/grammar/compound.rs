//! Compound commands and functions.

use super::cursor::is_name;
use super::parser::{ParseResult, Parser};
use super::tree::{Arm, ArmEnd, Body, Command, Position, Script, Word};

/// Words that are reserved where a command begins.
pub(super) const RESERVED: [&str; 22] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "in", "function", "coproc", "time", "{", "}", "!", "[[", "]]",
];

impl Parser<'_> {
    /// Parses a compound command, if one begins here.
    pub(super) fn compound(&mut self) -> ParseResult<Option<Body>> {
        let body = match self.cursor.peek() {
            Some(b'(') if self.cursor.starts_with("((") => {
                self.cursor.at += 2;
                Body::Arithmetic(self.arithmetic_to_double()?)
            }
            Some(b'(') => {
                self.cursor.at += 1;
                let script = self.subshell()?;
                Body::Subshell(script)
            }
            Some(b'{') if self.eat_word("{") => {
                let script = self.some()?;
                self.expect_word("}", "a `{` without its `}`")?;
                Body::Group(script)
            }
            Some(b'[') if self.eat_word("[[") => self.test_command()?,
            Some(b'i') if self.eat_word("if") => self.conditional()?,
            Some(b'w') if self.eat_word("while") => self.repetition(false)?,
            Some(b'u') if self.eat_word("until") => self.repetition(true)?,
            Some(b'f') if self.eat_word("for") => self.iteration(false)?,
            Some(b's') if self.eat_word("select") => self.iteration(true)?,
            Some(b'c') if self.eat_word("case") => self.case()?,
            Some(b'f') if self.eat_word("function") => {
                self.blanks();
                let name = self.cursor.plain_word();
                self.cursor.at += name.len();
                self.blanks();
                if self.eat_operator("(")? {
                    self.blanks();
                    if !self.cursor.eat(")") {
                        return self.cursor.error("a `(` without its `)`");
                    }
                }
                self.function(name)?
            }
            Some(b'c') if self.eat_word("coproc") => {
                self.blanks();
                Body::Coproc(Box::new(self.nested(Self::command)?))
            }
            _ => return Ok(None),
        };
        Ok(Some(body))
    }

    fn subshell(&mut self) -> ParseResult<Script> {
        let script = self.some()?;
        match self.cursor.eat(")") {
            true => Ok(script),
            false => self.cursor.error("a `(` without its `)`"),
        }
    }

    /// Parses a function definition after its name.
    pub(super) fn function(&mut self, name: &str) -> ParseResult<Body> {
        let plain = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'+' | b'@')
        };
        if name.is_empty() || !name.bytes().all(plain) || RESERVED.contains(&name) {
            return self.cursor.error("no name of a function");
        }
        self.lines()?;
        let position = Position(self.position());
        let body = self.nested(Self::command)?;
        match body.body {
            Body::Simple(_) | Body::Function { .. } | Body::Coproc(_) => {
                self.cursor.error("a function without a body in brackets")
            }
            _ => Ok(Body::Function { name: name.to_owned(), body: Box::new(Command { position, ..body }) }),
        }
    }

    fn conditional(&mut self) -> ParseResult<Body> {
        let mut branches = Vec::new();
        loop {
            let condition = self.some()?;
            self.expect_word("then", "an `if` without its `then`")?;
            branches.push((condition, self.some()?));
            if self.eat_word("elif") {
                continue;
            }
            let otherwise = if self.eat_word("else") { Some(self.some()?) } else { None };
            self.expect_word("fi", "an `if` without its `fi`")?;
            return Ok(Body::If(branches, otherwise));
        }
    }

    fn repetition(&mut self, until: bool) -> ParseResult<Body> {
        let condition = self.some()?;
        let body = self.done()?;
        Ok(Body::Loop { until, condition, body })
    }

    /// `do … done`
    fn done(&mut self) -> ParseResult<Script> {
        self.expect_word("do", "a loop without its `do`")?;
        let body = self.some()?;
        self.expect_word("done", "a loop without its `done`")?;
        Ok(body)
    }

    fn iteration(&mut self, select: bool) -> ParseResult<Body> {
        self.blanks();
        if !select && self.cursor.starts_with("((") {
            return self.count();
        }
        let name = self.cursor.plain_word();
        if !is_name(name) {
            return self.cursor.error("a loop without the name of a variable");
        }
        self.cursor.at += name.len();
        self.lines()?;
        let mut words = None;
        if self.eat_word("in") {
            let mut found = Vec::new();
            loop {
                self.blanks();
                match self.word()? {
                    Some(word) => found.push(word),
                    None => break,
                }
            }
            words = Some(found);
            if !matches!(self.cursor.peek(), Some(b';' | b'\n')) {
                return self.cursor.error("the words of a loop without an end");
            }
        }
        self.loop_separator()?;
        let body = self.done()?;
        Ok(Body::For { select, name: name.to_owned(), words, body })
    }

    fn loop_separator(&mut self) -> ParseResult<()> {
        self.blanks();
        if self.cursor.peek() == Some(b';') {
            self.eat_operator(";")?;
        }
        self.lines()
    }

    fn count(&mut self) -> ParseResult<Body> {
        self.cursor.at += 2;
        let first = self.arithmetic_to_semicolon()?;
        let second = self.arithmetic_to_semicolon()?;
        let header = [first, second, self.arithmetic_to_double()?];
        self.loop_separator()?;
        let body = self.done()?;
        Ok(Body::Count { header, body })
    }

    fn case(&mut self) -> ParseResult<Body> {
        self.blanks();
        let word = self.expect_any_word()?;
        self.lines()?;
        self.expect_word("in", "a `case` without its `in`")?;
        let mut arms = Vec::new();
        loop {
            self.lines()?;
            if self.eat_word("esac") {
                return Ok(Body::Case { word, arms });
            }
            if self.cursor.peek() == Some(b'(') {
                self.eat_operator("(")?;
                self.blanks();
            }
            let mut patterns = vec![self.expect_any_word()?];
            self.blanks();
            while self.cursor.peek() == Some(b'|') {
                self.eat_operator("|")?;
                self.blanks();
                patterns.push(self.expect_any_word()?);
                self.blanks();
            }
            if !self.cursor.eat(")") {
                return self.cursor.error("a pattern without its `)`");
            }
            let body = self.nested(Self::list)?;
            let end = if self.eat_operator(";;&")? {
                Some(ArmEnd::Compare)
            } else if self.eat_operator(";;")? {
                Some(ArmEnd::Leave)
            } else if self.eat_operator(";&")? {
                Some(ArmEnd::Enter)
            } else {
                None
            };
            arms.push(Arm { patterns, body, end: end.unwrap_or(ArmEnd::Leave) });
            if end.is_none() {
                self.lines()?;
                self.expect_word("esac", "a `case` without its `esac`")?;
                return Ok(Body::Case { word, arms });
            }
        }
    }

    pub(super) fn expect_any_word(&mut self) -> ParseResult<Word> {
        match self.word()? {
            Some(word) => Ok(word),
            None => self.cursor.error("a word is missing"),
        }
    }
}
