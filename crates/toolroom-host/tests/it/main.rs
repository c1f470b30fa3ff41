//! What the doors promise, tested through their public face.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests read files and start processes, and a wrong guess should stop them"
)]

mod process;
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
