//! The `toolroom` command line, and the only place where the parts are joined ([`app`]).
//!
//! MCP, AG-UI and the dashboard are planned rooms of this crate; all of them will talk to [`app::App`],
//! never to each other.

pub mod agents;
pub mod app;
mod backup;
mod cli;
pub mod config;
mod documents;
mod examination;
mod http;
mod identity;
mod machine;
pub mod models;
#[cfg(test)]
#[path = "../../toolroom/tests/it/scale.rs"]
mod scale;

pub mod vault;

pub use cli::run;
