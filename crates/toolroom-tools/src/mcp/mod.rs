//! Tools of other MCP servers.
//!
//! [`Client`] talks to one server, of either era, over one of three transports: the program's own input and output,
//! streamable HTTP, or the older stream of events. Everything a server says is taken for what a stranger says: sizes,
//! counts and waits are bounded, ids are ours, and no answer reaches anybody who did not ask.

mod client;
mod definition;
mod desk;
mod door;
mod era;
mod error;
mod event_stream;
mod http;
mod message;
mod param_header;
mod stdio;
mod wire;

pub use client::{Client, Listing, Remote};
pub use definition::{Definition, Unusable};
pub use desk::{Attendant, Nobody, ProgressSink};
pub use door::{Challenge, Door, OpenDoor};
pub use era::Era;
pub use error::McpError;
