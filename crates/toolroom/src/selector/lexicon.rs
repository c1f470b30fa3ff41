//! English stop words, weak words and concepts. Words of other languages count in full.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::stem::stem;

static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::read);

/// The weight of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// A stop word.
    Stop,
    /// Matches almost any request.
    Weak,
    /// A content word.
    Full,
}

pub(super) struct Lexicon {
    stop: HashSet<&'static str>,
    weak: HashSet<String>,
    concepts: HashMap<String, Vec<u32>>,
    count: u32,
}

impl Lexicon {
    pub(super) fn get() -> &'static Self {
        &LEXICON
    }

    fn read() -> Self {
        let mut concepts: HashMap<String, Vec<u32>> = HashMap::new();
        let mut count = 0;
        for line in lines(include_str!("lexicon/concepts.txt")) {
            for word in line.split_ascii_whitespace() {
                let of_word = concepts.entry(stemmed(word)).or_default();
                if of_word.last() != Some(&count) {
                    of_word.push(count);
                }
            }
            count += 1;
        }
        let words = |text: &'static str| lines(text).flat_map(str::split_ascii_whitespace);
        Self {
            stop: words(include_str!("lexicon/stop.txt")).collect(),
            weak: words(include_str!("lexicon/weak.txt")).map(stemmed).collect(),
            concepts,
            count,
        }
    }

    /// The number of concepts; they are numbered from 0.
    pub(super) fn concepts(&self) -> u32 {
        self.count
    }

    pub(super) fn weight(&self, word: &str, stem: &str) -> Weight {
        if self.stop.contains(word) {
            Weight::Stop
        } else if self.weak.contains(stem) {
            Weight::Weak
        } else {
            Weight::Full
        }
    }

    /// The concepts a stem belongs to.
    pub(super) fn concepts_of(&self, stem: &str) -> &[u32] {
        self.concepts.get(stem).map_or(&[], Vec::as_slice)
    }
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.starts_with('#'))
}

fn stemmed(word: &str) -> String {
    let mut word = word.to_owned();
    stem(&mut word);
    word
}
