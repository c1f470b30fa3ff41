//! JSON web tokens: base64url parts with dots between them, of which the first is an object.

use super::super::text::Text;
use super::class::Class;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::Extent;
use super::kind::Kind;

/// How an object begins in base64: `{"`.
pub(super) const OBJECT: &str = "eyJ";

/// A header says at least `{"alg":""}`; with certificates in it, it may be long.
const HEADER: std::ops::RangeInclusive<usize> = 10..=4096;

/// A payload that is no object, and is not encrypted, is rare and short.
const OTHER_PAYLOAD: std::ops::RangeInclusive<usize> = 0..=4096;

/// The signature, or what else comes third, when the payload does not tell that this is a token.
const MIN_THIRD: usize = 16;

pub(super) fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.literal(OBJECT)?;
    if !text.is_edge(at) {
        return Err(Miss::Other);
    }
    cursor.at = at;
    cursor.run(Class::Token, HEADER)?;
    cursor.literal(".")?;
    let mut payload = cursor;
    match payload.literal(OBJECT) {
        Ok(()) => {}
        Err(Miss::Other) => {
            cursor.run(Class::Token, OTHER_PAYLOAD)?;
            cursor.literal(".")?;
            cursor.beginning(Class::Token, MIN_THIRD, MIN_THIRD)?;
        }
        Err(undecided) => return Err(undecided),
    }
    Ok(cursor.hide(Kind::Jwt, at, Extent::Run(Class::Dotted)))
}
