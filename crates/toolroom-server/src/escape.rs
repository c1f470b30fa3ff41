//! Escapes untrusted text for display.

use toolroom::characters::{is_invisible, is_terminal_control};

/// Escapes control and invisible characters in JSON text. The document stays the same.
pub(crate) fn escape_json(json: &str) -> String {
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

/// Escapes control characters in the output of a tool, so that it cannot control the terminal. Joiners and unusual spaces
/// stay.
pub(crate) fn escape_controls(text: &str) -> String {
    escape(text, is_terminal_control)
}

/// Escapes control and invisible characters, for untrusted text inside our own lines: users approve what they see.
pub(crate) fn visible(text: &str) -> String {
    escape(text, |c| is_terminal_control(c) || is_invisible(c))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_escaped(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}
