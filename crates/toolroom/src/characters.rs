//! Characters that control a terminal, change the direction of writing, or are invisible.

/// Whether a character controls a terminal or reorders the text around it. Line ends and tabs do not count.
#[must_use]
pub const fn is_terminal_control(character: char) -> bool {
    match character {
        '\n' | '\t' | ' '..='~' => false,
        '\0'..='\u{9f}' => true,
        _ => is_bidi_control(character) || matches!(character, '\u{2028}' | '\u{2029}'),
    }
}

/// Whether a character turns the direction of writing.
#[must_use]
pub const fn is_bidi_control(character: char) -> bool {
    matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character is invisible, though models read it: joiners, fillers, tags, selectors, unusual spaces.
#[must_use]
pub const fn is_invisible(character: char) -> bool {
    is_unusual_space(character)
        || is_variation_selector(character)
        || matches!(character,
            // Soft hyphen, grapheme joiner, Hangul fillers, Khmer inherent vowels, Mongolian separators.
            '\u{ad}' | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            // Zero-width characters, invisible operators, deprecated format characters.
            | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            // Annotations, replaced objects, shorthand and musical controls, tags.
            | '\u{fff0}'..='\u{fffc}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character is a space other than ` `.
#[must_use]
pub const fn is_unusual_space(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
    )
}

/// Whether a character is a variation selector, which can hide data.
#[must_use]
pub const fn is_variation_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_invisible_characters_are_listed() {
        let unseen = |character: char| is_terminal_control(character) || is_invisible(character);
        for seen in "\n\taZ~äß漢字🙂é‘’“”–—…•".chars() {
            assert!(!unseen(seen), "{seen:?}");
        }
        for character in "\u{1b}\r\u{8}\u{7f}\u{9b}\u{200b}\u{202e}\u{2028}\u{e0041}\u{fe0f}\u{2800}\u{1d173}\u{a0}\u{feff}".chars() {
            assert!(unseen(character), "{character:?}");
        }
        assert!((0..0x20).filter_map(char::from_u32).filter(|c| !is_terminal_control(*c)).eq(['\t', '\n']));
    }
}
