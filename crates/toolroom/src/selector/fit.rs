//! How much of a message one tool accounts for.

use super::index::Selector;
use super::lexicon::Weight;
use super::vocabulary::{Kind, Met};
use super::words;

/// What the words of a message have to do with a tool. Words of the asking, and those that fit any request, are left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fit {
    /// Words that the tool has, or that mean the like; each way to write one counts once.
    pub met: usize,
    /// Different words it has nothing to do with, in lower case and in their order.
    pub strange: Vec<String>,
}

impl Selector {
    /// How the tool of this id fits a message, word by word. A tool that is not known fits nothing.
    #[must_use]
    pub fn fit(&self, id: &str, message: &str) -> Fit {
        let tool = self.ids.binary_search_by(|known| known.as_str().cmp(id));
        let tool = tool.ok().and_then(|tool| u32::try_from(tool).ok());
        let has = |number: u32| {
            tool.is_some_and(|tool| self.postings.of(number).iter().any(|posting| posting.tool == tool))
        };
        let mut met: Vec<String> = Vec::new();
        let mut strange: Vec<String> = Vec::new();
        let mut bare = String::new();
        words::each(message, |word| {
            // The letter behind an apostrophe says nothing, whoever else writes one.
            let is_letter = word.len() == 1;
            let (says, fits) = match self.vocabulary.meet(word, &mut bare) {
                Met::Nothing => (false, false),
                Met::Unknown => (!self.vocabulary.is_weak(&bare), false),
                Met::Meant(concepts) => {
                    (!self.vocabulary.is_weak(&bare), concepts.iter().any(|concept| has(*concept)))
                }
                Met::Known(number) => {
                    let term = self.vocabulary.term(number);
                    let says = term.is_some_and(|term| term.kind == Kind::Word(Weight::Full));
                    let concepts = term.map_or(&[][..], |term| term.concepts);
                    (says, has(number) || concepts.iter().any(|concept| has(*concept)))
                }
            };
            let list = if fits { &mut met } else { &mut strange };
            if says && !is_letter && !list.iter().any(|known| known == word) {
                list.push(word.to_owned());
            }
        });
        Fit { met: met.len(), strange }
    }
}
