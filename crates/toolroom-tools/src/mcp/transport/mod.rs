//! The transports.

pub(crate) mod notification_stream;
pub(crate) mod remote;
pub(crate) mod sse;
pub(crate) mod stdio;
pub(crate) mod streamable_http;

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::mcp::client::pending::ProgressSink;
use crate::mcp::protocol::error::McpError;
use crate::mcp::transport::sse::SseTransport;
use crate::mcp::transport::stdio::Stdio;
use crate::mcp::transport::streamable_http::StreamableHttp;

/// Timeout of the last message about a request or session: its cancellation or its end.
pub(crate) const FAREWELL_TIMEOUT: Duration = Duration::from_secs(2);

/// A request before it has an id.
#[derive(Clone)]
pub(crate) struct OutgoingRequest {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// Restarts with each progress notification.
    pub(crate) timeout: Duration,
    pub(crate) progress: Option<ProgressSink>,
    /// Whether dropping the request sends a cancellation.
    pub(crate) is_cancellable: bool,
    /// Additional headers. Ignored by transports without headers.
    pub(crate) headers: Vec<(String, String)>,
}

impl OutgoingRequest {
    pub(crate) fn new(method: &str, params: Map<String, Value>, timeout: Duration) -> Self {
        let method = method.to_owned();
        Self { method, params, timeout, progress: None, is_cancellable: true, headers: Vec::new() }
    }

    /// The parameters with the progress token.
    pub(crate) fn params(&self, id: i64) -> Value {
        let mut params = self.params.clone();
        if self.progress.is_some()
            && let Value::Object(meta) = params.entry("_meta").or_insert_with(|| json!({}))
        {
            meta.insert("progressToken".to_owned(), json!(id));
        }
        Value::Object(params)
    }

    pub(crate) fn timed_out(&self) -> McpError {
        McpError::Timeout { method: self.method.clone(), after: self.timeout }
    }
}

/// The transport of a connection.
pub(crate) enum Transport {
    Stdio(Stdio),
    Http(StreamableHttp),
    Sse(SseTransport),
}

impl Transport {
    pub(crate) async fn request(&self, request: &OutgoingRequest) -> Result<Value, McpError> {
        match self {
            Self::Stdio(stdio) => stdio.request(request).await,
            Self::Http(http) => http.request(request).await,
            Self::Sse(stream) => stream.request(request).await,
        }
    }

    /// Sends a message that has no response.
    pub(crate) async fn send(&self, message: Vec<u8>) -> Result<(), McpError> {
        match self {
            Self::Stdio(stdio) => stdio.send(message).await,
            Self::Http(http) => http.send(message).await,
            Self::Sse(stream) => stream.send(message).await,
        }
    }

    /// Whether the connection can be used.
    pub(crate) fn is_alive(&self) -> bool {
        match self {
            Self::Stdio(stdio) => stdio.is_alive(),
            Self::Http(http) => http.is_alive(),
            Self::Sse(stream) => stream.is_alive(),
        }
    }
}
