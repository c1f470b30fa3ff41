//! What was probably meant by what does not belong there.

use super::error::ExpressionProblem as Problem;
use super::functions;
use super::lexer::{Symbol, Token, TokenKind, quoted};
use super::operators::WORD_OPERATORS;
use super::tree::CONSTANTS;
use super::variables::Variables;
use crate::nearest::nearest_one;

/// The problem with a token that cannot follow a value.
pub(super) fn unexpected(last: Option<&Token<'_>>, found: &Token<'_>) -> Problem {
    let after_number = last.filter(|token| matches!(token.kind, TokenKind::Int(_) | TokenKind::Float(_)));
    let called = [last, Some(found)].into_iter().flatten().find(|token| functions::is_name(token.source));
    let advice = match found.kind {
        TokenKind::Symbol(Symbol::Comma) => return Problem::LooseComma,
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
    Problem::ExpectedOperator { found: found.quoted(), advice }
}

pub(super) fn unknown_function(name: &str) -> Problem {
    let nearest = nearest_one(name, functions::names()).map(str::to_owned);
    Problem::UnknownFunction { name: quoted(name), nearest }
}

pub(super) fn unknown_name(name: &str, variables: &dyn Variables) -> Problem {
    let advice = if functions::is_name(name) {
        Some(format!("write {name}(...) to call it"))
    } else {
        let known = variables.names().into_iter().chain(CONSTANTS.map(|(constant, _)| constant));
        nearest_one(name, known).map(did_you_mean)
    };
    Problem::UnknownName { name: quoted(name), advice }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}
