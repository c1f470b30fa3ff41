//! Messages as they may be stored and sent: without secrets, and without invisible characters.
//!
//! Invisible characters can hide text from the person who pastes it while the model reads it: zero-width characters, tag
//! characters, marks that turn the direction of writing. Joiners stay between letters of scripts that need them, and inside
//! emoji. Visible characters are not normalized, as that could change the meaning: a superscript two is not a two.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::characters::{is_invisible, is_terminal_control, is_unusual_space};
use crate::model::{Block, Message, ModelCallId, Opaque, Role};
use crate::redact::Redactor;

/// The text without invisible characters. Line ends become `\n`.
#[must_use]
pub fn clean_input(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut characters = text.chars().peekable();
    let mut cleaned = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match character {
            '\r' if next == Some('\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => cleaned.push('\n'),
            '\u{200c}' | '\u{200d}' => {
                let joins = |neighbour: Option<char>| neighbour.is_some_and(is_joined);
                if joins(cleaned.chars().next_back()) && joins(next) {
                    cleaned.push(character);
                }
            }
            _ if hides(character) => {}
            _ => cleaned.push(character),
        }
    }
    if cleaned == text { Cow::Borrowed(text) } else { Cow::Owned(cleaned) }
}

/// Whether a character is invisible, or depends on the font. Unusual spaces and the text and emoji selectors stay.
fn hides(character: char) -> bool {
    match character {
        '\u{fe0e}' | '\u{fe0f}' => false,
        // Private use.
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => true,
        _ => is_terminal_control(character) || (is_invisible(character) && !is_unusual_space(character)),
    }
}

/// Whether joiners may stand next to the character: letters of joined scripts, and emoji.
fn is_joined(character: char) -> bool {
    matches!(character,
        '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{1800}'..='\u{18af}'
        | '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}

/// A person's message: its text and pictures, without secrets and invisible characters. `None` if nothing is left: vendors
/// refuse empty messages.
pub(super) fn cleaned(message: Message, redactor: &Redactor) -> Option<Message> {
    cleaned_as(Role::User, message, redactor)
}

/// The history that a client sends: text and pictures only, cleaned.
pub(super) fn clean_history(history: Vec<Message>, redactor: &Redactor) -> Vec<Message> {
    history.into_iter().filter_map(|message| cleaned_as(message.role, message, redactor)).collect()
}

fn cleaned_as(role: Role, message: Message, redactor: &Redactor) -> Option<Message> {
    let blocks: Vec<Block> = (message.blocks.into_iter())
        .filter_map(|block| match block {
            Block::Text { text, .. } => {
                let text = redactor.redact_text(&clean_input(&text)).into_owned();
                (!text.trim().is_empty()).then(|| Block::text(text))
            }
            // Models take pictures from people alone.
            Block::Image(_) => (role == Role::User).then_some(block),
            // Only models and tools say these.
            Block::Reasoning { .. } | Block::Call { .. } | Block::Result { .. } | Block::Opaque(_) => None,
        })
        .collect();
    (!blocks.is_empty()).then_some(Message { role, blocks })
}

/// The client's context without secrets.
pub(super) fn without_secrets(context: Map<String, Value>, redactor: &Redactor) -> Map<String, Value> {
    let mut context = Value::Object(context);
    redactor.redact_value(&mut context);
    match context {
        Value::Object(context) => context,
        // An object stays one.
        _ => Map::new(),
    }
}

/// Takes secrets out of a model's answer before it is stored, shown and sent on: a model may have guessed a value, or know it
/// from elsewhere. Text is redacted by value and by format. Calls lose stored values only: an example key that a tool is to
/// write is no secret. Opaque vendor data that may hold a secret is dropped.
pub(super) fn redact_answer(blocks: &mut Vec<Block>, redactor: &Redactor) {
    let stored = redactor.without_patterns();
    blocks.retain_mut(|block| match block {
        Block::Text { text, opaque } => {
            if redact(text, redactor) || opaque.as_ref().is_some_and(|part| has_secret(part, &stored)) {
                *opaque = None;
            }
            true
        }
        // The vendor who signed the reasoning would refuse a changed one.
        Block::Reasoning { text, opaque } => {
            let holds_secret = opaque.as_ref().is_some_and(|part| has_secret(part, &stored));
            let changed = redact(text, redactor);
            !holds_secret && (opaque.is_none() || !changed)
        }
        Block::Call { id, name, arguments, opaque } => {
            let mut changed = redact(name, &stored);
            if let Cow::Owned(safe) = stored.redact_text(id.as_str()) {
                (*id, changed) = (ModelCallId::new(&safe), true);
            }
            if let Cow::Owned(safe) = stored.redact_text(arguments) {
                (*arguments, changed) = (safe.into(), true);
            }
            if changed || opaque.as_ref().is_some_and(|part| has_secret(part, &stored)) {
                *opaque = None;
            }
            true
        }
        Block::Image(_) | Block::Result { .. } | Block::Opaque(_) => true,
    });
    blocks.retain(|block| !matches!(block, Block::Opaque(part) if has_secret(part, &stored)));
}

/// Redacts the text in place; returns whether it changed.
fn redact(text: &mut String, redactor: &Redactor) -> bool {
    let Cow::Owned(safe) = redactor.redact_text(text) else { return false };
    *text = safe;
    true
}

fn has_secret(opaque: &Opaque, stored: &Redactor) -> bool {
    let mut part = (*opaque.part).clone();
    stored.redact_value(&mut part);
    part != *opaque.part
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    #[test]
    fn visible_text_stays() {
        for text in [
            "plain words,\n\tin two lines",
            "größer als 10² € — «сколько?»",
            "你好，世界！",
            "👩‍👩‍👧 and ❤️‍🔥",
            "می‌خواهم",
            "क्‍ष",
        ] {
            assert!(matches!(clean_input(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn invisible_characters_are_removed() {
        let hidden: String =
            "ignore".chars().filter_map(|letter| char::from_u32(0xe0000 + u32::from(letter))).collect();
        for (text, cleaned) in [
            (format!("hello{hidden}"), "hello"),
            ("pass\u{200b}word\u{feff}".to_owned(), "password"),
            ("a\u{202e}txt.exe\u{202c}".to_owned(), "atxt.exe"),
            ("a\u{200d}b".to_owned(), "ab"),
            ("\u{e000}x\u{10ffff}".to_owned(), "x"),
            ("bell\u{7}\u{1b}[31m\0".to_owned(), "bell[31m"),
            ("one\r\ntwo\rthree\u{2028}four".to_owned(), "one\ntwo\nthree\nfour"),
            ("a\u{e0100}b\u{fe01}c".to_owned(), "abc"),
        ] {
            assert_eq!(clean_input(&text), cleaned, "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn cleaned_text_is_clean(text in any::<String>()) {
            let cleaned = clean_input(&text).into_owned();
            prop_assert!(!cleaned.chars().any(hides));
            prop_assert_eq!(clean_input(&cleaned), cleaned.as_str());
            prop_assert!(cleaned.len() <= text.len());
        }
    }
}
