//! What of a thread is sent when not all of it fits.
//!
//! The oldest exchanges are left out, whole: an exchange is a person's words and everything up to the next ones, so no
//! call is separated from its result, and the first message sent is a person's. The newest exchange always stays.
//! If it is too large by itself, the largest texts and results in it are shortened, with both ends kept and a mark where
//! something is missing. Nothing that is stored changes: this is about what is sent.

use std::borrow::Borrow;
use std::sync::Arc;

use serde_json::Value;

use super::tokens;
use crate::call::{shorten, shorten_text};
use crate::model::{Block, Message, Role};
use crate::schema::parse_object;

/// What of a thread is sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Trimmed {
    /// The first message that is sent; all behind it are.
    pub first: usize,
    /// Messages that are sent in a shorter form, by their places.
    pub shortened: Vec<(usize, Message)>,
    /// The estimate of what is sent.
    pub tokens: u64,
}

impl Trimmed {
    /// The messages that are sent.
    pub(super) fn sent<M: Clone + From<Message>>(self, messages: &[M]) -> Vec<M> {
        let mut shortened = self.shortened.into_iter().peekable();
        let sent = messages.iter().enumerate().skip(self.first).map(|(at, message)| {
            match shortened.next_if(|(place, _)| *place == at) {
                Some((_, shorter)) => shorter.into(),
                None => message.clone(),
            }
        });
        sent.collect()
    }
}

/// The newest exchange does not fit, however short it is made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the last message and what followed from it take about {needed} tokens, and there is room for {room}; \
     send less at once, or choose a model with a larger window"
)]
pub(super) struct TooLarge {
    /// The least it takes, as estimated.
    pub needed: u64,
    /// What there is room for.
    pub room: u64,
}

/// The least tokens of a shortened text. Shorter texts are useless to a model.
const SHORTEST: u64 = 60;

/// Chooses what is sent of a repaired thread. `sizes` are the [estimates](tokens::message) of its messages, and `room`
/// is in the same measure: what the window has left beside the system prompt, the tools and the answer.
///
/// # Errors
/// When not even the newest exchange fits in its shortest form.
pub(super) fn trim<M: Borrow<Message>>(
    messages: &[M],
    sizes: &[u64],
    room: u64,
) -> Result<Trimmed, TooLarge> {
    let mut first = 0;
    let mut size = sizes.iter().sum::<u64>();
    let starts = messages.iter().enumerate().filter(|(_, message)| begins_exchange((*message).borrow()));
    for (start, _) in starts {
        if size <= room {
            break;
        }
        size -= sizes.get(first..start).unwrap_or_default().iter().sum::<u64>();
        first = start;
    }
    if size <= room {
        return Ok(Trimmed { first, shortened: Vec::new(), tokens: size });
    }
    let newest = messages.get(first..).unwrap_or_default();
    let mut level = largest(newest);
    let mut needed = size;
    while level > SHORTEST {
        level = (level * 3 / 4).max(SHORTEST);
        let mut tokens = 0;
        let mut shortened = Vec::new();
        for (at, message) in newest.iter().enumerate() {
            let message: &Message = message.borrow();
            tokens += match shorter(message, level) {
                Some(shorter) => {
                    let size = tokens::message(&shorter);
                    shortened.push((first + at, shorter));
                    size
                }
                None => sizes.get(first + at).copied().unwrap_or_else(|| tokens::message(message)),
            };
        }
        needed = needed.min(tokens);
        if tokens <= room {
            return Ok(Trimmed { first, shortened, tokens });
        }
    }
    Err(TooLarge { needed, room })
}

/// Whether a message is a person's, and has no results of calls.
pub(crate) fn begins_exchange(message: &Message) -> bool {
    message.role == Role::User && !message.blocks.iter().any(|block| matches!(block, Block::Result { .. }))
}

fn largest<M: Borrow<Message>>(messages: &[M]) -> u64 {
    messages.iter().flat_map(|message| &message.borrow().blocks).map(tokens::block).max().unwrap_or(0)
}

/// The message with every block that is larger than `level` cut to about that; `None` if there is none.
fn shorter(message: &Message, level: u64) -> Option<Message> {
    let mut changed = false;
    let shorten = |block: &Block| {
        let size = tokens::block(block);
        let shorter = if size > level { shorter_block(block, size, level) } else { None };
        changed |= shorter.is_some();
        shorter.unwrap_or_else(|| block.clone())
    };
    let blocks = message.blocks.iter().map(shorten).collect();
    changed.then_some(Message { role: message.role, blocks })
}

/// What a vendor has signed is left alone, and so are thoughts and pictures.
fn shorter_block(block: &Block, size: u64, level: u64) -> Option<Block> {
    let cap = |characters: usize| {
        let part = u128::try_from(characters).ok()? * u128::from(level) / u128::from(size.max(1));
        usize::try_from(part).ok()
    };
    match block {
        Block::Text { text, opaque: None } => {
            shorten_text(text, cap(text.chars().count())?, None).map(Block::text)
        }
        Block::Result { id, name, content, is_error } => {
            let characters = match content.as_ref() {
                Value::String(text) => text.chars().count(),
                other => other.to_string().chars().count(),
            };
            let content = Arc::new(shorten(content, cap(characters)?, None)?);
            Some(Block::Result { id: id.clone(), name: name.clone(), content, is_error: *is_error })
        }
        Block::Call { id, name, arguments, opaque: None } => {
            let cap = cap(arguments.chars().count())?;
            let shorter = shorten(&Value::Object(parse_object(arguments).ok()?), cap, None)?;
            let arguments = shorter.to_string().into();
            Some(Block::Call { id: id.clone(), name: name.clone(), arguments, opaque: None })
        }
        Block::Text { .. }
        | Block::Image(_)
        | Block::Reasoning { .. }
        | Block::Call { .. }
        | Block::Opaque(_) => None,
    }
}

#[cfg(test)]
#[path = "trim_tests.rs"]
mod tests;
