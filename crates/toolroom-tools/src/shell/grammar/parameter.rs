//! Expansions that begin with `$`.

use super::cursor::in_name;
use super::parser::{ParseResult, Parser};
use super::test_command::push_bare;
use super::tree::{Parameter, Piece};

const OPERATORS: [&str; 15] = [":-", ":=", ":?", ":+", "-", "=", "?", "+", "#", "%", "/", "^", ",", "@", ":"];

impl Parser<'_> {
    /// Adds the expansion that begins with the `$` at the cursor.
    pub(super) fn dollar(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> ParseResult<()> {
        self.count_piece()?;
        self.cursor.at += 1;
        match self.cursor.peek() {
            Some(b'(') if self.cursor.nth(1) == Some(b'(') => {
                self.cursor.at += 2;
                let inner = self.arithmetic_to_double()?;
                pieces.push(Piece::Arithmetic(inner));
            }
            Some(b'(') => {
                self.cursor.at += 1;
                let script = self.enclosed()?;
                pieces.push(Piece::Substitution(script));
            }
            Some(b'{') => {
                self.cursor.at += 1;
                let parameter = self.nested(|parser| parser.braced(quoted))?;
                pieces.push(Piece::Parameter(Box::new(parameter)));
            }
            Some(b'[') => return self.cursor.error("`$[`, an old form of arithmetic"),
            Some(b'\\') if self.cursor.is_continued() => {
                return self.cursor.error("a `$` that goes on in the next line");
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.cursor.take_while(in_name);
                pieces.push(named(name));
            }
            Some(byte) if byte.is_ascii_digit() || is_sign(byte) => {
                self.cursor.at += 1;
                pieces.push(named(&char::from(byte).to_string()));
            }
            // Printed as `$(…)`, the two would be read together.
            Some(b'`') => return self.cursor.error("a `$` in front of a backquote"),
            _ => push_bare(pieces, "$"),
        }
        Ok(())
    }

    /// `${…}`, after its opening brace.
    fn braced(&mut self, quoted: bool) -> ParseResult<Parameter> {
        let named = |byte: u8| in_name(byte) || matches!(byte, b'@' | b'*');
        let next = self.cursor.nth(1);
        let prefix = match self.cursor.peek() {
            Some(b'#') if next != Some(b'}') => "#",
            Some(b'!') if next.is_some_and(named) => "!",
            _ => "",
        };
        self.cursor.at += prefix.len();
        let name = self.parameter_name()?;
        let mut parameter = Parameter { prefix, name, subscript: None, operator: "", operand: Vec::new() };
        if self.cursor.eat("[") {
            parameter.subscript = Some(self.operand(b']', quoted)?);
        }
        if self.cursor.eat("}") {
            return Ok(parameter);
        }
        if prefix == "#" {
            return self.cursor.error("a length with something behind the name");
        }
        let lists = |sign: &&str| self.cursor.starts_with(sign) && self.cursor.nth(1) == Some(b'}');
        if prefix == "!"
            && parameter.subscript.is_none()
            && let Some(sign) = ["*", "@"].into_iter().find(lists)
        {
            self.cursor.at += 2;
            parameter.operator = sign;
            return Ok(parameter);
        }
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.cursor.starts_with(operator)) else {
            return self.cursor.error("a `${` that is not understood");
        };
        self.cursor.at += operator.len();
        parameter.operator = operator;
        parameter.operand = self.operand(b'}', quoted)?;
        Ok(parameter)
    }

    fn parameter_name(&mut self) -> ParseResult<String> {
        let name = match self.cursor.peek() {
            Some(byte) if byte.is_ascii_digit() => self.cursor.take_while(|byte| byte.is_ascii_digit()),
            Some(byte) if in_name(byte) => self.cursor.take_while(in_name),
            Some(byte) if is_sign(byte) => {
                self.cursor.at += 1;
                return Ok(char::from(byte).to_string());
            }
            _ => return self.cursor.error("a `${` without a name"),
        };
        Ok(name.to_owned())
    }

    /// Parses up to and including `end`.
    fn operand(&mut self, end: u8, quoted: bool) -> ParseResult<Vec<Piece>> {
        let mut pieces = Vec::new();
        loop {
            let plain = |byte: u8| {
                byte != end
                    && !matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`' | b'<' | b'>' | b'[' | b'\n')
            };
            let run = self.cursor.take_while(plain);
            if !run.is_empty() {
                push_bare(&mut pieces, run);
            }
            match self.cursor.peek() {
                None => return self.cursor.error("a `${` without its end"),
                Some(byte) if byte == end => {
                    self.cursor.at += 1;
                    return Ok(pieces);
                }
                Some(b'[') if end == b']' => return self.cursor.error("brackets in brackets"),
                Some(b'\n') if end == b']' => return self.cursor.error("a line that ends in brackets"),
                Some(b'<' | b'>') if self.cursor.nth(1) == Some(b'(') => {
                    return self.cursor.error("`<(` in a parameter");
                }
                Some(byte @ (b'<' | b'>' | b'[' | b'\n')) => {
                    self.cursor.at += 1;
                    push_bare(&mut pieces, char::from(byte).encode_utf8(&mut [0; 4]));
                }
                Some(b'\'') if quoted => {
                    return self.cursor.error("a single quote in a parameter in double quotes");
                }
                Some(b'$') if quoted && matches!(self.cursor.nth(1), Some(b'\'' | b'"')) => {
                    return self.cursor.error("a `$` in front of a quote in double quotes");
                }
                Some(b'`') if quoted => {
                    return self.cursor.error("a backquote in a parameter in double quotes");
                }
                Some(_) => self.unquoted_or_dollar(&mut pieces, quoted)?,
            }
        }
    }

    fn unquoted_or_dollar(&mut self, pieces: &mut Vec<Piece>, quoted: bool) -> ParseResult<()> {
        match self.cursor.peek() {
            Some(b'$') if quoted => self.dollar(pieces, true),
            _ => self.unquoted_piece(pieces),
        }
    }
}

const fn is_sign(byte: u8) -> bool {
    matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}

fn named(name: &str) -> Piece {
    let name = name.to_owned();
    let parameter = Parameter { prefix: "", name, subscript: None, operator: "", operand: Vec::new() };
    Piece::Parameter(Box::new(parameter))
}
