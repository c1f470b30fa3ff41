//! Secrets that nobody stored, known by their format.
//!
//! The sieve looks at every three bytes of a text and says which formats may begin there; then the format itself is
//! read at that place. Each place is judged by itself, from at most [`LOOK_BACK`] bytes before it on, and no format
//! reads a byte more than a few times: hostile text takes no longer than other text.

mod assignment;
mod authorization;
mod card;
mod class;
mod cursor;
mod extent;
mod issued;
mod jwt;
mod kind;
mod pem;
mod sieve;
mod telegram;
mod userinfo;

pub(super) use assignment::named_value;
pub(super) use class::{Class, Runs};
pub(super) use extent::Extent;
pub(super) use kind::Kind;

use super::find::Found;
use super::text::{End, Text};

/// How far before a place a format may have to look to know what begins there.
pub(super) const LOOK_BACK: usize = 64;

/// Which formats count as secrets without being stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patterns {
    /// None: only stored values are hidden. For a terminal, whose reader typed the rest.
    None,
    /// Keys, tokens and passwords.
    Keys,
    /// Those, and numbers of payment cards.
    #[default]
    All,
}

/// Adds everything in `text` that has to be hidden. Private keys that begin before `known_key` are known already.
pub(super) fn find(patterns: Patterns, text: &Text<'_>, known_key: usize, found: &mut Found) {
    match patterns {
        Patterns::None => return,
        Patterns::Keys => {}
        Patterns::All => card::find(text, found),
    }
    sieve::find(text, known_key, found);
    if text.end() == End::Open {
        sieve::wait(text, found);
        telegram::wait(text, found);
    }
}
