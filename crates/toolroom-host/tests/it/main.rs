//! What the doors promise, tested where it matters: over real sockets, files and processes.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests open sockets and files and start processes, and a wrong guess should stop them"
)]
#![expect(
    clippy::duplicate_mod,
    reason = "what holds for programs must hold for confined ones, on both levels"
)]

mod bodies;
mod egress;
mod files;
mod fuzz;
mod internet;
#[path = "../../../toolroom/tests/it/mutation.rs"]
mod mutation;
mod process;
mod resolving;
mod sandbox;
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
mod tls;
