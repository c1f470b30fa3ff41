//! Errors of expressions, with position and advice.

use std::fmt;

use thiserror::Error;

use super::binding::WORD_OPERATORS;
use super::functions;
use super::lexer::{Symbol, Token, TokenKind, quoted};
use super::limits::{
    MAX_DEPTH, MAX_EXPRESSION_CHARACTERS, MAX_LIST_ITEMS, MAX_PRODUCED_CHARACTERS, MAX_STEPS,
};
use super::tree::CONSTANTS;
use super::value::{Kind, Variables};
use crate::nearest::nearest_one;

/// An expression that could not be read or evaluated: the problem, its place, and advice where there is some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError(Box<Located>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Located {
    problem: ExpressionProblem,
    position: usize,
}

impl ExpressionError {
    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &ExpressionProblem {
        &self.0.problem
    }

    /// The position: the character of the expression text, counted from 1.
    #[must_use]
    pub fn position(&self) -> usize {
        self.0.position
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.problem(), self.position())?;
        match self.problem().advice() {
            Some(advice) => write!(f, ", {advice}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ExpressionError {}

/// The kinds of [`ExpressionError`], without the place.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the message of each variant is its documentation")]
pub enum ExpressionProblem {
    #[error("the expression is empty")]
    Empty,
    #[error("the expression is longer than {MAX_EXPRESSION_CHARACTERS} characters")]
    TooLong,
    #[error("the expression is nested deeper than {MAX_DEPTH} levels")]
    TooDeep,
    #[error("a list or call has more than {MAX_LIST_ITEMS} items")]
    TooManyItems,
    #[error("unexpected character `{0}`")]
    UnexpectedCharacter(char),
    #[error("the text is not closed: expected a second `{0}`")]
    UnclosedText(char),
    #[error("unknown escape `{0}`")]
    UnknownEscape(String),
    #[error("`{0}` is not a number")]
    MalformedNumber(String),
    #[error("the number `{0}` is too large for an int")]
    IntTooLarge(String),
    #[error("the number `{0}` is too large for a float")]
    FloatTooLarge(String),
    #[error("expected a value{}{}", after_text(after), found_text(found))]
    ExpectedValue { after: Option<String>, found: Option<String> },
    #[error("expected an operator, found `{found}`")]
    ExpectedOperator { found: String, advice: Option<String> },
    #[error(
        "expected `{expected}` to close the `{opened}` of character {opened_at}, found {}",
        token_or_end(found)
    )]
    ExpectedClosing { expected: char, opened: char, opened_at: usize, found: Option<String> },
    #[error("expected a name after `.`{}", found_text(found))]
    ExpectedKey { found: Option<String> },
    #[error("nothing between `(` and `)`")]
    EmptyParentheses,
    #[error("`,` outside a list or call")]
    LooseComma,
    #[error("comparisons do not chain: found `{found}` after another comparison")]
    ChainedComparison { found: String },
    #[error("unknown function `{name}`")]
    UnknownFunction { name: String, nearest: Option<String> },
    #[error("`{function}` takes {takes}, found {found}")]
    ArgumentCount { function: &'static str, takes: String, found: usize },
    #[error("unknown name `{name}`")]
    UnknownName { name: String, advice: Option<String> },
    #[error("`{operation}` needs {needs}, found {found}")]
    WrongKind { operation: &'static str, needs: &'static str, found: Kind },
    #[error("`{operation}` needs {needs}, found {left} and {right}")]
    WrongKinds { operation: &'static str, needs: &'static str, left: Kind, right: Kind },
    #[error("`{operation}` needs {needs}, found {found}")]
    WrongValue { operation: &'static str, needs: &'static str, found: String },
    #[error("an index is a text or an int of 0 or more, found {found}")]
    WrongIndex { found: String },
    #[error("division by zero")]
    DivisionByZero,
    #[error("the result of `{operation}` is too large for an int")]
    IntOverflow { operation: &'static str },
    #[error("`{operation}` has no finite real result for {operands}")]
    NotFinite { operation: &'static str, operands: String },
    #[error("`{operation}` would build a text longer than {MAX_PRODUCED_CHARACTERS} characters")]
    TextTooLong { operation: &'static str },
    #[error("the expression takes more than {MAX_STEPS} steps")]
    TooManySteps,
    /// Several expressions share a number of steps, and there are no more.
    #[error("the steps that all expressions of one verdict share are used up")]
    NoStepsLeft,
    #[error("the data is nested too deep to compare or return")]
    DataTooDeep,
    #[error("the condition gave {found}, expected a bool")]
    NotACondition { found: Kind },
}

impl ExpressionProblem {
    pub(super) fn at(self, position: usize) -> ExpressionError {
        ExpressionError(Box::new(Located { problem: self, position }))
    }

    /// The problem with a token that cannot follow a value.
    pub(super) fn unexpected(last: Option<&Token<'_>>, found: &Token<'_>) -> Self {
        let after_number = last.filter(|token| matches!(token.kind, TokenKind::Int(_) | TokenKind::Float(_)));
        let called = [last, Some(found)].into_iter().flatten().find(|token| functions::is_name(token.source));
        let advice = match found.kind {
            TokenKind::Symbol(Symbol::Comma) => return Self::LooseComma,
            TokenKind::Symbol(Symbol::Not) => {
                let number = after_number.map_or("...".to_owned(), Token::quoted);
                Some(format!("write factorial({number}) for a factorial"))
            }
            TokenKind::Symbol(Symbol::Dot) if after_number.is_some() => {
                Some("write digits on both sides of the point".to_owned())
            }
            TokenKind::Symbol(Symbol::OpenParenthesis) => Some("write `*` to multiply".to_owned()),
            _ if found.is_closing() => Some("nothing was opened for it".to_owned()),
            _ if let Some(called) = called => Some(format!("write {}(...) to call it", called.source)),
            TokenKind::Word => nearest_one(found.source, WORD_OPERATORS).map(did_you_mean),
            _ => None,
        };
        Self::ExpectedOperator { found: found.quoted(), advice }
    }

    pub(super) fn unknown_function(name: &str) -> Self {
        let nearest = nearest_one(name, functions::names()).map(str::to_owned);
        Self::UnknownFunction { name: quoted(name), nearest }
    }

    pub(super) fn unknown_name(name: &str, variables: &dyn Variables) -> Self {
        let advice = if functions::is_name(name) {
            Some(format!("write {name}(...) to call it"))
        } else {
            let known = variables.names().into_iter().chain(CONSTANTS.map(|(constant, _)| constant));
            nearest_one(name, known).map(did_you_mean)
        };
        Self::UnknownName { name: quoted(name), advice }
    }

    /// The advice, if there is some.
    fn advice(&self) -> Option<String> {
        let fixed = match self {
            Self::UnexpectedCharacter('?' | ':') => "write if(condition, a, b) for a choice",
            Self::UnexpectedCharacter('&') => "write `and` or `&&`",
            Self::UnexpectedCharacter('|') => "write `or` or `||`",
            Self::UnexpectedCharacter('‘' | '’' | '“' | '”') => "write texts in ' or \"",
            Self::UnknownEscape(_) => "known are \\n \\r \\t \\\\ \\' \\\" and \\u{hex digits}",
            Self::MalformedNumber(_) => "write `*` to multiply and `_` only between digits",
            Self::IntTooLarge(_) => "write a float such as 1e20 for an approximate one",
            Self::EmptyParentheses => "put a value there",
            Self::LooseComma => "write [1, 2] for a list and 1_000 for a thousand",
            Self::ChainedComparison { .. } => "join them with `and`",
            Self::WrongKinds { operation: "+", left: Kind::Text, .. }
            | Self::WrongKinds { operation: "+", right: Kind::Text, .. } => "use text(...) or concat(...)",
            Self::IntOverflow { .. } => "start from a float, as in 2.0^64, for an approximate result",
            Self::ExpectedKey { found: Some(found) } if found.starts_with(|c: char| c.is_ascii_digit()) => {
                return Some(format!("write [{found}] for an item"));
            }
            Self::UnknownFunction { nearest: Some(nearest), .. } => {
                return Some(did_you_mean(nearest));
            }
            Self::ExpectedOperator { advice, .. } | Self::UnknownName { advice, .. } => {
                return advice.clone();
            }
            _ => return None,
        };
        Some(fixed.to_owned())
    }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

fn after_text(after: &Option<String>) -> String {
    after.as_ref().map(|token| format!(" after `{token}`")).unwrap_or_default()
}

fn found_text(found: &Option<String>) -> String {
    found.as_ref().map(|token| format!(", found `{token}`")).unwrap_or_default()
}

fn token_or_end(found: &Option<String>) -> String {
    found.as_ref().map_or("the end".to_owned(), |token| format!("`{token}`"))
}
