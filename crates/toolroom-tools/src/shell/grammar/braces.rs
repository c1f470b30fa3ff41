//! Brace expansion.

/// Detects `{a,b}` and `{1..3}` in the unquoted pieces of a word; may report too many.
#[derive(Default)]
pub(in crate::shell) struct Braces {
    opened: bool,
    divided: bool,
    closed: bool,
}

impl Braces {
    pub(in crate::shell) fn read(&mut self, text: &str) {
        let mut previous = 0;
        for byte in text.bytes() {
            match byte {
                b'{' => self.opened = true,
                b',' if self.opened => self.divided = true,
                b'.' if self.opened && previous == b'.' => self.divided = true,
                b'}' if self.divided => self.closed = true,
                _ => {}
            }
            previous = byte;
        }
    }

    pub(in crate::shell) const fn is_expansion(&self) -> bool {
        self.closed
    }
}

/// Maximum number of alternatives.
const MAX_ALTERNATIVES: usize = 64;

/// The results of brace expansion, up to the maximum.
pub(in crate::shell) fn alternatives(text: &str) -> Vec<String> {
    let mut open = vec![text.to_owned()];
    let mut words = Vec::new();
    while let Some(text) = open.pop() {
        if words.len() + open.len() >= MAX_ALTERNATIVES {
            break;
        }
        match first_group(&text) {
            Some((before, choices, behind)) => {
                open.extend(choices.into_iter().map(|choice| format!("{before}{choice}{behind}")));
            }
            None => words.push(text),
        }
    }
    words
}

/// The text before the first group, its choices, and the text after it.
fn first_group(text: &str) -> Option<(&str, Vec<String>, &str)> {
    let (before, rest) = text.split_once('{')?;
    let (mut depth, mut from, mut choices) = (0_usize, 0, Vec::new());
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b',' if depth == 0 => {
                choices.push(rest.get(from..at)?.to_owned());
                from = at + 1;
            }
            b'}' => {
                let last = rest.get(from..at)?;
                match choices.is_empty() {
                    true => choices = sequence(last),
                    false => choices.push(last.to_owned()),
                }
                return Some((before, choices, rest.get(at + 1..)?));
            }
            _ => {}
        }
    }
    None
}

/// The letters of `a..c`; any other text without its braces.
fn sequence(text: &str) -> Vec<String> {
    match text.as_bytes() {
        [first, b'.', b'.', last] => {
            let (first, last) = (char::from(*first.min(last)), char::from(*first.max(last)));
            (first..=last).map(String::from).collect()
        }
        _ => vec![text.to_owned()],
    }
}
