//! Ranks tools for a message without asking a model.
//!
//! A [`Selector`] is a flat index over [`ToolCard`]s: the texts of a tool's definition, and the requests that chose it
//! before. It ranks by BM25 over weighted fields and the direction of past requests, ignores stop words, and finds
//! misspelled words by trigrams. If nothing matches it abstains. The ranking does not depend on the order of the cards.
//! [`offered`] selects the tools a model is offered if not all of them fit.
//!
//! The selector stores nothing: past requests come with the cards.

mod budget;
mod card;
mod index;
mod lexicon;
mod postings;
mod query;
mod stem;
#[cfg(test)]
mod tests;
mod trigrams;
mod vocabulary;
mod words;

pub use budget::{SizedTool, fits_budget, offered};
pub use card::{REQUESTS, ToolCard, cards};
pub use index::Selector;
pub use query::{Ranked, Ranking, WordCoverage};
