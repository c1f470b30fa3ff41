//! Messages of JSON-RPC and MCP, as they are read and written.

mod id;
pub(super) mod message;
pub(super) mod outgoing;
pub(super) mod params;
pub(super) mod reply;
pub(super) mod rpc_error;
pub(super) mod version;
