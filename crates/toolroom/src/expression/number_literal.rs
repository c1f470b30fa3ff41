//! The digits of a number to its value.

use super::error::ExpressionProblem as Problem;
use super::lexer::{TokenKind, quoted};

/// An int; other radices than 10 have a prefix of two characters.
pub(super) fn int(source: &str, radix: u32) -> Result<TokenKind, Problem> {
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

pub(super) fn float(source: &str) -> Result<TokenKind, Problem> {
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
