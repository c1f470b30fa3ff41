//! Built-in tools and those of MCP servers. Declared tools and tools of extensions are planned.
//!
//! Tools use the kernel and the doors of `toolroom-host`; they never write SQL and never open a raw socket, file or
//! process.

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
