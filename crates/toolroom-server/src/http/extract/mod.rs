//! Typed parts of requests: JSON bodies, queries, paths, pages and byte ranges.

pub(crate) mod body;
pub(crate) mod paging;
pub(crate) mod range;
