//! Characters that make a line look like a different one.

use toolroom::text::{is_invisible, is_obeyed, is_odd_space, is_selector, is_turning};

/// The first invisible or reordering character, with its position.
pub(super) fn find(text: &str) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' | b'\t' | b' '..=b'~' => at += 1,
            0..=0x7f => return Some((at, "a control character")),
            _ => {
                let character = text.get(at..).and_then(|rest| rest.chars().next())?;
                if let Some(why) = judged(character) {
                    return Some((at, why));
                }
                at += character.len_utf8();
            }
        }
    }
    None
}

/// Whether a character must be printed as an escape.
pub(super) fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\0'..='\x7f' => true,
        other => judged(other).is_some(),
    }
}

fn judged(character: char) -> Option<&'static str> {
    match character {
        '\u{80}'..='\u{9f}' => Some("a control character"),
        _ if is_turning(character) => Some("a character that turns the direction of writing"),
        _ if is_odd_space(character) || is_obeyed(character) => {
            Some("a space that the shell does not take for one")
        }
        // Emoji use it, and a name with it is a different name to the shell.
        _ if is_selector(character) => None,
        _ if is_invisible(character) => Some("an invisible character"),
        _ => None,
    }
}
