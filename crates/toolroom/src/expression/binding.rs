//! How operators are written and how tight they bind.

use super::lexer::{Symbol, Token, TokenKind};
use super::tree::{Arithmetic, Comparison, Infix, Prefix};

/// The operators that are words, besides `not`.
pub(super) const WORD_OPERATORS: [&str; 4] = ["and", "or", "in", "contains"];

/// How tight an operator holds its operands, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Sign,
    Power,
}

impl Binding {
    pub(super) fn of(operator: Infix) -> Self {
        match operator {
            Infix::Or => Self::Or,
            Infix::And => Self::And,
            Infix::Comparison(_) => Self::Comparison,
            Infix::Arithmetic(Arithmetic::Add | Arithmetic::Subtract) => Self::Sum,
            Infix::Arithmetic(Arithmetic::Power) => Self::Power,
            Infix::Arithmetic(_) => Self::Product,
        }
    }

    pub(super) fn of_prefix(operator: Prefix) -> Self {
        match operator {
            Prefix::Not => Self::Not,
            Prefix::Minus | Prefix::Plus => Self::Sign,
        }
    }

    /// What an operator of the right side must bind at least as tight as.
    ///
    /// One step tighter groups to the left; the same step, as for powers, groups to the right.
    pub(super) fn of_right_side(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Comparison,
            Self::Comparison => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product => Self::Sign,
            Self::Sign | Self::Power => Self::Power,
        }
    }
}

pub(super) fn prefix(token: &Token<'_>) -> Option<Prefix> {
    match token.kind {
        TokenKind::Symbol(Symbol::Minus) => Some(Prefix::Minus),
        TokenKind::Symbol(Symbol::Plus) => Some(Prefix::Plus),
        TokenKind::Symbol(Symbol::Not) => Some(Prefix::Not),
        TokenKind::Word if token.source == "not" => Some(Prefix::Not),
        _ => None,
    }
}

/// The operator that the tokens begin with, and the number of tokens it takes.
pub(super) fn infix(first: &Token<'_>, second: Option<&Token<'_>>) -> Option<(Infix, usize)> {
    let operator = match first.kind {
        TokenKind::Symbol(symbol) => of_symbol(symbol)?,
        TokenKind::Word => match first.source {
            "and" => Infix::And,
            "or" => Infix::Or,
            "in" => Infix::Comparison(Comparison::In),
            "contains" => Infix::Comparison(Comparison::Contains),
            "not" if second.is_some_and(|token| token.source == "in") => {
                return Some((Infix::Comparison(Comparison::NotIn), 2));
            }
            _ => return None,
        },
        _ => return None,
    };
    Some((operator, 1))
}

fn of_symbol(symbol: Symbol) -> Option<Infix> {
    Some(match symbol {
        Symbol::Plus => Infix::Arithmetic(Arithmetic::Add),
        Symbol::Minus => Infix::Arithmetic(Arithmetic::Subtract),
        Symbol::Star => Infix::Arithmetic(Arithmetic::Multiply),
        Symbol::Slash => Infix::Arithmetic(Arithmetic::Divide),
        Symbol::DoubleSlash => Infix::Arithmetic(Arithmetic::FloorDivide),
        Symbol::Percent => Infix::Arithmetic(Arithmetic::Remainder),
        Symbol::Power => Infix::Arithmetic(Arithmetic::Power),
        Symbol::Equal => Infix::Comparison(Comparison::Equal),
        Symbol::NotEqual => Infix::Comparison(Comparison::NotEqual),
        Symbol::Less => Infix::Comparison(Comparison::Less),
        Symbol::LessOrEqual => Infix::Comparison(Comparison::LessOrEqual),
        Symbol::Greater => Infix::Comparison(Comparison::Greater),
        Symbol::GreaterOrEqual => Infix::Comparison(Comparison::GreaterOrEqual),
        Symbol::And => Infix::And,
        Symbol::Or => Infix::Or,
        Symbol::OpenParenthesis
        | Symbol::CloseParenthesis
        | Symbol::OpenBracket
        | Symbol::CloseBracket
        | Symbol::Comma
        | Symbol::Dot
        | Symbol::Not => return None,
    })
}
