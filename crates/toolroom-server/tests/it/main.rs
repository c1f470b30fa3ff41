//! The product through its real door: the `toolroom` command.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests start processes and read files, and a wrong guess should stop them"
)]

mod call;
mod complete;
mod crash;
mod docs;
mod home;
mod house;
mod limits;
mod log;
mod results;
mod tools;
