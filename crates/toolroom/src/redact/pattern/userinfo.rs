//! Passwords in URLs: `scheme://user:password@host`. Only the password is hidden.

use super::super::text::Text;
use super::assignment::is_placeholder;
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::format::SecretFormat;

pub(super) const SLASHES: &str = "://";

/// User, password, host and port together.
const MAX_AUTHORITY: usize = 1024;

pub(super) fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let mut cursor = Cursor::new(text, at);
    if !text.before(at).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return Err(Miss::Other);
    }
    cursor.literal(SLASHES)?;
    let start = cursor.at;
    let authority = cursor.run(ByteClass::Authority, 1..=MAX_AUTHORITY)?;
    // Passwords with an unescaped @ exist; hosts with one do not.
    let host = authority.iter().rposition(|byte| *byte == b'@').ok_or(Miss::Other)?;
    let colon = authority.iter().position(|byte| *byte == b':').ok_or(Miss::Other)?;
    let password = authority.get(colon + 1..host).unwrap_or_default();
    if password.is_empty() || is_placeholder(password) {
        return Err(Miss::Other);
    }
    Ok(Hit { start: start + colon + 1, end: start + host, format: SecretFormat::Password, extent: None })
}
