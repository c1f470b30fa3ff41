//! Numbers for the words of the cards. Concepts of the lexicon come first.

use std::collections::HashMap;

use super::lexicon::{Lexicon, Weight};
use super::stem::stem;

/// A word of the cards, or a concept.
pub(super) struct IndexTerm {
    pub(super) kind: TermKind,
    /// The concepts the word belongs to.
    pub(super) concepts: &'static [u32],
}

/// The kind of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermKind {
    Concept,
    Word(Weight),
}

pub(super) struct Vocabulary {
    lexicon: &'static Lexicon,
    /// Words as written; the fast path.
    forms: HashMap<Box<str>, u32>,
    /// Stems of words, except stop words.
    stems: HashMap<Box<str>, u32>,
    pub(super) terms: Vec<IndexTerm>,
}

/// The result of looking up a word.
pub(super) enum WordLookup {
    /// A word of the cards.
    Known(u32),
    /// Not a word of the cards, but it belongs to concepts.
    Concepts(&'static [u32]),
    /// Neither a word of the cards nor of the lexicon.
    Unknown,
    /// A stop word.
    StopWord,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        let lexicon = Lexicon::get();
        let concept = |_| IndexTerm { kind: TermKind::Concept, concepts: &[] };
        let terms = (0..lexicon.concepts()).map(concept).collect();
        Self { lexicon, forms: HashMap::new(), stems: HashMap::new(), terms }
    }

    /// The number of a word; assigns one to a new word.
    pub(super) fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.forms.get(word) {
            return *number;
        }
        let mut bare = word.to_owned();
        stem(&mut bare);
        let weight = self.lexicon.weight(word, &bare);
        let known = if weight == Weight::Stop { None } else { self.stems.get(bare.as_str()) };
        let number = known.copied().unwrap_or_else(|| {
            let number = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
            let concepts = if weight == Weight::Stop { &[] } else { self.lexicon.concepts_of(&bare) };
            self.terms.push(IndexTerm { kind: TermKind::Word(weight), concepts });
            if weight != Weight::Stop {
                self.stems.insert(bare.into_boxed_str(), number);
            }
            number
        });
        self.forms.insert(word.into(), number);
        number
    }

    /// Looks up a word; leaves its stem in `bare` if that was needed.
    pub(super) fn look_up(&self, word: &str, bare: &mut String) -> WordLookup {
        if let Some(number) = self.forms.get(word) {
            return WordLookup::Known(*number);
        }
        bare.clear();
        bare.push_str(word);
        stem(bare);
        if self.lexicon.weight(word, bare) == Weight::Stop {
            return WordLookup::StopWord;
        }
        if let Some(number) = self.stems.get(bare.as_str()) {
            return WordLookup::Known(*number);
        }
        match self.lexicon.concepts_of(bare) {
            [] => WordLookup::Unknown,
            concepts => WordLookup::Concepts(concepts),
        }
    }

    pub(super) fn term(&self, number: u32) -> Option<&IndexTerm> {
        self.terms.get(number as usize)
    }

    pub(super) fn is_concept(&self, number: u32) -> bool {
        number < self.lexicon.concepts()
    }

    /// Whether a word is a stop word.
    pub(super) fn is_stop(&self, number: u32) -> bool {
        self.term(number).is_some_and(|term| term.kind == TermKind::Word(Weight::Stop))
    }

    /// Whether a word matches almost any request.
    pub(super) fn is_weak(&self, bare: &str) -> bool {
        self.lexicon.weight("", bare) == Weight::Weak
    }

    /// The stems and their numbers, sorted by stem.
    pub(super) fn stems(&self) -> Vec<(&str, u32)> {
        let mut stems: Vec<(&str, u32)> =
            self.stems.iter().map(|(stem, number)| (&**stem, *number)).collect();
        stems.sort_unstable();
        stems
    }
}
