//! Recognises simple patterns that certainly compile.
//!
//! About a hundred times faster than compiling, and a start registers a thousand tools. Accepts only syntax that means the
//! same in ECMA 262 and in the engine; the compiler decides about all other patterns.

/// A hundredth of the engine's limit, so that estimates need not be exact.
const MAX_WEIGHT: usize = 2_000;

/// Nesting of groups.
const MAX_DEPTH: usize = 8;

/// An ASCII character, a class of some of them, and a class that reaches beyond ASCII.
const CHARACTER: usize = 1;
const ASCII_CLASS: usize = 4;
const WIDE_CLASS: usize = 60;

/// Whether `pattern` certainly compiles. `false` means that only the compiler can tell.
pub(super) fn is_plain(pattern: &str) -> bool {
    let mut reader = PatternReader { rest: pattern.as_bytes(), depth: 0 };
    reader.alternatives().is_some_and(|weight| weight <= MAX_WEIGHT) && reader.rest.is_empty()
}

/// Each method consumes one construct and returns its weight; `None` if it is not plain.
struct PatternReader<'p> {
    rest: &'p [u8],
    depth: usize,
}

impl PatternReader<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn take(&mut self, expected: &[u8]) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn alternatives(&mut self) -> Option<usize> {
        let mut weight = self.sequence()?;
        while self.take(b"|") {
            weight = weight.saturating_add(self.sequence()?);
        }
        Some(weight)
    }

    fn sequence(&mut self) -> Option<usize> {
        let mut weight: usize = CHARACTER;
        while !matches!(self.rest.first(), None | Some(b'|' | b')')) {
            let piece = match self.rest.first() {
                // An anchor cannot be repeated.
                Some(b'^' | b'$') => self.next().map(|_| CHARACTER)?,
                _ => self.atom()?.saturating_mul(self.repetition()?),
            };
            weight = weight.saturating_add(piece);
        }
        Some(weight)
    }

    fn atom(&mut self) -> Option<usize> {
        match self.next()? {
            b'(' => self.group(),
            b'[' => self.class(),
            b'.' => Some(WIDE_CLASS),
            b'\\' => escape(self.next()?),
            byte => is_literal(byte).then_some(CHARACTER),
        }
    }

    fn group(&mut self) -> Option<usize> {
        self.depth += 1;
        if self.depth > MAX_DEPTH || (self.rest.starts_with(b"?") && !self.take(b"?:")) {
            return None;
        }
        let weight = self.alternatives()?;
        self.depth -= 1;
        self.take(b")").then_some(weight)
    }

    fn class(&mut self) -> Option<usize> {
        let mut weight = if self.take(b"^") { WIDE_CLASS } else { ASCII_CLASS };
        self.take(b"-");
        if self.rest.starts_with(b"]") {
            return None;
        }
        loop {
            weight = weight.saturating_add(match self.next()? {
                b']' => return Some(weight),
                b'-' => return self.take(b"]").then_some(weight),
                b'\\' => escape(self.next()?)?,
                first if first.is_ascii_alphanumeric() && self.is_range() => self.range_from(first)?,
                byte => is_literal_in_class(byte).then_some(CHARACTER)?,
            });
        }
    }

    fn is_range(&self) -> bool {
        matches!(self.rest, [b'-', last, ..] if *last != b']')
    }

    fn range_from(&mut self, first: u8) -> Option<usize> {
        self.next();
        let last = self.next()?;
        let kinds = [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase];
        let fits = first <= last && kinds.iter().any(|kind| kind(&first) && kind(&last));
        fits.then_some(CHARACTER)
    }

    /// The maximum number of copies of the previous atom in the compiled form.
    fn repetition(&mut self) -> Option<usize> {
        let times = match self.rest.first() {
            Some(b'*' | b'+' | b'?') => self.next().map(|_| 2)?,
            Some(b'{') => self.count()?,
            _ => return Some(1),
        };
        // A second sign makes it lazy, or is a mistake.
        (!matches!(self.rest.first(), Some(b'*' | b'+' | b'?' | b'{'))).then_some(times)
    }

    fn count(&mut self) -> Option<usize> {
        self.next();
        let least = self.number()?;
        let most = match self.next()? {
            b'}' => return Some(least.max(1)),
            b',' if self.take(b"}") => return Some(least + 1),
            b',' => self.number()?,
            _ => return None,
        };
        (self.take(b"}") && least <= most).then_some(most.max(1))
    }

    /// Up to three digits: more would be too heavy anyway.
    fn number(&mut self) -> Option<usize> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.rest.split_at_checked(digits).filter(|_| (1..=3).contains(&digits))?;
        self.rest = rest;
        Some(number.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
    }
}

/// Letters, digits and characters without meaning outside a class.
fn is_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" _-,:;/@#%&=~'\"<>!".contains(&byte)
}

/// Excludes `[`, `&`, `~` and `^`, which form set operations.
fn is_literal_in_class(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" _,:;/@#%='\"<>!.*+?(){}|$".contains(&byte)
}

/// The weight of an escape, inside a class and outside.
fn escape(byte: u8) -> Option<usize> {
    match byte {
        b'd' | b'w' => Some(ASCII_CLASS),
        b's' | b'S' | b'D' | b'W' => Some(WIDE_CLASS),
        b'.' | b'^' | b'$' | b'*' | b'+' | b'?' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|' | b'/'
        | b'\\' | b'-' => Some(CHARACTER),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_assert, prop_oneof, proptest};
    use regex::RegexBuilder;

    use super::*;
    use crate::scale::cases;

    #[test]
    fn usual_patterns_are_plain_and_odd_ones_are_not() {
        for plain in
            ["^[a-z][a-z0-9_-]{0,62}$", r"^\d{4}-\d{2}-\d{2}$", "^(a|b)+$", ".*", "", r"^[^@\s]+@[^@\s]+$"]
        {
            assert!(is_plain(plain), "{plain}");
        }
        for odd in [
            "(?=a)",
            r"\1",
            "a**",
            "a{2}{3}",
            "[z-a]",
            "[",
            "(",
            "a{9999}",
            "((((((((((a))))))))))",
            r"\p{L}",
            "é",
            "[]",
        ] {
            assert!(!is_plain(odd), "{odd}");
        }
    }

    /// Pieces of patterns, so that many mutants nearly make sense.
    fn pattern() -> impl Strategy<Value = String> {
        let pieces = [
            "a", "Z", "0", "-", "^", "$", ".", "|", "(", ")", "(?:", "[", "[^", "]", "a-z", "0-9", "\\d",
            "\\S", "\\.", "\\]", "{2}", "{1,3}", "{0,}", "*", "+", "?", "&&", "~~", "--", " ", "é", "{", "}",
            ",",
        ];
        let piece = prop_oneof![9 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from), 1 => Just(String::new())];
        proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(cases(2_000))]

        #[test]
        fn what_is_called_plain_compiles(pattern in pattern()) {
            if is_plain(&pattern) {
                let built = RegexBuilder::new(&pattern).size_limit(1 << 20).build();
                prop_assert!(built.is_ok(), "{pattern}: {built:?}");
            }
        }
    }
}
