//! Words that the shell makes several words of.

/// Looks for `{a,b}` and `{1..3}` in the unquoted pieces of a word, generously.
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
