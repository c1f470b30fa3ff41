//! The kernel through its public API: every station of the call path, the catalog, and the limits.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests read files, and a wrong guess should stop them"
)]

mod approvals;
mod arguments;
mod cancel;
mod catalog;
mod clients;
mod context;
mod described;
mod fuzz;
mod guards;
mod history;
mod limits;
mod mutation;
mod outcomes;
mod pitfalls;
mod policy;
mod provenance;
mod redact;
mod results;
mod room;
mod said;
mod scale;
mod scenarios;
mod secrets;
mod spec;
