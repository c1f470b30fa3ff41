//! The doors, tried from outside.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests touch files and start processes themselves, and a wrong guess should stop them"
)]

mod files;
mod fuzz;
#[path = "../../../toolroom/tests/it/mutants.rs"]
mod mutants;
mod process;
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
