//! JSON-RPC errors. A failure of a tool is no such error but a result that the client's model can read.

use serde::Serialize;
use serde_json::{Value, json};

use crate::mcp::protocol::MODERN;

/// A JSON-RPC error.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Box<Value>>,
}

impl RpcError {
    pub(crate) const PARSE: i32 = -32700;
    pub(crate) const INVALID_REQUEST: i32 = -32600;
    pub(crate) const NO_METHOD: i32 = -32601;
    pub(crate) const INVALID_PARAMS: i32 = -32602;
    pub(crate) const INTERNAL: i32 = -32603;
    /// Unknown resource, in the era of sessions.
    pub(crate) const NO_RESOURCE: i32 = -32002;
    /// Headers and body differ.
    pub(crate) const HEADERS: i32 = -32020;
    /// The client lacks a required capability.
    pub(crate) const CAPABILITY: i32 = -32021;
    /// Too many concurrent requests. Implementation-defined.
    pub(crate) const BUSY: i32 = -32050;
    /// Unsupported protocol version.
    pub(crate) const VERSION: i32 = -32022;

    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(crate) fn with(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Self::INVALID_PARAMS, message)
    }

    pub(crate) fn no_method(method: &str) -> Self {
        let method: String = method.chars().take(100).collect();
        Self::new(Self::NO_METHOD, format!("unknown method `{method}`"))
    }

    pub(crate) fn headers(message: impl Into<String>) -> Self {
        Self::new(Self::HEADERS, message)
    }

    /// The client lacks this capability.
    pub(crate) fn needs(capability: &str) -> Self {
        let message = format!("this requires a client with the capability `{capability}`");
        Self::new(Self::CAPABILITY, message).with(json!({"requiredCapabilities": {capability: {}}}))
    }

    pub(crate) fn version(requested: &str) -> Self {
        let requested: String = requested.chars().take(100).collect();
        Self::new(Self::VERSION, "unsupported protocol version")
            .with(json!({"supported": [MODERN], "requested": requested}))
    }

    /// Too many concurrent requests.
    pub(crate) fn busy() -> Self {
        Self::new(Self::BUSY, "too many requests at once; wait for responses")
    }

    /// An internal error. The cause is logged, not sent.
    pub(crate) fn failure(cause: &(dyn std::error::Error + 'static)) -> Self {
        let causes = std::iter::successors(Some(cause), |error| error.source());
        let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        tracing::error!("an MCP request failed: {text}");
        Self::new(Self::INTERNAL, "internal error; see the server's log")
    }
}
