//! Authorization headers and bearer tokens: `Authorization: Bearer …`.

use super::super::text::Text;
use super::assignment::{DECIDED, is_code, is_placeholder, looks_secret, separator, spaces};
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::Extent;
use super::format::SecretFormat;

pub(super) const HEADER: &str = "authorization";
pub(super) const BEARER: &str = "bearer";

/// Schemes before the secret in a header.
const SCHEMES: &[(&str, SecretFormat)] = &[
    ("bearer ", SecretFormat::BearerToken),
    ("basic ", SecretFormat::Authorization),
    ("token ", SecretFormat::Authorization),
    ("apikey ", SecretFormat::Authorization),
    ("bot ", SecretFormat::Authorization),
];

/// Minimum length after a scheme.
const MIN_VALUE: usize = 8;

/// Minimum length after `bearer` without the header.
const MIN_ALONE: usize = 16;

/// The header in any notation.
pub(super) fn header(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.word(HEADER)?;
    separator(&mut cursor)?;
    let scheme = match cursor.one_of(SCHEMES) {
        Ok(kind) => Some(kind),
        Err(Miss::Other) => None,
        Err(undecided) => return Err(undecided),
    };
    spaces(&mut cursor)?;
    let value = cursor.beginning(ByteClass::Value, MIN_VALUE, DECIDED)?;
    let is_secret = looks_secret(SecretFormat::Authorization, value) && !is_code(text, cursor.at, value);
    if scheme.is_none() && !is_secret || is_placeholder(value) {
        return Err(Miss::Other);
    }
    let kind = scheme.unwrap_or(SecretFormat::Authorization);
    Ok(cursor.hide(kind, cursor.at, Extent::Run(ByteClass::Value)))
}

/// A bearer token outside of its header.
pub(super) fn bearer(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.word(BEARER)?;
    cursor.any_of(b" ")?.ok_or(Miss::Other)?;
    spaces(&mut cursor)?;
    let value = cursor.beginning(ByteClass::Value, MIN_ALONE, DECIDED)?;
    if !text.is_edge(at) || !looks_secret(SecretFormat::BearerToken, value) || is_placeholder(value) {
        return Err(Miss::Other);
    }
    Ok(cursor.hide(SecretFormat::BearerToken, cursor.at, Extent::Run(ByteClass::Value)))
}
