//! `search`: finds tools and past calls, what is used often and lately first.
//!
//! The ranking is one pure function, [`rank`]: every surface that lists things by relevance uses it, so that a model
//! and a person find the same things in the same order. It knows nothing of catalogs and journals. What there is to
//! find is gathered anew for each search, in the scope of its caller; there is no index that could be stale.

mod folded;
mod frecency;
mod fuzzy;
mod gather;
mod one_line;
mod query;
mod rank;
mod tool;

pub(super) use folded::{Folded, fold_case};
pub use frecency::Frecency;
pub use query::Query;
pub use rank::{Candidate, Kind, Ranked, Tier, rank};
pub(super) use tool::tool;
