//! Text to tokens.

use super::error::{ExpressionError, ExpressionProblem as Problem};
use super::limits::MAX_EXPRESSION_CHARACTERS;

/// Longest part of the expression that a message quotes. Long enough for a whole key, because redaction would not
/// recognise a part of one.
const MAX_QUOTED_CHARACTERS: usize = 200;

#[derive(Clone, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) source: &'a str,
    /// Character of the expression text, counted from 1.
    pub(super) position: usize,
}

impl Token<'_> {
    pub(super) fn quoted(&self) -> String {
        quoted(self.source)
    }

    pub(super) fn is_open_parenthesis(&self) -> bool {
        self.kind == TokenKind::Symbol(Symbol::OpenParenthesis)
    }

    pub(super) fn is_closing(&self) -> bool {
        matches!(self.kind, TokenKind::Symbol(Symbol::CloseParenthesis | Symbol::CloseBracket))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    Int(i64),
    /// 2^63, which only fits an int with a minus sign before it.
    LowestIntWithoutSign,
    Float(f64),
    Text(String),
    /// A name, a function or a word operator: which one depends on where it stands.
    Word,
    Symbol(Symbol),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    OpenParenthesis,
    CloseParenthesis,
    OpenBracket,
    CloseBracket,
    Comma,
    Dot,
    Plus,
    Minus,
    Star,
    Slash,
    DoubleSlash,
    Percent,
    Power,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
    Not,
}

/// Longer symbols stand before those they begin with.
const SYMBOLS: [(&str, Symbol); 30] = [
    ("**", Symbol::Power),
    ("//", Symbol::DoubleSlash),
    ("==", Symbol::Equal),
    ("!=", Symbol::NotEqual),
    ("<=", Symbol::LessOrEqual),
    (">=", Symbol::GreaterOrEqual),
    ("&&", Symbol::And),
    ("||", Symbol::Or),
    ("(", Symbol::OpenParenthesis),
    (")", Symbol::CloseParenthesis),
    ("[", Symbol::OpenBracket),
    ("]", Symbol::CloseBracket),
    (",", Symbol::Comma),
    (".", Symbol::Dot),
    ("+", Symbol::Plus),
    ("-", Symbol::Minus),
    ("−", Symbol::Minus),
    ("*", Symbol::Star),
    ("×", Symbol::Star),
    ("/", Symbol::Slash),
    ("÷", Symbol::Slash),
    ("%", Symbol::Percent),
    ("^", Symbol::Power),
    ("=", Symbol::Equal),
    ("≠", Symbol::NotEqual),
    ("<", Symbol::Less),
    ("≤", Symbol::LessOrEqual),
    (">", Symbol::Greater),
    ("≥", Symbol::GreaterOrEqual),
    ("!", Symbol::Not),
];

pub(super) fn lex(text: &str) -> Result<Vec<Token<'_>>, ExpressionError> {
    if text.chars().nth(MAX_EXPRESSION_CHARACTERS).is_some() {
        return Err(Problem::TooLong.at(MAX_EXPRESSION_CHARACTERS + 1));
    }
    let mut lexer = Lexer { rest: text, position: 1, after_value: false };
    let mut tokens = Vec::new();
    while let Some(token) = lexer.token()? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    rest: &'a str,
    position: usize,
    /// Whether the last token ended a value: `.5` is a number, but in `items.5` the dot is a path.
    after_value: bool,
}

impl<'a> Lexer<'a> {
    fn token(&mut self) -> Result<Option<Token<'a>>, ExpressionError> {
        self.take_while(char::is_whitespace);
        let (start, position) = (self.rest, self.position);
        let Some(first) = start.chars().next() else {
            return Ok(None);
        };
        let kind = if first.is_ascii_digit() || (self.at_fraction() && !self.after_value) {
            self.number()?
        } else if is_word_start(first) {
            self.take_while(is_word);
            TokenKind::Word
        } else if first == '\'' || first == '"' {
            self.text(first)?
        } else {
            self.symbol(first)?
        };
        let source = start.get(..start.len() - self.rest.len()).unwrap_or_default();
        let token = Token { kind, source, position };
        self.after_value = token.is_closing() || !matches!(token.kind, TokenKind::Symbol(_));
        Ok(Some(token))
    }

    fn symbol(&mut self, first: char) -> Result<TokenKind, ExpressionError> {
        let found = SYMBOLS.iter().find(|(spelling, _)| self.rest.starts_with(spelling));
        let (spelling, symbol) =
            found.ok_or_else(|| Problem::UnexpectedCharacter(first).at(self.position))?;
        self.take(spelling.len());
        Ok(TokenKind::Symbol(*symbol))
    }

    fn number(&mut self) -> Result<TokenKind, ExpressionError> {
        let (start, position) = (self.rest, self.position);
        let radix = match start.get(..2) {
            Some("0x" | "0X") => 16,
            Some("0o" | "0O") => 8,
            Some("0b" | "0B") => 2,
            _ => 10,
        };
        let mut is_float = false;
        if radix == 10 {
            self.take_while(is_digit);
            if self.at_fraction() {
                is_float = true;
                self.take(1);
                self.take_while(is_digit);
            }
            if let Some(length) = self.exponent_mark() {
                is_float = true;
                self.take(length);
            }
        }
        // A name glued to a number is part of the malformed number and not a token of its own.
        self.take_while(is_word);
        let source = start.get(..start.len() - self.rest.len()).unwrap_or_default();
        let read = if is_float { float(source) } else { int(source, radix) };
        read.map_err(|problem| problem.at(position))
    }

    /// The length of an `e` or `E` and its sign, if digits follow.
    fn exponent_mark(&self) -> Option<usize> {
        let exponent = self.rest.strip_prefix(['e', 'E'])?;
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        digits.starts_with(|c: char| c.is_ascii_digit()).then_some(self.rest.len() - digits.len())
    }

    fn at_fraction(&self) -> bool {
        self.rest.strip_prefix('.').is_some_and(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))
    }

    fn text(&mut self, quote: char) -> Result<TokenKind, ExpressionError> {
        let opened = self.position;
        let unclosed = || Problem::UnclosedText(quote).at(opened);
        let mut text = String::new();
        self.next_char();
        loop {
            match self.next_char().ok_or_else(unclosed)? {
                '\\' => text.push(self.escape().ok_or_else(unclosed)??),
                c if c == quote => return Ok(TokenKind::Text(text)),
                c => text.push(c),
            }
        }
    }

    /// The character that the escape after a backslash stands for; `None` at the end of the expression.
    fn escape(&mut self) -> Option<Result<char, ExpressionError>> {
        let backslash = self.position - 1;
        let unknown = |escape: String| Some(Err(Problem::UnknownEscape(escape).at(backslash)));
        match self.next_char()? {
            'n' => Some(Ok('\n')),
            'r' => Some(Ok('\r')),
            't' => Some(Ok('\t')),
            c @ ('\\' | '\'' | '"') => Some(Ok(c)),
            'u' => {
                let hex =
                    self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(hex, _)| hex);
                let Some(hex) = hex else {
                    return unknown("\\u".to_owned());
                };
                let digits_only = hex.chars().all(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(hex, 16).ok().filter(|_| digits_only);
                let Some(c) = code.and_then(char::from_u32) else {
                    return unknown(quoted(&format!("\\u{{{hex}}}")));
                };
                self.take(hex.len() + 2);
                Some(Ok(c))
            }
            c => unknown(format!("\\{c}")),
        }
    }

    fn next_char(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.take(next.len_utf8());
        Some(next)
    }

    fn take_while(&mut self, accept: fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|c| !accept(c)).unwrap_or(self.rest.len());
        self.take(length)
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.position += taken.chars().count();
        self.rest = rest;
        taken
    }
}

/// An int; other radices than 10 have a prefix of two characters.
fn int(source: &str, radix: u32) -> Result<TokenKind, Problem> {
    let digits = if radix == 10 { source } else { source.get(2..).unwrap_or_default() };
    if !is_well_separated(digits) || !digits.chars().all(|c| c == '_' || c.is_digit(radix)) {
        return Err(Problem::MalformedNumber(quoted(source)));
    }
    let too_large = |_| Problem::IntTooLarge(quoted(source));
    let magnitude = u64::from_str_radix(&digits.replace('_', ""), radix).map_err(too_large)?;
    if magnitude == i64::MIN.unsigned_abs() {
        return Ok(TokenKind::LowestIntWithoutSign);
    }
    i64::try_from(magnitude).map(TokenKind::Int).map_err(|_| Problem::IntTooLarge(quoted(source)))
}

fn float(source: &str) -> Result<TokenKind, Problem> {
    // The parts beside a point, an exponent mark and a sign; `.5` begins with an empty one.
    let mut parts = source.split(['.', 'e', 'E', '+', '-']);
    let float = source.replace('_', "").parse::<f64>().ok();
    match float.filter(|_| parts.all(|digits| digits.is_empty() || is_well_separated(digits))) {
        None => Err(Problem::MalformedNumber(quoted(source))),
        Some(float) if float.is_finite() => Ok(TokenKind::Float(float)),
        Some(_) => Err(Problem::FloatTooLarge(quoted(source))),
    }
}

/// Whether each `_` stands between two digits.
fn is_well_separated(digits: &str) -> bool {
    digits.split('_').all(|group| !group.is_empty())
}

/// A piece of text as messages show it.
pub(super) fn quoted(source: &str) -> String {
    match source.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{}…", source.get(..end).unwrap_or_default()),
        None => source.to_owned(),
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || c == '_'
}
