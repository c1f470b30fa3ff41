//! JSON Web Tokens: base64url parts separated by dots, the first of them an object.

use super::super::text::Text;
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::Extent;
use super::format::SecretFormat;

/// `{"` in base64, the beginning of an object.
pub(super) const OBJECT: &str = "eyJ";

/// A header has at least `{"alg":""}`, and may contain certificates.
const HEADER: std::ops::RangeInclusive<usize> = 10..=4096;

/// A payload that is no object, and is not encrypted, is rare and short.
const OTHER_PAYLOAD: std::ops::RangeInclusive<usize> = 0..=4096;

/// Minimum length of the third part if the payload is not an object.
const MIN_THIRD: usize = 16;

pub(super) fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.literal(OBJECT)?;
    if !text.is_edge(at) {
        return Err(Miss::Other);
    }
    cursor.at = at;
    cursor.run(ByteClass::Token, HEADER)?;
    cursor.literal(".")?;
    let mut payload = cursor;
    match payload.literal(OBJECT) {
        Ok(()) => {}
        Err(Miss::Other) => {
            cursor.run(ByteClass::Token, OTHER_PAYLOAD)?;
            cursor.literal(".")?;
            cursor.beginning(ByteClass::Token, MIN_THIRD, MIN_THIRD)?;
        }
        Err(undecided) => return Err(undecided),
    }
    Ok(cursor.hide(SecretFormat::Jwt, at, Extent::Run(ByteClass::Dotted)))
}
