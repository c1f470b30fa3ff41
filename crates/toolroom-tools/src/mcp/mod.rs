//! Tools of other MCP servers.
//!
//! [`Client`] talks to one server, of either era, over one of three transports: the program's own input and output,
//! streamable HTTP, or the older stream of events. Everything a server says is taken for what a stranger says: sizes,
//! counts and waits are bounded, ids are ours, and no answer reaches anybody who did not ask.
//!
//! [`Gateway`] is all servers of a project: it puts their tools into the catalog from what a person has accepted of them
//! ([`lock`]), starts a server when a tool of it is called, in the sandbox its entry names, and gives one up that fails
//! again and again. What a foreign tool says about itself can only make it more suspect.

mod berth;
mod client;
mod content;
mod declared;
mod definition;
mod desk;
mod door;
mod era;
mod error;
mod event_stream;
#[cfg(test)]
mod fuzz;
mod gateway;
mod handshake;
mod http;
pub mod import;
mod launcher;
mod listening;
pub mod lock;
mod message;
mod named_secret;
pub mod oauth;
mod outcome;
mod param_header;
mod program;
mod reach;
mod remote;
mod resources;
mod stdio;
mod surrogates;
mod tool;
mod wire;

pub use client::{Client, Listing};
pub use declared::{Because, Worth, worth};
pub use definition::{Definition, Unusable};
pub use desk::{Attendant, Nobody, ProgressSink};
pub use door::{Challenge, Door};
pub use era::Era;
pub use error::McpError;
pub use gateway::{Failed, Gateway, Surroundings};
pub use launcher::{Grounds, Safe, filled_address, values};
pub use named_secret::{named_secret, names_secret};
pub use program::reads;
pub use reach::{is_overheard, reach};
pub use remote::Remote;
