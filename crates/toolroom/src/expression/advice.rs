//! What was probably meant by what does not belong there.

use super::error::ExpressionProblem as Problem;
use super::functions;
use super::lexer::{Symbol, Token, TokenKind, quoted};
use super::operators::WORD_OPERATORS;
use super::tree::CONSTANTS;
use super::variables::Variables;

/// Longer names are not compared: the distance costs the product of both lengths.
const MAX_COMPARED_BYTES: usize = 64;

/// More names are not compared: variables may be a map of any size.
const MAX_COMPARED_NAMES: usize = 1_000;

/// From this length on, one name that begins with the other is a suggestion: `length` for `len`.
const MIN_PREFIX_BYTES: usize = 3;

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
        TokenKind::Word => nearest(found.source, WORD_OPERATORS).map(did_you_mean),
        _ => None,
    };
    Problem::ExpectedOperator { found: found.quoted(), advice }
}

pub(super) fn unknown_function(name: &str) -> Problem {
    let nearest = nearest(name, functions::names()).map(str::to_owned);
    Problem::UnknownFunction { name: quoted(name), nearest }
}

pub(super) fn unknown_name(name: &str, variables: &dyn Variables) -> Problem {
    let advice = if functions::is_name(name) {
        Some(format!("write {name}(...) to call it"))
    } else {
        let known = variables.names().into_iter().chain(CONSTANTS.map(|(constant, _)| constant));
        nearest(name, known).map(did_you_mean)
    };
    Problem::UnknownName { name: quoted(name), advice }
}

fn did_you_mean(name: &str) -> String {
    format!("did you mean `{name}`?")
}

fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let name = name.to_lowercase();
    // One slip is forgiven in a short name, one in each three characters of a longer one.
    let slips = (name.chars().count() / 3).max(1);
    known
        .into_iter()
        .take(MAX_COMPARED_NAMES)
        .filter(|candidate| candidate.len() <= MAX_COMPARED_BYTES)
        .map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = strsim::osa_distance(&name, &lower);
            let related = shares_beginning(&name, &lower) || distance <= slips && distance < lower.len();
            (candidate, distance, related)
        })
        .filter(|(_, _, related)| *related)
        .min_by_key(|(_, distance, _)| *distance)
        .map(|(candidate, _, _)| candidate)
}

fn shares_beginning(name: &str, candidate: &str) -> bool {
    name.len().min(candidate.len()) >= MIN_PREFIX_BYTES
        && (name.starts_with(candidate) || candidate.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_the_name_that_was_meant() {
        let known = ["sqrt", "len", "max", "true", "e"];
        let check = |name: &str, expected: Option<&str>| assert_eq!(nearest(name, known), expected, "{name}");
        check("sqr", Some("sqrt"));
        check("sqtr", Some("sqrt"));
        check("True", Some("true"));
        check("length", Some("len"));
        check("maximum", Some("max"));
        check("x", None);
        check("banana", None);
        check(&"sqrt".repeat(1000), None);
    }
}
