//! The `toolroom` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolroom_server::run(|_catalog| Ok(()))
}
