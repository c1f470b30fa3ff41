//! What the store promises, tested through its public face.
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
mod asking;
mod backups;
mod clients;
mod conformance;
mod crash;
mod expiry;
mod foreign;
mod health;
mod instances;
mod memories;
mod migrating;
mod opening;
mod place;
mod postgres;
mod programs;
mod promises;
mod pruning;
mod released;
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
mod secrets;
mod settings;
mod settings_batch;
mod sharing;
mod statements;
mod threads;
mod tracks;
mod writing;
