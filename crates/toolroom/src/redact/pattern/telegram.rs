//! Telegram bot tokens: the bot's number, a colon, 35 characters.

use super::super::matches::Matches;
use super::super::text::Text;
use super::byte_class::ByteClass;
use super::cursor::{Cursor, Hit, Miss};
use super::format::SecretFormat;

const SECRET_LENGTH: usize = 35;

/// How many digits the number of a bot may have.
const NUMBER: std::ops::RangeInclusive<usize> = 6..=12;

/// `at` is the digit before the colon.
pub(super) fn check(text: &Text<'_>, at: usize) -> Result<Hit, Miss> {
    let start = number_start(text, at + 1).ok_or(Miss::Other)?;
    if !NUMBER.contains(&(at + 1 - start)) {
        return Err(Miss::Other);
    }
    let mut cursor = Cursor::new(text, start);
    cursor.at = at + 2;
    cursor.run(ByteClass::Token, SECRET_LENGTH..=SECRET_LENGTH)?;
    Ok(cursor.hide_to_here(SecretFormat::TelegramToken, start))
}

/// Marks a number at the end, which may be a bot's.
pub(super) fn wait(text: &Text<'_>, found: &mut Matches) {
    let colon = usize::from(text.bytes().ends_with(b":"));
    if let Some(start) = number_start(text, text.bytes().len() - colon) {
        found.wait(start);
    }
}

/// Where the number that ends at `end` starts.
fn number_start(text: &Text<'_>, end: usize) -> Option<usize> {
    let before = text.slice(end.saturating_sub(NUMBER.end() + 1), end);
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let start = end - digits;
    ((1..=*NUMBER.end()).contains(&digits) && text.is_edge(start)).then_some(start)
}
