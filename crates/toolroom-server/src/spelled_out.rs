//! Text from elsewhere, written so that whoever reads it sees what is there.

use toolroom::characters::{is_invisible, is_terminal_control};

/// JSON in which every character that is obeyed or not seen is written as an escape: the same document, safe to look at.
pub(crate) fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match is_terminal_control(c) || is_invisible(c) {
            true => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    text.push_str(&format!("\\u{unit:04x}"));
                }
            }
            false => text.push(c),
        }
    }
    text
}

/// A tool's own text on a terminal. It must not move the cursor, ring, or rename the window; joiners and odd spaces are
/// part of it.
pub(crate) fn harmless(text: &str) -> String {
    spelled_out(text, is_terminal_control)
}

/// Text from elsewhere in a line of ours. Control characters are made visible, and so is what nobody can see: what is
/// read, and approved, is what is there.
pub(crate) fn visible(text: &str) -> String {
    spelled_out(text, |c| is_terminal_control(c) || is_invisible(c))
}

fn spelled_out(text: &str, is_meant: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_meant(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}
