//! Tools and resources of other MCP servers.
//!
//! [`Client`] talks to one server, of either era, over one of three transports: the program's standard input and output,
//! streamable HTTP, or the older HTTP with server-sent events. Servers are untrusted: sizes, counts and waits are bounded,
//! request ids are ours, and a response reaches only the request it belongs to.
//!
//! [`Gateway`] manages all servers of a project. It registers the accepted tools ([`lock`]) in the catalog, starts a server
//! on the first call of one of its tools, in the sandbox its entry names, and gives up on a server that fails repeatedly.
//! The annotations of a foreign tool can only make its classification stricter.

mod auth;
mod catalog;
mod client;
mod connection;
#[cfg(test)]
mod fuzz;
pub mod import;
mod launch;
mod protocol;
mod transport;

pub use auth::{Challenge, Credentials, oauth};
pub use catalog::classification::{Classification, ClassificationReason, classify};
pub use catalog::definition::{Definition, UnusableTool};
pub use catalog::gateway::{Gateway, GatewayServices, InspectError};
pub use catalog::lock;
pub use client::pending::{ClientHandler, DefaultHandler, ProgressSink};
pub use client::{Client, Listing};
pub use launch::program::reads;
pub use launch::secret_reference::{named_secret, names_secret};
pub use launch::{LaunchEnvironment, ServerSecrets, filled_address, values};
pub use protocol::Era;
pub use protocol::error::McpError;
pub use transport::remote::{Remote, egress_policy, is_unencrypted};
