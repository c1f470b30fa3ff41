//! Which tools a rule or a limit is about.

use std::fmt;
use std::str::Chars;

use crate::tool::ToolSpec;

/// No tool has a longer id, and with both bounded so is the time to compare them.
const MAX_PATTERN_BYTES: usize = 256;

/// A tool's id, bare name or family, or a pattern of such names: `*` is any run of characters, `?` is any one.
/// Everything else stands for itself; upper and lower case differ.
///
/// A bare name fits every tool that bears it, whoever brought the tool; an id with its source fits one tool only. Where a
/// rule allows something, foreign tools are fitted by their ids alone: their names are chosen by strangers.
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
    /// What stands before the first wildcard; most names are told apart by it.
    head: Box<str>,
    /// From the first wildcard to the last; empty if there is none.
    wild: Box<str>,
    /// What stands behind the last wildcard.
    tail: Box<str>,
}

impl ToolPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When no name could fit it.
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

    /// Whether it names rather than describes: there is no wildcard in it.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.wild.is_empty()
    }

    /// Whether it fits the tool's id, its bare name, or the name of its family.
    #[must_use]
    pub fn matches(&self, spec: &ToolSpec) -> bool {
        self.fits(&ToolNames::of(spec))
    }

    /// Whether it surely fits every tool that `other` fits. A `*` of the other has to stand where this one has a `*`
    /// too, so of patterns written in different ways not every such pair is found.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let mine = self.to_string();
        // What any run of characters may stand for, only `*` may cover.
        fits_by(mine.chars(), other.to_string().chars(), |wanted, found| match wanted {
            '?' => found != '*',
            _ => wanted == found,
        })
    }

    pub(super) fn fits(&self, names: &ToolNames<'_>) -> bool {
        self.fits_name(names.id)
            || self.fits_name(names.bare)
            || names.family.is_some_and(|family| self.fits_name(family))
    }

    /// The same where strangers would profit: a name they chose themselves does not count.
    pub(super) fn fits_trustworthy(&self, names: &ToolNames<'_>) -> bool {
        if names.is_foreign { self.fits_name(names.id) } else { self.fits(names) }
    }

    fn fits_name(&self, name: &str) -> bool {
        if self.is_exact() {
            return name == &*self.head;
        }
        let middle = name.strip_prefix(&*self.head).and_then(|rest| rest.strip_suffix(&*self.tail));
        middle.is_some_and(|middle| &*self.wild == "*" || fits(self.wild.chars(), middle.chars()))
    }
}

/// The names under which rules know one tool.
pub(super) struct ToolNames<'a> {
    id: &'a str,
    bare: &'a str,
    family: Option<&'a str>,
    is_foreign: bool,
}

impl<'a> ToolNames<'a> {
    pub(super) fn of(spec: &'a ToolSpec) -> Self {
        let family = spec.family.as_ref().map(|family| family.name.as_str());
        Self { id: spec.id.as_str(), bare: spec.id.bare(), family, is_foreign: spec.is_foreign() }
    }
}

pub(super) fn is_wildcard(c: char) -> bool {
    matches!(c, '*' | '?')
}

fn fits(pattern: Chars<'_>, name: Chars<'_>) -> bool {
    fits_by(pattern, name, |wanted, found| wanted == '?' || wanted == found)
}

/// Only the last `*` is ever tried anew, because what an earlier one took need not change: so the steps are at most
/// the product of both lengths, whatever the pattern.
fn fits_by(mut pattern: Chars<'_>, mut name: Chars<'_>, fits_one: impl Fn(char, char) -> bool) -> bool {
    let mut last_star = None;
    loop {
        let (mut pattern_rest, mut name_rest) = (pattern.clone(), name.clone());
        match (pattern_rest.next(), name_rest.next()) {
            (Some('*'), _) => {
                pattern = pattern_rest;
                last_star = Some((pattern.clone(), name.clone()));
            }
            (Some(wanted), Some(found)) if fits_one(wanted, found) => {
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

/// A pattern that no tool could fit.
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
    fn a_pattern_fits_the_id_the_bare_name_or_the_family() {
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
    fn what_no_tool_could_fit_is_refused() {
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

    /// The meaning in its plainest form; takes exponential time.
    fn plainly(pattern: &[char], name: &[char]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            (['*', rest @ ..], _) => {
                plainly(rest, name) || matches!(name, [_, shorter @ ..] if plainly(pattern, shorter))
            }
            ([wanted, pattern @ ..], [found, name @ ..]) => {
                (*wanted == '?' || wanted == found) && plainly(pattern, name)
            }
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(cases(512))]

        #[test]
        fn one_star_at_a_time_is_enough(pattern in "[abü*?]{1,9}", name in "[abü]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = plainly(&chars(&pattern), &chars(&name));
            prop_assert_eq!(ToolPattern::parse(&pattern).unwrap().fits_name(&name), expected);
        }

        #[test]
        fn a_pattern_fits_whatever_the_ones_it_covers_fit(wide in "[ab*?]{1,4}", narrow in "[ab*?]{1,4}", name in "[ab]{0,5}") {
            let (wide, narrow) = (ToolPattern::parse(&wide).unwrap(), ToolPattern::parse(&narrow).unwrap());
            prop_assert!(!(wide.covers(&narrow) && narrow.fits_name(&name)) || wide.fits_name(&name));
        }
    }
}
