//! Tools through the call path, against an internet and a folder of the test's own, and fuzz targets of what they read.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests open sockets and files and start processes, and a wrong guess should stop them"
)]

mod around;
mod exits;
mod fuzz;
#[expect(dead_code, reason = "the harness is the client's, whose tests use the rest of it")]
#[path = "../../../toolroom-host/tests/it/internet/mod.rs"]
mod internet;
mod memory;
#[path = "../../../toolroom/tests/it/mutation.rs"]
mod mutation;
mod only_sh;
mod room;
#[expect(dead_code, reason = "the properties are tested beside the code")]
#[path = "../../../toolroom/tests/it/scale.rs"]
mod scale;
mod shell_judge;
mod spending;
mod traversal;
#[path = "../../../toolroom-host/tests/it/files/ways_out.rs"]
mod ways_out;
