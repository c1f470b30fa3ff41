//! What a client is told when its request is none: the errors of JSON-RPC and of the protocol.
//!
//! What goes wrong in a tool is no such error: it is a result that the client's model can read.

use serde::Serialize;
use serde_json::{Value, json};

use crate::mcp::protocol::version::MODERN;

/// An error, as the protocol has it.
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
    /// A resource that is not there, in the earlier era.
    pub(crate) const NO_RESOURCE: i32 = -32002;
    /// Headers and body do not say the same.
    pub(crate) const HEADERS: i32 = -32020;
    /// The client cannot do what the request needs.
    pub(crate) const CAPABILITY: i32 = -32021;
    /// More is asked than is worked on at once. Of the codes that every program may take for itself.
    pub(crate) const BUSY: i32 = -32050;
    /// A version that is not spoken here.
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
        Self::new(Self::NO_METHOD, format!("there is no method `{method}`"))
    }

    pub(crate) fn headers(message: impl Into<String>) -> Self {
        Self::new(Self::HEADERS, message)
    }

    /// The client would have to be able to do this.
    pub(crate) fn needs(capability: &str) -> Self {
        let message = format!("this needs a client with the capability `{capability}`");
        Self::new(Self::CAPABILITY, message).with(json!({"requiredCapabilities": {capability: {}}}))
    }

    pub(crate) fn version(requested: &str) -> Self {
        let requested: String = requested.chars().take(100).collect();
        Self::new(Self::VERSION, "this version of the protocol is not spoken here")
            .with(json!({"supported": [MODERN], "requested": requested}))
    }

    /// More is being done for the client than may be.
    pub(crate) fn busy() -> Self {
        Self::new(Self::BUSY, "too much is asked at once; wait for some answers")
    }

    /// Our own failure. Its cause goes to the log, not to the client.
    pub(crate) fn failure(cause: &(dyn std::error::Error + 'static)) -> Self {
        let causes = std::iter::successors(Some(cause), |error| error.source());
        let text = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
        tracing::error!("a request of MCP failed: {text}");
        Self::new(
            Self::INTERNAL,
            "this did not work, and it is not your fault; the log of the server says why",
        )
    }
}
