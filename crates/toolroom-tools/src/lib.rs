//! Every kind of tool. Today the built-in ones and those of MCP servers; tools made in the dashboard, of
//! extensions and of clients are planned rooms.
//!
//! A tool here knows the kernel and the doors of `toolroom-host`; it never writes SQL and never opens a raw
//! socket, file or process.

#![forbid(unsafe_code)]

pub mod builtin;
pub mod mcp;
pub mod readable;
pub mod shell;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "fuzz targets read their corpus")]
#[path = "../../toolroom/tests/it/mutation.rs"]
mod mutation;
#[cfg(test)]
#[path = "../../toolroom/tests/it/scale.rs"]
mod scale;
