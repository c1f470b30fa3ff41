//! Characters that make a line look like a different one.

use toolroom::characters::{
    is_bidi_control, is_invisible, is_terminal_control, is_unusual_space, is_variation_selector,
};

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
        _ if is_bidi_control(character) => Some("a character that turns the direction of writing"),
        _ if is_unusual_space(character) || is_terminal_control(character) => {
            Some("a space that the shell does not take for one")
        }
        // Emoji use it, and a name with it is a different name to the shell.
        _ if is_variation_selector(character) => None,
        _ if is_invisible(character) => Some("an invisible character"),
        _ => None,
    }
}
