//! What a client shows to be let in: `Authorization: Bearer …`.

use super::super::text::Text;
use super::assignment::{DECIDED, is_code, is_placeholder, looks_secret, separator, spaces};
use super::class::Class;
use super::cursor::{Cursor, Hit, Miss};
use super::extent::Extent;
use super::kind::Kind;

pub(super) const HEADER: &str = "authorization";
pub(super) const BEARER: &str = "bearer";

/// What comes before the secret in a header.
const SCHEMES: &[(&str, Kind)] = &[
    ("bearer ", Kind::BearerToken),
    ("basic ", Kind::Authorization),
    ("token ", Kind::Authorization),
    ("apikey ", Kind::Authorization),
    ("bot ", Kind::Authorization),
];

/// With a scheme before it.
const MIN_VALUE: usize = 8;

/// Without the header, `bearer` is a word as well.
const MIN_ALONE: usize = 16;

/// The header, in whatever notation.
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
    let value = cursor.beginning(Class::Value, MIN_VALUE, DECIDED)?;
    let is_secret = looks_secret(Kind::Authorization, value) && !is_code(text, cursor.at, value);
    if scheme.is_none() && !is_secret || is_placeholder(value) {
        return Err(Miss::Other);
    }
    let kind = scheme.unwrap_or(Kind::Authorization);
    Ok(cursor.hide(kind, cursor.at, Extent::Run(Class::Value)))
}

/// A bearer token outside of its header.
pub(super) fn bearer(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    cursor.word(BEARER)?;
    cursor.any_of(b" ")?.ok_or(Miss::Other)?;
    spaces(&mut cursor)?;
    let value = cursor.beginning(Class::Value, MIN_ALONE, DECIDED)?;
    if !text.is_edge(at) || !looks_secret(Kind::BearerToken, value) || is_placeholder(value) {
        return Err(Miss::Other);
    }
    Ok(cursor.hide(Kind::BearerToken, cursor.at, Extent::Run(Class::Value)))
}
