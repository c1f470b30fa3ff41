//! Which tools fit a message, without asking a model.
//!
//! A [`Selector`] is a flat index over [`ToolCard`]s: what a tool's definition says about itself, and which requests
//! chose it before. It ranks by words — BM25 over weighted fields, and the direction of each tool's past requests — knows
//! the words of asking from those that say what is asked, and finds misspelled words by their letters. When nothing
//! fits it says so instead of guessing. The same cards and the same message give the same ranking, in whatever order
//! the cards come. [`offered`] says which tools a model is shown when not all of their definitions fit.
//!
//! Nothing is learned here: past requests come with the cards, and who keeps them decides how long.

mod budget;
mod card;
mod fit;
mod index;
mod lexicon;
mod near;
mod postings;
mod query;
mod ranking;
mod stem;
#[cfg(test)]
mod tests;
mod vocabulary;
mod words;

pub use budget::{Weighed, fit, offered};
pub use card::{REQUESTS, ToolCard, cards};
pub use fit::Fit;
pub use index::Selector;
pub use ranking::{Ranked, Ranking};
