//! The MCP wire format: JSON-RPC messages, protocol eras, headers and errors.

pub(crate) mod era;
pub(crate) mod error;
pub(crate) mod message;
pub(crate) mod param_header;
mod surrogates;
