//! The ways to talk to a server, behind one face.

pub(crate) mod event_stream;
pub(crate) mod listening;
pub(crate) mod reach;
pub(crate) mod remote;
pub(crate) mod stdio;
pub(crate) mod streamable_http;

use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::mcp::client::pending::ProgressSink;
use crate::mcp::protocol::error::McpError;
use crate::mcp::transport::event_stream::EventStream;
use crate::mcp::transport::stdio::Stdio;
use crate::mcp::transport::streamable_http::StreamableHttp;

/// How long a server may take over what is the last thing said to it: that nobody waits for an answer any more, or that a
/// session ends. Whoever said it does not depend on it.
pub(crate) const LAST_WORD: Duration = Duration::from_secs(2);

/// A request before it has a number.
#[derive(Clone)]
pub(crate) struct Ask {
    pub(crate) method: String,
    pub(crate) params: Map<String, Value>,
    /// How long the server may be silent.
    pub(crate) patience: Duration,
    pub(crate) progress: Option<ProgressSink>,
    /// Whether the server may be told that nobody waits any more.
    pub(crate) may_cancel: bool,
    /// Headers beside the usual ones, where there are headers.
    pub(crate) headers: Vec<(String, String)>,
}

impl Ask {
    pub(crate) fn new(method: &str, params: Map<String, Value>, patience: Duration) -> Self {
        let method = method.to_owned();
        Self { method, params, patience, progress: None, may_cancel: true, headers: Vec::new() }
    }

    /// The parameters with the name under which progress is told.
    pub(crate) fn params(&self, id: i64) -> Value {
        let mut params = self.params.clone();
        if self.progress.is_some()
            && let Value::Object(meta) = params.entry("_meta").or_insert_with(|| json!({}))
        {
            meta.insert("progressToken".to_owned(), json!(id));
        }
        Value::Object(params)
    }

    pub(crate) fn silent(&self) -> McpError {
        McpError::Silent { method: self.method.clone(), after: self.patience }
    }
}

/// A way to a server.
pub(crate) enum Wire {
    Stdio(Stdio),
    Http(StreamableHttp),
    EventStream(EventStream),
}

impl Wire {
    pub(crate) async fn ask(&self, ask: &Ask) -> Result<Value, McpError> {
        match self {
            Self::Stdio(stdio) => stdio.ask(ask).await,
            Self::Http(http) => http.ask(ask).await,
            Self::EventStream(stream) => stream.ask(ask).await,
        }
    }

    pub(crate) async fn tell(&self, message: Vec<u8>) -> Result<(), McpError> {
        match self {
            Self::Stdio(stdio) => stdio.tell(message).await,
            Self::Http(http) => http.tell(message).await,
            Self::EventStream(stream) => stream.tell(message).await,
        }
    }

    /// Whether it can still be used.
    pub(crate) fn is_alive(&self) -> bool {
        match self {
            Self::Stdio(stdio) => stdio.is_alive(),
            Self::Http(http) => http.is_alive(),
            Self::EventStream(stream) => stream.is_alive(),
        }
    }
}
