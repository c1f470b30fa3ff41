//! Characters that make a line look like another one.

/// The first character that nobody sees or that moves others about, with its place.
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

/// Whether a character must not be printed as it is.
pub(crate) fn is_hidden(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\0'..='\x7f' => true,
        other => judged(other).is_some(),
    }
}

fn judged(character: char) -> Option<&'static str> {
    match character {
        '\u{80}'..='\u{9f}' => Some("a control character"),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("a character that turns the direction of writing")
        }
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffc}'
        | '\u{e0000}'..='\u{e0fff}' => Some("a character that nobody sees"),
        '\u{a0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200a}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202f}'
        | '\u{205f}'
        | '\u{3000}' => Some("a space that the shell does not take for one"),
        _ => None,
    }
}
