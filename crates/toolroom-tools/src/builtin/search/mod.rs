//! `search`: finds tools and past calls; often and recently used ones come first.
//!
//! The ranking is one pure function, [`rank`], shared by all surfaces that list by relevance, so that models and people
//! get the same order. It does not depend on catalog or journal. Each search collects its candidates anew in the scope
//! of the caller; there is no index that could be stale.

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
