//! Lists, chains and pipelines.

use super::parser::{ParseResult, Parser};
use super::tree::{
    Body, Chain, Command, Item, Link, Piece, Pipeline, Position, Redirection, Script, Target, Timed, Word,
};

/// Words that end a list.
const CLOSING: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

impl Parser<'_> {
    /// Parses commands up to the end, a `)`, a `;;` or a closing word.
    pub(super) fn list(&mut self) -> ParseResult<Script> {
        let mut items = Vec::new();
        loop {
            self.lines()?;
            if self.at_list_end() {
                return Ok(Script { items });
            }
            let chain = self.chain()?;
            self.blanks();
            let is_and = self.cursor.starts_with("&&");
            let is_end_of_arm = self.cursor.starts_with(";;") || self.cursor.starts_with(";&");
            let background = !is_and && self.cursor.peek() == Some(b'&') && self.eat_operator("&")?;
            items.push(Item { chain, background });
            if background {
                continue;
            }
            let goes_on = match self.cursor.peek() {
                Some(b'\n') => true,
                Some(b';') => !is_end_of_arm && self.eat_operator(";")?,
                _ => false,
            };
            if !goes_on {
                return Ok(Script { items });
            }
        }
    }

    /// Parses one or more commands.
    pub(super) fn some(&mut self) -> ParseResult<Script> {
        let script = self.nested(Self::list)?;
        match script.items.is_empty() {
            true => self.cursor.error("a command is missing"),
            false => Ok(script),
        }
    }

    fn at_list_end(&self) -> bool {
        match self.cursor.peek() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.cursor.nth(1), Some(b';' | b'&')),
            Some(b't' | b'd' | b'f' | b'e' | b'}') => CLOSING.iter().any(|word| self.at_word(word)),
            Some(_) => false,
        }
    }

    fn chain(&mut self) -> ParseResult<Chain> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let link = if self.eat_operator("&&")? {
                Link::And
            } else if self.eat_operator("||")? {
                Link::Or
            } else {
                return Ok(Chain { first, rest });
            };
            self.lines()?;
            rest.push((link, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> ParseResult<Pipeline> {
        let (mut timed, mut negated) = (None, false);
        loop {
            if self.eat_word("!") {
                negated = !negated;
            } else if self.eat_word("time") {
                self.blanks();
                timed = Some(if self.eat_word("-p") { Timed::Portable } else { Timed::Plain });
                self.blanks();
                if self.at_word("--") || self.cursor.peek() == Some(b'-') {
                    return self.cursor.error("an option of `time` that is not known");
                }
            } else {
                break;
            }
            self.blanks();
        }
        let mut commands = Vec::new();
        loop {
            commands.push(self.nested(Self::command)?);
            self.blanks();
            if self.cursor.starts_with("||") || self.cursor.peek() != Some(b'|') {
                return Ok(Pipeline { timed, negated, commands });
            }
            let with_errors = self.eat_operator("|&")?;
            if with_errors {
                self.count_piece()?;
                if let Some(last) = commands.last_mut() {
                    last.redirections.push(errors_too());
                }
            } else {
                self.eat_operator("|")?;
            }
            self.lines()?;
        }
    }

    /// Parses one command of any kind, with its redirections.
    pub(super) fn command(&mut self) -> ParseResult<Command> {
        let position = Position(self.position());
        if let Some(body) = self.compound()? {
            let mut redirections = Vec::new();
            // Redirections of a function belong to its body.
            let is_whole = matches!(body, Body::Function { .. } | Body::Coproc(_));
            while !is_whole && let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
            }
            self.blanks();
            return match self.cursor.peek() {
                None | Some(b';' | b'&' | b'|' | b')' | b'\n') => {
                    Ok(Command { position, body, redirections })
                }
                _ if self.at_list_end() => Ok(Command { position, body, redirections }),
                _ => self.cursor.error("a word behind a command that is complete"),
            };
        }
        self.simple(position)
    }
}

/// `2>&1`
fn errors_too() -> Redirection {
    let word = Word { position: Position::default(), pieces: vec![Piece::Bare("1".to_owned())] };
    Redirection { descriptor: "2".to_owned(), operator: ">&", target: Target::Word(word) }
}
