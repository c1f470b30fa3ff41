//! Text normalized for comparison.

use std::iter;

/// Lower case, without separators: `get-local-time`, `get_local_time` and `GetLocalTime` all become `getlocaltime`. Word
/// starts are recorded.
#[derive(Debug, Default)]
pub(in crate::builtin) struct Folded {
    text: String,
    /// Byte positions in `text`, ascending.
    starts: Vec<usize>,
}

impl Folded {
    pub(in crate::builtin) fn new(text: &str) -> Self {
        let mut folded = Self::default();
        folded.add(text);
        folded
    }

    /// Replaces the content, reusing the buffer.
    pub(super) fn set(&mut self, text: &str) -> &Self {
        self.clear();
        self.add(text);
        self
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
    }

    /// Appends the words of a text. A capital inside a name also starts a word: `URLFetch` has two.
    pub(super) fn add(&mut self, text: &str) {
        self.text.reserve(text.len());
        let mut previous = None;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            if !is_letter(character) {
                previous = None;
                continue;
            }
            let starts = match previous {
                None => true,
                Some(_) if !is_capital(character) => false,
                Some(previous) => {
                    let ends_capitals = || characters.clone().next().is_some_and(char::is_lowercase);
                    !is_capital(previous) || ends_capitals()
                }
            };
            if starts {
                self.starts.push(self.text.len());
            }
            push_folded(&mut self.text, character);
            previous = Some(character);
        }
    }

    pub(in crate::builtin) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_word_start(&self, at: usize) -> bool {
        self.starts.binary_search(&at).is_ok()
    }

    /// Start and end of each word.
    fn spans(&self) -> impl Iterator<Item = (usize, usize)> {
        let ends = self.starts.iter().skip(1).copied().chain(iter::once(self.text.len()));
        self.starts.iter().copied().zip(ends)
    }

    pub(in crate::builtin) fn words(&self) -> impl Iterator<Item = &str> {
        self.spans().filter_map(|(start, end)| self.text.get(start..end))
    }

    /// Whether `wanted` is found at a word start; it may extend into the next word.
    pub(super) fn has_start(&self, wanted: &str) -> bool {
        self.starts.iter().any(|start| self.starts_at(*start, wanted))
    }

    /// How much of a word `wanted` covers from its start, per mille; 1,000 for the whole word. A word beyond ASCII may
    /// start anywhere, since not every script puts spaces between words.
    pub(in crate::builtin) fn share_of_word(&self, wanted: &str) -> Option<usize> {
        let found = self.spans().filter(|(start, _)| self.starts_at(*start, wanted));
        let shares = found.map(|(start, end)| per_mille(wanted.len(), end.saturating_sub(start)));
        let anywhere = || (!wanted.is_ascii() && self.text.contains(wanted)).then_some(0);
        shares.max().or_else(anywhere)
    }

    fn starts_at(&self, start: usize, wanted: &str) -> bool {
        self.text.get(start..).is_some_and(|tail| tail.starts_with(wanted))
    }
}

pub(super) fn per_mille(part: usize, whole: usize) -> usize {
    part.saturating_mul(1_000).checked_div(whole).map_or(0, |share| share.min(1_000))
}

/// Whether a character is part of a word. Emoji and combining marks are; ASCII signs, spaces and the punctuation of other
/// scripts separate words.
fn is_letter(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    let separates = character.is_whitespace()
        || character.is_control()
        || matches!(character, '\u{a1}'..='\u{bf}' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}');
    character.is_alphanumeric() || !separates
}

fn is_capital(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_uppercase() } else { character.is_uppercase() }
}

/// Folds case and keeps everything else.
pub(in crate::builtin) fn fold_case(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    text.chars().for_each(|character| push_folded(&mut folded, character));
    folded
}

fn push_folded(text: &mut String, character: char) {
    if character.is_ascii() {
        text.push(character.to_ascii_lowercase());
    } else {
        // Lower, upper, lower: `ß` and `ẞ` both become `ss`, `σ` and `ς` the same sigma.
        let upper = character.to_lowercase().flat_map(char::to_uppercase);
        text.extend(upper.flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_separators_are_ignored_and_word_starts_recorded() {
        let check = |text: &str, expected: &str| {
            let folded = Folded::new(text);
            let mut shown = String::new();
            for (at, character) in folded.text().char_indices() {
                if folded.is_word_start(at) {
                    shown.push('|');
                }
                shown.push(character);
            }
            assert_eq!(shown, expected, "{text}");
        };
        check("get_local-time", "|get|local|time");
        check("getLocalTime", "|get|local|time");
        check("  URLFetch v2.0 ", "|url|fetch|v2|0");
        check("mcp:github:create_issue", "|mcp|github|create|issue");
        check("GRÖẞE Größe", "|grösse|grösse");
        check("ΟΔΟΣ οδος", "|οδοσ|οδοσ");
        check("İ", "|i\u{307}");
        check("天气查询。明天", "|天气查询|明天");
        check("“say” — 🦀", "|say|🦀");
        check("\u{0}--::  ", "");
    }

    #[test]
    fn a_word_is_found_at_its_start() {
        let text = Folded::new("Sometimes the timeout is 天气查询");
        assert_eq!(text.share_of_word("time"), Some(571), "of `timeout`, not of `sometimes`");
        assert_eq!(text.share_of_word("the"), Some(1_000));
        assert_eq!(text.share_of_word("out"), None);
        assert_eq!(text.share_of_word("查询"), Some(0));
        assert!(text.has_start("thetime") && !text.has_start("out"));
    }
}
