//! Secrets of known formats.
//!
//! The scanner finds the formats that may begin at each offset; then the format itself is read there. Each offset is judged
//! on its own with at most [`LOOK_BACK`] bytes before it, and no format reads a byte more than a few times, so hostile text
//! takes no longer than other text.

mod assignment;
mod authorization;
mod byte_class;
mod card;
mod cursor;
mod extent;
mod format;
mod jwt;
mod pem;
mod prefixed_key;
mod scanner;
mod telegram;
mod userinfo;

pub(super) use assignment::named_value;
pub(super) use byte_class::{ByteClass, Runs};
pub(super) use extent::Extent;
pub(super) use format::SecretFormat;

use super::matches::Matches;
use super::text::{Text, TextEnd};

/// Bytes a format may look back to recognise its beginning.
pub(super) const LOOK_BACK: usize = 64;

/// Which formats are hidden without being stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patterns {
    /// Only stored values are hidden: for a terminal whose user typed the rest.
    None,
    /// Keys, tokens and passwords.
    Keys,
    /// Those, and numbers of payment cards.
    #[default]
    All,
}

/// Adds all matches in `text`. Private keys that begin before `known_key` are already handled.
pub(super) fn find(patterns: Patterns, text: &Text<'_>, known_key: usize, found: &mut Matches) {
    match patterns {
        Patterns::None => return,
        Patterns::Keys => {}
        Patterns::All => card::find(text, found),
    }
    scanner::find(text, known_key, found);
    if text.end() == TextEnd::Open {
        scanner::wait(text, found);
        telegram::wait(text, found);
    }
}
