//! The client of one MCP server: negotiates, lists tools, calls them, reads resources.

mod handshake;
pub(crate) mod pending;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::AbortHandle;
use toolroom_host::process::{Order, Supervisor};

use crate::mcp::catalog::definition::{Definition, UnusableTool};
use crate::mcp::client::pending::{ClientHandler, PendingRequests, ProgressSink};
use crate::mcp::protocol::Era;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::shortened;
use crate::mcp::protocol::param_header::encoded;
use crate::mcp::transport::remote::Remote;
use crate::mcp::transport::sse::SseTransport;
use crate::mcp::transport::stdio::Stdio;
use crate::mcp::transport::streamable_http::StreamableHttp;
use crate::mcp::transport::{OutgoingRequest, Transport};

/// Timeout of a page of `tools/list`.
const LIST_TIMEOUT: Duration = Duration::from_secs(30);

/// Limits of `tools/list`.
const MAX_TOOLS: usize = 1_000;
const MAX_PAGES: usize = 200;

/// The largest total size of a server's definitions.
const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;

/// How often a server may ask for input during one request.
const MAX_ROUNDS: usize = 8;

/// Characters of a name that error messages show.
const SHOWN_CHARS: usize = 80;

/// A connection to a server. Dropping it closes it and ends the program, if there is one.
pub struct Client {
    pub(crate) transport: Arc<Transport>,
    /// The task that receives notifications.
    pub(crate) listening: Option<AbortHandle>,
    pub(crate) pending: Arc<PendingRequests>,
    pub(crate) era: Era,
    pub(crate) version: String,
    pub(crate) server_info: Value,
}

/// The tools of a server.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Usable tools with unique names.
    pub tools: Vec<Definition>,
    /// Unusable tools.
    pub left_out: Vec<UnusableTool>,
}

impl Client {
    /// Starts a program and connects to it. `known` is the era of the last connection.
    pub async fn start(
        supervisor: &Supervisor,
        order: Order,
        known: Option<Era>,
        handler: Arc<dyn ClientHandler>,
    ) -> Result<Self, McpError> {
        let pending = PendingRequests::new(handler);
        let stdio = Stdio::start(supervisor, order, Arc::clone(&pending)).await?;
        Self::negotiate(Transport::Stdio(stdio), pending, known).await
    }

    /// Connects over streamable HTTP.
    pub async fn connect(
        remote: Remote,
        known: Option<Era>,
        handler: Arc<dyn ClientHandler>,
    ) -> Result<Self, McpError> {
        let pending = PendingRequests::new(handler);
        let transport = Transport::Http(StreamableHttp::new(remote, Arc::clone(&pending)));
        Self::negotiate(transport, pending, known).await
    }

    /// Connects over the older HTTP+SSE transport.
    pub async fn listen(remote: Remote, handler: Arc<dyn ClientHandler>) -> Result<Self, McpError> {
        let pending = PendingRequests::new(handler);
        let transport = Transport::Sse(SseTransport::open(remote, Arc::clone(&pending)).await?);
        Self::negotiate(transport, pending, Some(Era::Session)).await
    }

    /// The era that was negotiated.
    #[must_use]
    pub fn era(&self) -> Era {
        self.era
    }

    /// The version that was negotiated.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Name and version of the server, both shortened.
    #[must_use]
    pub fn server_name(&self) -> (String, String) {
        let meta = self.server_info.pointer("/_meta/io.modelcontextprotocol~1serverInfo");
        let info = self.server_info.get("serverInfo").or(meta);
        let text =
            |name: &str| info.and_then(|info| info.get(name)).and_then(Value::as_str).unwrap_or_default();
        (shortened(text("name"), SHOWN_CHARS), shortened(text("version"), SHOWN_CHARS))
    }

    /// Whether the connection can be used.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.transport.is_alive()
    }

    /// Closes the connection and waits for it. Dropping the client closes it without waiting.
    pub async fn close(self) {
        if let Transport::Http(http) = &*self.transport {
            http.close().await;
        }
    }

    /// All tools of the server, within limits.
    pub async fn tools(&self) -> Result<Listing, McpError> {
        let mut listing = Listing::default();
        let (mut names, mut bytes) = (HashSet::new(), 0);
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut params = Map::new();
            if let Some(cursor) = &cursor {
                params.insert("cursor".to_owned(), json!(cursor));
            }
            let page = self.request(OutgoingRequest::new("tools/list", params, LIST_TIMEOUT)).await?;
            let tools = page.get("tools").and_then(Value::as_array);
            for tool in
                tools.ok_or_else(|| McpError::Protocol("`tools/list` has no list `tools`".to_owned()))?
            {
                let read = Definition::parse_sized(tool).and_then(|(tool, size)| {
                    let unusable = |why: &str| UnusableTool { name: tool.name.clone(), why: why.to_owned() };
                    match (names.contains(&tool.name), bytes + size > MAX_LIST_BYTES) {
                        (true, _) => Err(unusable("another tool of the server has the same name")),
                        (false, true) => {
                            Err(unusable("the server's definitions together are larger than 4 MiB"))
                        }
                        (false, false) => Ok((tool, size)),
                    }
                });
                match read {
                    Ok((tool, size)) => {
                        bytes += size;
                        names.insert(tool.name.clone());
                        listing.tools.push(tool);
                    }
                    Err(unusable) => listing.left_out.push(unusable),
                }
                if names.len() + listing.left_out.len() > MAX_TOOLS {
                    return Err(McpError::LimitExceeded {
                        what: "the list of tools",
                        limit: format!("{MAX_TOOLS} tools"),
                    });
                }
            }
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                return Ok(listing);
            }
        }
        Err(McpError::LimitExceeded { what: "the list of tools", limit: format!("{MAX_PAGES} pages") })
    }

    /// Calls a tool. Dropping the future cancels the call at the server. The timeout restarts with each progress
    /// notification.
    pub async fn call(
        &self,
        tool: &Definition,
        arguments: &Map<String, Value>,
        timeout: Duration,
        progress: Option<ProgressSink>,
    ) -> Result<Map<String, Value>, McpError> {
        let mut params = Map::new();
        params.insert("name".to_owned(), json!(tool.name));
        params.insert("arguments".to_owned(), Value::Object(arguments.clone()));
        let mut headers = vec![("mcp-name".to_owned(), encoded(&tool.name))];
        headers.extend(tool.headers.iter().filter_map(|header| header.value(arguments)));
        let request =
            OutgoingRequest { progress, headers, ..OutgoingRequest::new("tools/call", params, timeout) };
        self.request_with_input(request).await
    }

    /// Reads a resource.
    pub async fn read_resource(&self, uri: &str, timeout: Duration) -> Result<Map<String, Value>, McpError> {
        let params = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let headers = vec![("mcp-name".to_owned(), encoded(uri))];
        let request = OutgoingRequest { headers, ..OutgoingRequest::new("resources/read", params, timeout) };
        self.request_with_input(request).await
    }

    /// A page of the server's resources.
    pub async fn resources(
        &self,
        cursor: Option<&str>,
        timeout: Duration,
    ) -> Result<Map<String, Value>, McpError> {
        let params = cursor.map(|cursor| ("cursor".to_owned(), json!(cursor)));
        let params = params.into_iter().collect();
        self.request_with_input(OutgoingRequest::new("resources/list", params, timeout)).await
    }

    /// Sends a request, and again with the input that the server asks for.
    async fn request_with_input(&self, request: OutgoingRequest) -> Result<Map<String, Value>, McpError> {
        let mut extra = Map::new();
        for _ in 0..MAX_ROUNDS {
            let mut request = request.clone();
            request.params.append(&mut extra);
            let Value::Object(result) = self.request(request).await? else {
                return Err(McpError::Protocol("a result is not an object".to_owned()));
            };
            match result.get("resultType").and_then(Value::as_str) {
                None | Some("complete") => return Ok(result),
                Some("input_required") => extra = self.inputs(result)?,
                Some(other) => {
                    let other = shortened(other, SHOWN_CHARS);
                    return Err(McpError::Protocol(format!("a result has the unknown type `{other}`")));
                }
            }
        }
        Err(McpError::LimitExceeded {
            what: "the number of input requests",
            limit: format!("{MAX_ROUNDS} per call"),
        })
    }

    /// The parameters that answer the server's input requests.
    fn inputs(&self, mut result: Map<String, Value>) -> Result<Map<String, Value>, McpError> {
        let mut extra = Map::new();
        if let Some(Value::Object(requests)) = result.remove("inputRequests") {
            let mut responses = Map::new();
            for (name, request) in requests {
                let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
                let params = request.get("params").unwrap_or(&Value::Null);
                let handler = self.pending.handler();
                let response = handler.handle_request(method, params).ok_or(McpError::InputRequired)?;
                responses.insert(name, response);
            }
            if !responses.is_empty() {
                extra.insert("inputResponses".to_owned(), Value::Object(responses));
            }
        }
        // Opaque: returned unchanged.
        if let Some(state) = result.remove("requestState") {
            extra.insert("requestState".to_owned(), state);
        }
        if extra.is_empty() {
            return Err(McpError::Protocol("it requires input but names none".to_owned()));
        }
        Ok(extra)
    }

    /// Sends a request with the `_meta` of the era.
    pub(crate) async fn request(&self, mut request: OutgoingRequest) -> Result<Value, McpError> {
        if self.era == Era::Stateless {
            request.params.insert("_meta".to_owned(), self.meta());
        }
        self.transport.request(&request).await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}
