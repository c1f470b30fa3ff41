//! The `toolroom` command line and server. [`app`] is the only place that joins the other crates.
//!
//! The dashboard is planned as a module of this crate that uses only [`app::App`].

#![forbid(unsafe_code)]

pub mod agents;
mod agui;
mod all_tools;
pub mod app;
mod approvals;
mod backup;
mod calendar;
mod calls;
mod cli;
pub mod config;
mod database;
mod doctor;
mod documents;
mod escape;
mod gateway;
mod host_tools;
mod http;
mod identity;
mod mcp;
mod metrics;
mod missing_database;
pub mod models;
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "fuzz targets read their corpus")]
#[path = "../../toolroom/tests/it/mutation.rs"]
mod mutation;
mod openai;
mod own_files;
mod retention;
mod runs;
#[cfg(test)]
#[path = "../../toolroom/tests/it/scale.rs"]
mod scale;
mod search;
mod settings;
mod telemetry;
pub mod vault;

pub use cli::run;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
