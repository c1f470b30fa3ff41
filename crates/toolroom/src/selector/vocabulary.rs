//! The words of the cards, numbered. Concepts of the lexicon have the first numbers, words follow as they are met.

use std::collections::HashMap;

use super::lexicon::{Lexicon, Weight};
use super::stem::stem;

/// A word of the cards, or a concept.
pub(super) struct Term {
    pub(super) kind: Kind,
    /// The concepts the word belongs to.
    pub(super) concepts: &'static [u32],
}

/// What counts for how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Concept,
    Word(Weight),
}

pub(super) struct Vocabulary {
    lexicon: &'static Lexicon,
    /// Words as they were written: the way to a number that most words take.
    forms: HashMap<Box<str>, u32>,
    /// Words without their endings. Those of the asking are not among them: they have no other forms.
    stems: HashMap<Box<str>, u32>,
    pub(super) terms: Vec<Term>,
}

/// What a word of a message is.
pub(super) enum Met {
    /// A word of the cards.
    Known(u32),
    /// No card has it, but it belongs to concepts.
    Meant(&'static [u32]),
    /// No card has it, and no list.
    Unknown,
    /// It says nothing.
    Nothing,
}

impl Vocabulary {
    pub(super) fn new() -> Self {
        let lexicon = Lexicon::get();
        let concept = |_| Term { kind: Kind::Concept, concepts: &[] };
        let terms = (0..lexicon.concepts()).map(concept).collect();
        Self { lexicon, forms: HashMap::new(), stems: HashMap::new(), terms }
    }

    /// The number of a word, which gets one if it has none.
    pub(super) fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.forms.get(word) {
            return *number;
        }
        let mut bare = word.to_owned();
        stem(&mut bare);
        let weight = self.lexicon.weight(word, &bare);
        let known = if weight == Weight::Stop { None } else { self.stems.get(bare.as_str()) };
        let number = known.copied().unwrap_or_else(|| {
            // There are fewer words than letters, and memory ends before the numbers do.
            let number = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
            let concepts = if weight == Weight::Stop { &[] } else { self.lexicon.concepts_of(&bare) };
            self.terms.push(Term { kind: Kind::Word(weight), concepts });
            if weight != Weight::Stop {
                self.stems.insert(bare.into_boxed_str(), number);
            }
            number
        });
        self.forms.insert(word.into(), number);
        number
    }

    /// What a word of a message is; `bare` is left as its stem where that was needed.
    pub(super) fn meet(&self, word: &str, bare: &mut String) -> Met {
        if let Some(number) = self.forms.get(word) {
            return Met::Known(*number);
        }
        bare.clear();
        bare.push_str(word);
        stem(bare);
        if self.lexicon.weight(word, bare) == Weight::Stop {
            return Met::Nothing;
        }
        if let Some(number) = self.stems.get(bare.as_str()) {
            return Met::Known(*number);
        }
        match self.lexicon.concepts_of(bare) {
            [] => Met::Unknown,
            concepts => Met::Meant(concepts),
        }
    }

    pub(super) fn term(&self, number: u32) -> Option<&Term> {
        self.terms.get(number as usize)
    }

    pub(super) fn is_concept(&self, number: u32) -> bool {
        number < self.lexicon.concepts()
    }

    /// Whether a word belongs to the asking.
    pub(super) fn is_stop(&self, number: u32) -> bool {
        self.term(number).is_some_and(|term| term.kind == Kind::Word(Weight::Stop))
    }

    /// Whether a word that no card has fits almost any request.
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
