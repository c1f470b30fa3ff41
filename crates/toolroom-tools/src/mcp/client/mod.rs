//! The client of one server: finds its era, lists its tools, calls them.

mod handshake;
pub(crate) mod pending;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::task::AbortHandle;
use toolroom_host::process::{Order, Supervisor};

use crate::mcp::catalog::definition::{Definition, Unusable};
use crate::mcp::client::pending::{Attendant, Desk, ProgressSink};
use crate::mcp::protocol::era::Era;
use crate::mcp::protocol::error::McpError;
use crate::mcp::protocol::message::shortened;
use crate::mcp::protocol::param_header::encoded;
use crate::mcp::transport::event_stream::EventStream;
use crate::mcp::transport::remote::Remote;
use crate::mcp::transport::stdio::Stdio;
use crate::mcp::transport::streamable_http::StreamableHttp;
use crate::mcp::transport::{Ask, Wire};

/// How long a page of a list may take.
const LISTING: Duration = Duration::from_secs(30);

/// Tools that are taken from one server, and pages they come in.
const MAX_TOOLS: usize = 1_000;
const MAX_PAGES: usize = 200;

/// What all definitions of one server may have together.
const MAX_LIST_BYTES: usize = 4 * 1024 * 1024;

/// How often a server may ask for more in the course of one call.
const MAX_ROUNDS: usize = 8;

/// What is shown of a name.
const SHOWN_CHARS: usize = 80;

/// A connection to a server. Dropping it ends it, and the program if there is one.
pub struct Client {
    pub(crate) wire: Arc<Wire>,
    /// Hears what the server says unasked.
    pub(crate) listening: Option<AbortHandle>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) era: Era,
    pub(crate) version: String,
    pub(crate) about: Value,
}

/// The tools of a server.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Those that can be used, each name once.
    pub tools: Vec<Definition>,
    /// Those that cannot.
    pub left_out: Vec<Unusable>,
}

impl Client {
    /// Starts a program and talks to it. `known` is the era it had the last time.
    pub async fn start(
        supervisor: &Supervisor,
        order: Order,
        known: Option<Era>,
        attendant: Arc<dyn Attendant>,
    ) -> Result<Self, McpError> {
        let desk = Desk::new(attendant);
        let stdio = Stdio::start(supervisor, order, Arc::clone(&desk)).await?;
        Self::agree(Wire::Stdio(stdio), desk, known).await
    }

    /// Talks to a server over streamable HTTP.
    pub async fn connect(
        remote: Remote,
        known: Option<Era>,
        attendant: Arc<dyn Attendant>,
    ) -> Result<Self, McpError> {
        let desk = Desk::new(attendant);
        let wire = Wire::Http(StreamableHttp::new(remote, Arc::clone(&desk)));
        Self::agree(wire, desk, known).await
    }

    /// Talks to a server over the older transport, a stream that stays open.
    pub async fn listen(remote: Remote, attendant: Arc<dyn Attendant>) -> Result<Self, McpError> {
        let desk = Desk::new(attendant);
        let wire = Wire::EventStream(EventStream::open(remote, Arc::clone(&desk)).await?);
        Self::agree(wire, desk, Some(Era::Session)).await
    }

    /// The era the server is of.
    #[must_use]
    pub fn era(&self) -> Era {
        self.era
    }

    /// The version that is spoken.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What the server calls itself, and its version, both shortened.
    #[must_use]
    pub fn server_name(&self) -> (String, String) {
        let meta = self.about.pointer("/_meta/io.modelcontextprotocol~1serverInfo");
        let info = self.about.get("serverInfo").or(meta);
        let text =
            |name: &str| info.and_then(|info| info.get(name)).and_then(Value::as_str).unwrap_or_default();
        (shortened(text("name"), SHOWN_CHARS), shortened(text("version"), SHOWN_CHARS))
    }

    /// Whether it can still be asked.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.wire.is_alive()
    }

    /// Ends the connection in order. Dropping it does so, too, and waits for nothing.
    pub async fn close(self) {
        if let Wire::Http(http) = &*self.wire {
            http.close().await;
        }
    }

    /// Every tool the server has, page by page, as far as there is room for them.
    pub async fn tools(&self) -> Result<Listing, McpError> {
        let mut listing = Listing::default();
        let (mut names, mut bytes) = (HashSet::new(), 0);
        let mut cursor: Option<String> = None;
        for _ in 0..MAX_PAGES {
            let mut params = Map::new();
            if let Some(cursor) = &cursor {
                params.insert("cursor".to_owned(), json!(cursor));
            }
            let page = self.ask(Ask::new("tools/list", params, LISTING)).await?;
            let tools = page.get("tools").and_then(Value::as_array);
            for tool in tools.ok_or_else(|| McpError::Nonsense("a list of tools is none".to_owned()))? {
                let read = Definition::read_sized(tool).and_then(|(tool, size)| {
                    let bad = |why: &str| Unusable { name: tool.name.clone(), why: why.to_owned() };
                    match (names.contains(&tool.name), bytes + size > MAX_LIST_BYTES) {
                        (true, _) => Err(bad("another tool of the server has that name")),
                        (false, true) => {
                            Err(bad("all tools of a server together may not be larger than 4 MiB"))
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
                    return Err(McpError::TooMuch {
                        what: "the list of tools",
                        limit: MAX_TOOLS.to_string(),
                    });
                }
            }
            cursor = page.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
            if cursor.is_none() {
                return Ok(listing);
            }
        }
        Err(McpError::TooMuch { what: "the list of tools", limit: format!("{MAX_PAGES} pages") })
    }

    /// Calls a tool and gives its whole result. Whoever drops this has the server told so. Nothing may be silent for
    /// longer than `patience`; progress counts as a sign of life.
    pub async fn call(
        &self,
        tool: &Definition,
        arguments: &Map<String, Value>,
        patience: Duration,
        progress: Option<ProgressSink>,
    ) -> Result<Map<String, Value>, McpError> {
        let mut params = Map::new();
        params.insert("name".to_owned(), json!(tool.name));
        params.insert("arguments".to_owned(), Value::Object(arguments.clone()));
        let mut headers = vec![("mcp-name".to_owned(), encoded(&tool.name))];
        headers.extend(tool.headers.iter().filter_map(|header| header.of(arguments)));
        self.ask_in_rounds(Ask { progress, headers, ..Ask::new("tools/call", params, patience) }).await
    }

    /// What is at an address of the server.
    pub async fn read_resource(&self, uri: &str, patience: Duration) -> Result<Map<String, Value>, McpError> {
        let params = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let headers = vec![("mcp-name".to_owned(), encoded(uri))];
        self.ask_in_rounds(Ask { headers, ..Ask::new("resources/read", params, patience) }).await
    }

    /// A page of what can be read there.
    pub async fn resources(
        &self,
        cursor: Option<&str>,
        patience: Duration,
    ) -> Result<Map<String, Value>, McpError> {
        let params = cursor.map(|cursor| ("cursor".to_owned(), json!(cursor)));
        self.ask_in_rounds(Ask::new("resources/list", params.into_iter().collect(), patience)).await
    }

    /// Asks, and tells the server what it wants to know in between.
    async fn ask_in_rounds(&self, ask: Ask) -> Result<Map<String, Value>, McpError> {
        let mut extra = Map::new();
        for _ in 0..MAX_ROUNDS {
            let mut ask = ask.clone();
            ask.params.append(&mut extra);
            let Value::Object(result) = self.ask(ask).await? else {
                return Err(McpError::Nonsense("a result is no object".to_owned()));
            };
            match result.get("resultType").and_then(Value::as_str) {
                None | Some("complete") => return Ok(result),
                Some("input_required") => extra = self.inputs(result)?,
                Some(other) => {
                    let other = shortened(other, SHOWN_CHARS);
                    return Err(McpError::Nonsense(format!("a result is of the unknown type `{other}`")));
                }
            }
        }
        Err(McpError::TooMuch { what: "another question in one call", limit: MAX_ROUNDS.to_string() })
    }

    /// What goes along when a call is made again because the server wants to know more.
    fn inputs(&self, mut result: Map<String, Value>) -> Result<Map<String, Value>, McpError> {
        let mut extra = Map::new();
        if let Some(Value::Object(questions)) = result.remove("inputRequests") {
            let mut answers = Map::new();
            for (name, question) in questions {
                let method = question.get("method").and_then(Value::as_str).unwrap_or_default();
                let params = question.get("params").unwrap_or(&Value::Null);
                let answer = self.desk.attendant().answer(method, params).ok_or(McpError::WantsInput)?;
                answers.insert(name, answer);
            }
            if !answers.is_empty() {
                extra.insert("inputResponses".to_owned(), Value::Object(answers));
            }
        }
        // It is the server's own, and goes back as it came.
        if let Some(state) = result.remove("requestState") {
            extra.insert("requestState".to_owned(), state);
        }
        if extra.is_empty() {
            return Err(McpError::Nonsense("it wants to know more and does not say what".to_owned()));
        }
        Ok(extra)
    }

    /// Asks with everything that belongs to a request of the era.
    pub(crate) async fn ask(&self, mut ask: Ask) -> Result<Value, McpError> {
        if self.era == Era::Stateless {
            ask.params.insert("_meta".to_owned(), self.meta());
        }
        self.wire.ask(&ask).await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}
