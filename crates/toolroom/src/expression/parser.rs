//! Tokens to a tree: a Pratt parser.

use std::collections::BTreeSet;

use super::binding::{Binding, WORD_OPERATORS, infix, prefix};
use super::error::{ExpressionError, ExpressionProblem as Problem};
use super::functions::{self, IF};
use super::lexer::{Symbol, Token, TokenKind, lex};
use super::limits::{MAX_DEPTH, MAX_LIST_ITEMS};
use super::number::Number;
use super::tree::{Key, Link, Literal, Node, NodeKind, Prefix, constant};

/// The tree of an expression and the root names in it.
pub(super) fn parse(text: &str) -> Result<(Node, BTreeSet<String>), ExpressionError> {
    let tokens = lex(text)?;
    if tokens.is_empty() {
        return Err(Problem::Empty.at(1));
    }
    let end = text.chars().count() + 1;
    let mut parser = Parser { tokens, next: 0, end, depth: 0, roots: BTreeSet::new() };
    let node = parser.expression(Binding::Or)?;
    match parser.peek() {
        None => Ok((node, parser.roots)),
        Some(found) => Err(parser.unexpected(found)),
    }
}

/// A bracket that waits for its other half.
#[derive(Clone, Copy)]
struct Opened {
    bracket: char,
    closing: Symbol,
    position: usize,
}

impl Opened {
    fn parenthesis(position: usize) -> Self {
        Self { bracket: '(', closing: Symbol::CloseParenthesis, position }
    }

    fn bracket(position: usize) -> Self {
        Self { bracket: '[', closing: Symbol::CloseBracket, position }
    }
}

struct Parser<'a> {
    tokens: Vec<Token<'a>>,
    next: usize,
    /// The position after the last character, where a missing token is reported.
    end: usize,
    depth: usize,
    roots: BTreeSet<String>,
}

/// Every level of recursion goes through `expression`, so its depth bounds the parser and the tree.
impl<'a> Parser<'a> {
    /// A value and all operators after it that bind at least as tight as asked.
    fn expression(&mut self, least: Binding) -> Result<Node, ExpressionError> {
        if self.depth == MAX_DEPTH {
            return Err(Problem::TooDeep.at(self.position()));
        }
        self.depth += 1;
        let first = self.operand()?;
        let links = self.links(least)?;
        self.depth -= 1;
        if links.is_empty() {
            return Ok(first);
        }
        Ok(Node { position: first.position, kind: NodeKind::Chain { first: Box::new(first), links } })
    }

    fn links(&mut self, least: Binding) -> Result<Vec<Link>, ExpressionError> {
        let mut links: Vec<Link> = Vec::new();
        while let Some(token) = self.peek() {
            let Some((operator, width)) = infix(token, self.tokens.get(self.next + 1)) else {
                break;
            };
            let (binding, position) = (Binding::of(operator), token.position);
            if binding < least {
                break;
            }
            let repeats = links.last().is_some_and(|link| Binding::of(link.operator) == binding);
            if repeats && binding == Binding::Comparison {
                return Err(Problem::ChainedComparison { found: token.quoted() }.at(position));
            }
            self.next += width;
            let right = self.expression(binding.of_right_side())?;
            links.push(Link { position, operator, right });
        }
        Ok(links)
    }

    fn operand(&mut self) -> Result<Node, ExpressionError> {
        let Some(operator) = self.peek().and_then(prefix) else {
            return self.value();
        };
        let position = self.position();
        self.next += 1;
        if operator == Prefix::Minus && self.take_lowest_int() {
            let lowest = Literal::Number(Number::Int(i64::MIN));
            return Ok(Node { position, kind: NodeKind::Literal(lowest) });
        }
        let operand = Box::new(self.expression(Binding::of_prefix(operator))?);
        Ok(Node { position, kind: NodeKind::Prefix { operator, operand } })
    }

    /// Whether the number after a minus sign is 2^63 and belongs to that sign and to no power.
    fn take_lowest_int(&mut self) -> bool {
        let is_lowest = self.peek().is_some_and(|token| token.kind == TokenKind::LowestIntWithoutSign);
        let after = self.tokens.get(self.next + 1);
        let taken = is_lowest && after.is_none_or(|token| token.kind != TokenKind::Symbol(Symbol::Power));
        self.next += usize::from(taken);
        taken
    }

    fn value(&mut self) -> Result<Node, ExpressionError> {
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Symbol(Symbol::OpenParenthesis)) => self.parentheses(),
            Some(TokenKind::Symbol(Symbol::OpenBracket)) => self.list(),
            Some(TokenKind::Word) => self.word(),
            _ => self.literal(),
        }
    }

    fn literal(&mut self) -> Result<Node, ExpressionError> {
        let position = self.position();
        let literal = match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Int(int)) => Literal::Number(Number::Int(*int)),
            Some(TokenKind::Float(float)) => Literal::Number(Number::Float(*float)),
            Some(TokenKind::Text(text)) => Literal::Text(text.clone()),
            Some(TokenKind::LowestIntWithoutSign) => {
                return Err(Problem::IntTooLarge(self.found().unwrap_or_default()).at(position));
            }
            Some(TokenKind::Word | TokenKind::Symbol(_)) | None => return Err(self.expected_value()),
        };
        self.next += 1;
        Ok(Node { position, kind: NodeKind::Literal(literal) })
    }

    fn list(&mut self) -> Result<Node, ExpressionError> {
        let position = self.position();
        self.next += 1;
        let items = self.items(Opened::bracket(position))?;
        self.path(Node { position, kind: NodeKind::List(items) })
    }

    fn parentheses(&mut self) -> Result<Node, ExpressionError> {
        let position = self.position();
        self.next += 1;
        if self.take(Symbol::CloseParenthesis) {
            return Err(Problem::EmptyParentheses.at(position));
        }
        let node = self.expression(Binding::Or)?;
        self.close(Opened::parenthesis(position))?;
        self.path(node)
    }

    /// A constant, a root name or a call.
    fn word(&mut self) -> Result<Node, ExpressionError> {
        let position = self.position();
        let word = self.peek().map_or("", |token| token.source);
        if let Some(literal) = constant(word) {
            self.next += 1;
            return Ok(Node { position, kind: NodeKind::Literal(literal) });
        }
        let is_call = self.tokens.get(self.next + 1).is_some_and(Token::is_open_parenthesis);
        if WORD_OPERATORS.contains(&word) && !(is_call && functions::is_name(word)) {
            return Err(self.expected_value());
        }
        self.next += 1;
        let kind = if is_call {
            check_function(word, position)?;
            let opened = Opened::parenthesis(self.position());
            self.next += 1;
            let arguments = self.items(opened)?;
            call(word, arguments).map_err(|problem| problem.at(position))?
        } else {
            self.roots.insert(word.to_owned());
            NodeKind::Name(word.to_owned())
        };
        self.path(Node { position, kind })
    }

    /// The values up to the closing bracket.
    fn items(&mut self, opened: Opened) -> Result<Vec<Node>, ExpressionError> {
        let mut items = Vec::new();
        if self.take(opened.closing) {
            return Ok(items);
        }
        loop {
            if items.len() == MAX_LIST_ITEMS {
                return Err(Problem::TooManyItems.at(self.position()));
            }
            items.push(self.expression(Binding::Or)?);
            if !self.take(Symbol::Comma) {
                self.close(opened)?;
                return Ok(items);
            }
        }
    }

    /// The value with the keys that follow it.
    fn path(&mut self, base: Node) -> Result<Node, ExpressionError> {
        let mut keys = Vec::new();
        loop {
            let position = self.position();
            if self.take(Symbol::Dot) {
                let Some(word) = self.peek().filter(|token| token.kind == TokenKind::Word) else {
                    return Err(Problem::ExpectedKey { found: self.found() }.at(self.position()));
                };
                keys.push(Key::Name(word.source.to_owned()));
                self.next += 1;
            } else if self.take(Symbol::OpenBracket) {
                keys.push(Key::Index(self.expression(Binding::Or)?));
                self.close(Opened::bracket(position))?;
            } else if keys.is_empty() {
                return Ok(base);
            } else {
                let position = base.position;
                return Ok(Node { position, kind: NodeKind::Path { base: Box::new(base), keys } });
            }
        }
    }

    fn close(&mut self, opened: Opened) -> Result<(), ExpressionError> {
        if self.take(opened.closing) {
            return Ok(());
        }
        match self.peek() {
            Some(token) if !token.is_closing() => Err(self.unexpected(token)),
            _ => {
                let Opened { bracket, closing, position } = opened;
                let expected = if closing == Symbol::CloseParenthesis { ')' } else { ']' };
                let found = self.found();
                let problem =
                    Problem::ExpectedClosing { expected, opened: bracket, opened_at: position, found };
                Err(problem.at(self.position()))
            }
        }
    }

    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.next)
    }

    fn last(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.next.checked_sub(1)?)
    }

    fn take(&mut self, symbol: Symbol) -> bool {
        let taken = self.peek().is_some_and(|token| token.kind == TokenKind::Symbol(symbol));
        self.next += usize::from(taken);
        taken
    }

    fn position(&self) -> usize {
        self.peek().map_or(self.end, |token| token.position)
    }

    fn found(&self) -> Option<String> {
        self.peek().map(Token::quoted)
    }

    fn expected_value(&self) -> ExpressionError {
        let after = self.last().map(Token::quoted);
        Problem::ExpectedValue { after, found: self.found() }.at(self.position())
    }

    /// The error about a token that cannot follow a value.
    fn unexpected(&self, found: &Token<'a>) -> ExpressionError {
        Problem::unexpected(self.last(), found).at(found.position)
    }
}

/// Checked before the arguments, so that an unknown name is reported first.
fn check_function(name: &str, position: usize) -> Result<(), ExpressionError> {
    if functions::is_name(name) { Ok(()) } else { Err(Problem::unknown_function(name).at(position)) }
}

fn call(name: &str, arguments: Vec<Node>) -> Result<NodeKind, Problem> {
    if let Some(function) = functions::find(name) {
        function.accept(arguments.len())?;
        return Ok(NodeKind::Call { function, arguments });
    }
    let found = arguments.len();
    match <[Node; 3]>::try_from(arguments) {
        Ok(branches) => Ok(NodeKind::If(Box::new(branches))),
        Err(_) => Err(functions::wrong_count(IF, 3, 3, found)),
    }
}
