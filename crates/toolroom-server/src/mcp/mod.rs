//! The MCP server (Model Context Protocol).
//!
//! It speaks two eras of the protocol side by side. Since 2026-07-28 each request names its version and the client's
//! capabilities; before that a client opens a session with `initialize` ([`McpSession`]). [`McpServer`] handles the
//! requests of both, from either transport: HTTP (`http/mcp/`) and [`stdio`]. Tool calls go through
//! [`crate::calls::CallService`].

mod calls;
mod client_capabilities;
mod context;
pub(crate) mod fixtures;
#[cfg(test)]
mod fuzz;
mod prompts;
mod protocol;
mod resources;
mod server;
mod sessions;
pub(crate) mod stdio;
mod tool_listing;
mod tool_names;

pub(crate) use context::{ClientChannel, McpCaller, McpClient, RequestContext, RequestPermit};
pub(crate) use protocol::message::{
    Id, InvalidMessage, Message, OutgoingMessage, Request, error_text, notification_text, result_text,
};
pub(crate) use protocol::rpc_error::RpcError;
pub(crate) use protocol::{MODERN, Version};
pub(crate) use server::McpServer;
pub(crate) use sessions::running_requests::RunningRequest;
pub(crate) use sessions::session::McpSession;
pub(crate) use sessions::subscription::{ChangeSubscription, ListKinds};
