//! The guarantees of the store, tested through its public API.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests read files and start processes, and a wrong guess should stop them"
)]

mod agreement;
mod backups;
mod clients;
mod conformance;
mod conversations;
mod crash;
mod database;
mod expiry;
mod foreign;
mod health;
mod instances;
mod memories;
mod migrating;
mod opening;
mod parked;
mod postgres;
mod programs;
mod pruning;
mod released;
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
mod secrets;
mod settings;
mod settings_batch;
mod sharing;
mod statements;
mod tracks;
mod write_ahead;
mod writing;
