//! Which tools a rule or a limit is about.

use std::fmt;
use std::str::Chars;

use crate::tool::ToolSpec;

/// No tool has a longer id, and with both bounded so is the time to compare them.
const MAX_PATTERN_BYTES: usize = 256;

/// A tool's id, bare name or family, or a pattern of such names: `*` is any run of characters, `?` is any one.
/// Everything else stands for itself; upper and lower case differ.
///
/// A bare name matches the tools of every source; an id with its source matches one tool only. A rule that allows matches
/// foreign tools by their ids alone, because their servers choose their names.
///
/// ```
/// use toolroom::policy::ToolPattern;
/// use toolroom::tool::ToolSpec;
///
/// let note = ToolSpec::new("app:append_note", "Append a note")?;
/// for text in ["app:append_note", "append_note", "app:*", "*_note", "app?append_*"] {
///     assert!(ToolPattern::parse(text)?.matches(&note), "{text}");
/// }
/// assert!(!ToolPattern::parse("append")?.matches(&note));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPattern {
    /// The text before the first wildcard; most names already differ there.
    head: Box<str>,
    /// From the first wildcard to the last; empty if there is none.
    wild: Box<str>,
    /// The text after the last wildcard.
    tail: Box<str>,
}

impl ToolPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When no name could match it.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        if text.len() > MAX_PATTERN_BYTES {
            return Err(PatternError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PatternError::ControlCharacter);
        }
        let (head, wild) = text.split_at(text.find(is_wildcard).unwrap_or(text.len()));
        // A wildcard is one byte.
        let (wild, tail) = wild.split_at(wild.rfind(is_wildcard).map_or(0, |last| last + 1));
        Ok(Self { head: head.into(), wild: wild.into(), tail: tail.into() })
    }

    /// Whether it has no wildcard.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.wild.is_empty()
    }

    /// Whether it matches the tool's id, its bare name, or the name of its family.
    #[must_use]
    pub fn matches(&self, spec: &ToolSpec) -> bool {
        self.matches_names(&ToolNames::new(spec))
    }

    /// Whether it certainly matches every tool that `other` matches. `false` is no proof of the contrary: a `*` of the
    /// other counts as covered only where this one has a `*` too.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let mine = self.to_string();
        matches_by(mine.chars(), other.to_string().chars(), |expected, actual| match expected {
            '?' => actual != '*',
            _ => expected == actual,
        })
    }

    pub(super) fn matches_names(&self, names: &ToolNames<'_>) -> bool {
        self.matches_name(names.id)
            || self.matches_name(names.bare)
            || names.family.is_some_and(|family| self.matches_name(family))
    }

    /// Ignores the bare name and family of a foreign tool, because its server chose them.
    pub(super) fn matches_trusted(&self, names: &ToolNames<'_>) -> bool {
        if names.is_foreign { self.matches_name(names.id) } else { self.matches_names(names) }
    }

    fn matches_name(&self, name: &str) -> bool {
        if self.is_exact() {
            return name == &*self.head;
        }
        let middle = name.strip_prefix(&*self.head).and_then(|rest| rest.strip_suffix(&*self.tail));
        middle.is_some_and(|middle| &*self.wild == "*" || matches_text(self.wild.chars(), middle.chars()))
    }
}

/// The names of a tool that patterns are matched against.
pub(super) struct ToolNames<'a> {
    id: &'a str,
    bare: &'a str,
    family: Option<&'a str>,
    is_foreign: bool,
}

impl<'a> ToolNames<'a> {
    pub(super) fn new(spec: &'a ToolSpec) -> Self {
        let family = spec.family.as_ref().map(|family| family.name.as_str());
        Self { id: spec.id.as_str(), bare: spec.id.bare(), family, is_foreign: spec.is_foreign() }
    }
}

pub(super) fn is_wildcard(c: char) -> bool {
    matches!(c, '*' | '?')
}

fn matches_text(pattern: Chars<'_>, name: Chars<'_>) -> bool {
    matches_by(pattern, name, |expected, actual| expected == '?' || expected == actual)
}

/// Backtracks to the last `*` only, so the steps are at most the product of both lengths.
fn matches_by(mut pattern: Chars<'_>, mut name: Chars<'_>, matches_one: impl Fn(char, char) -> bool) -> bool {
    let mut last_star = None;
    loop {
        let (mut pattern_rest, mut name_rest) = (pattern.clone(), name.clone());
        match (pattern_rest.next(), name_rest.next()) {
            (Some('*'), _) => {
                pattern = pattern_rest;
                last_star = Some((pattern.clone(), name.clone()));
            }
            (Some(expected), Some(actual)) if matches_one(expected, actual) => {
                (pattern, name) = (pattern_rest, name_rest);
            }
            (None, None) => return true,
            _ => {
                let Some((after_star, taken)) = &mut last_star else { return false };
                if taken.next().is_none() {
                    return false;
                }
                (pattern, name) = (after_star.clone(), taken.clone());
            }
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}{}", self.head, self.wild, self.tail)
    }
}

/// A pattern that no tool could match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant is its documentation")]
pub enum PatternError {
    #[error("the pattern is empty; write `*` for every tool")]
    Empty,
    #[error("the pattern is longer than {MAX_PATTERN_BYTES} bytes, which no tool's name is; shorten it")]
    TooLong,
    #[error("the pattern holds a control character; remove it")]
    ControlCharacter,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scale::cases;

    #[test]
    fn a_pattern_matches_the_id_the_bare_name_or_the_family() {
        let spec = ToolSpec::new("app:append_note", "").unwrap().family("notes", true);
        let foreign = ToolSpec::new("mcp:odd:what? über *", "").unwrap();
        let check = |pattern: &str, spec: &ToolSpec, expected: bool| {
            assert_eq!(ToolPattern::parse(pattern).unwrap().matches(spec), expected, "{pattern}");
        };
        for pattern in [
            "app:append_note",
            "append_note",
            "notes",
            "*",
            "**",
            "app:*",
            "*note",
            "app?append?note",
            "not*s",
        ] {
            check(pattern, &spec, true);
        }
        for pattern in ["append", "App:append_note", "note", "app:", "?", "*:note", "app:append_note?", "a*b"]
        {
            check(pattern, &spec, false);
        }
        for pattern in ["mcp:odd:*", "what? über *", "what? ?ber *", "*über*", "mcp:*:what*"] {
            check(pattern, &foreign, true);
        }
    }

    #[test]
    fn a_pattern_that_matches_no_tool_is_rejected() {
        assert_eq!(ToolPattern::parse(""), Err(PatternError::Empty));
        assert_eq!(ToolPattern::parse(&"x".repeat(257)), Err(PatternError::TooLong));
        assert_eq!(ToolPattern::parse("app:\u{7}"), Err(PatternError::ControlCharacter));
        assert!(ToolPattern::parse("app:note").unwrap().is_exact());
        assert!(!ToolPattern::parse("app:not?").unwrap().is_exact());
        assert_eq!(ToolPattern::parse("app:*_n?te").unwrap().to_string(), "app:*_n?te");
    }

    #[test]
    fn a_wider_pattern_covers_a_narrower_one() {
        let check = |wide: &str, narrow: &str, expected: bool| {
            let parse = |text| ToolPattern::parse(text).unwrap();
            assert_eq!(parse(wide).covers(&parse(narrow)), expected, "{wide} {narrow}");
        };
        for (wide, narrow) in
            [("*", "app:*"), ("a", "a"), ("app:*", "app:n?te*"), ("a?b*", "axb"), ("?", "?")]
        {
            check(wide, narrow, true);
        }
        for (wide, narrow) in [("app:*", "*"), ("a?", "a*"), ("a", "b"), ("note", "app:note"), ("?*", "*")] {
            check(wide, narrow, false);
        }
    }

    /// The reference implementation; takes exponential time.
    fn reference(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => {
                reference(rest, name) || matches!(name, [_, shorter @ ..] if reference(pattern, shorter))
            }
            ([expected, pattern @ ..], [actual, name @ ..]) => {
                (*expected == '?' || expected == actual) && reference(pattern, name)
            }
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(cases(512))]

        #[test]
        fn one_star_at_a_time_is_enough(pattern in "[abü*?]{1,9}", name in "[abü]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = reference(&chars(&pattern), &chars(&name));
            prop_assert_eq!(ToolPattern::parse(&pattern).unwrap().matches_name(&name), expected);
        }

        #[test]
        fn a_pattern_matches_every_name_that_a_covered_pattern_matches(wide in "[ab*?]{1,4}", narrow in "[ab*?]{1,4}", name in "[ab]{0,5}") {
            let (wide, narrow) = (ToolPattern::parse(&wide).unwrap(), ToolPattern::parse(&narrow).unwrap());
            prop_assert!(!(wide.covers(&narrow) && narrow.matches_name(&name)) || wide.matches_name(&name));
        }
    }
}
