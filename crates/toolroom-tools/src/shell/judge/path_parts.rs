//! Splits a path into parts.

/// More parts are stored on the heap.
const FEW: usize = 12;

/// The parts of a path without `.`, `..` and double slashes. Most paths have few parts, so they are stored inline.
pub(super) struct Parts<'t> {
    pub(super) is_absolute: bool,
    few: [&'t str; FEW],
    count: usize,
    /// All parts, once there are more than [`FEW`].
    many: Vec<&'t str>,
}

impl<'t> Parts<'t> {
    pub(super) fn new(path: &'t str) -> Self {
        let is_absolute = path.starts_with('/');
        let mut parts = Self { is_absolute, few: [""; FEW], count: 0, many: Vec::new() };
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.as_slice().last().is_some_and(|last| *last != "..") => parts.pop(),
                ".." if is_absolute => {}
                _ => parts.push(part),
            }
        }
        parts
    }

    pub(super) fn as_slice(&self) -> &[&'t str] {
        match self.many.is_empty() {
            true => self.few.get(..self.count).unwrap_or_default(),
            false => &self.many,
        }
    }

    fn push(&mut self, part: &'t str) {
        match self.few.get_mut(self.count) {
            Some(position) if self.many.is_empty() => {
                *position = part;
                self.count += 1;
            }
            _ => {
                if self.many.is_empty() {
                    self.many.extend(self.few);
                }
                self.many.push(part);
            }
        }
    }

    fn pop(&mut self) {
        match self.many.pop() {
            // An empty list would mean that the inline parts count.
            Some(_) if self.many.is_empty() => self.count = 0,
            Some(_) => {}
            None => self.count = self.count.saturating_sub(1),
        }
    }
}
