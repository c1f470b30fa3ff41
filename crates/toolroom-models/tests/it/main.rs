//! Models asked over real sockets: a stand-in for a vendor, a mock of four vendors, and fuzz targets of what they send.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests open sockets and start processes, and a wrong guess should stop them"
)]

mod aimock;
mod client;
mod conversations;
mod fuzz;
#[path = "../../../toolroom/tests/it/mutation.rs"]
mod mutation;
#[expect(dead_code, reason = "the properties are tested beside the code")]
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
mod stand_in;
