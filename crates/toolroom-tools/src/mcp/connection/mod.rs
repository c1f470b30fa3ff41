//! The connection to one MCP server: opened when it is needed, supervised while it lives.

mod connecting;
mod failures;
mod notifications;
mod record;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use toolroom::call::CallContext;
use toolroom::clock::Clock;
use toolroom::foreign::{ForeignServers, ServerRecord};
use toolroom::scope::ProjectId;
use toolroom::tool::{Arguments, ErrorKind, ToolError};

use crate::mcp::catalog::definition::Definition;
use crate::mcp::catalog::outcome::failed;
use crate::mcp::catalog::tool::DEFAULT_TIMEOUT;
use crate::mcp::client::Client;
use crate::mcp::client::pending::ClientHandler as _;
use crate::mcp::launch::{Launcher, StartedServer};
use crate::mcp::protocol::error::McpError;
use connecting::ConnectAttempt;
use notifications::NotificationHandler;

/// A request may outlast the deadline of its call by this time.
const AFTER_DEADLINE: Duration = Duration::from_secs(5);

/// A connection without requests is closed after this time; the next call opens it again.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Tools are listed again after this time: servers need not announce changes.
const LISTING_MAX_AGE: Duration = Duration::from_secs(10 * 60);

/// How long maintenance waits for one server. The work it began continues.
const MAINTENANCE_TIMEOUT: Duration = Duration::from_secs(3);

/// What all connections of a gateway share.
pub(crate) struct Shared {
    pub(crate) project: ProjectId,
    pub(crate) store: Arc<dyn ForeignServers>,
    pub(crate) launcher: Launcher,
    pub(crate) clock: Arc<dyn Clock>,
    /// Time limit for the handshake and the first list of tools.
    pub(crate) start_limit: Duration,
    /// Notified when the stored servers differ from those in the catalog.
    pub(crate) outdated: Arc<Notify>,
}

/// A server and its live connection, if there is one.
pub(crate) struct ServerConnection {
    pub(crate) record: ServerRecord,
    shared: Arc<Shared>,
    state: Mutex<ConnectionState>,
    notifications: Arc<NotificationHandler>,
    /// Ignores earlier failures: the user is inspecting the server.
    skips_backoff: bool,
}

/// A request to a server.
pub(crate) enum ServerRequest<'a> {
    /// `tools/call`, if the server still offers the definition with this hash.
    CallTool { tool: &'a Definition, hash: &'a str, arguments: &'a Arguments },
    /// `resources/read`.
    ReadResource { uri: &'a str },
    /// `resources/list`.
    ListResources { cursor: Option<&'a str> },
}

#[derive(Default)]
struct ConnectionState {
    live: Option<Arc<LiveConnection>>,
    attempt: Option<ConnectAttempt>,
}

/// A live connection, and the tools that were listed over it.
pub(crate) struct LiveConnection {
    server: Arc<StartedServer>,
    /// A hash of the definition of each offered tool.
    hashes: HashMap<String, String>,
    listed: Instant,
    used: Mutex<Instant>,
}

impl LiveConnection {
    fn new(server: Arc<StartedServer>, hashes: HashMap<String, String>) -> Self {
        let now = Instant::now();
        Self { server, hashes, listed: now, used: Mutex::new(now) }
    }

    fn client(&self) -> &Client {
        &self.server.client
    }

    fn is_alive(&self) -> bool {
        self.client().is_alive()
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether no call uses it, or has used it lately. Each running call holds a reference.
    fn is_idle(self: &Arc<Self>) -> bool {
        let last = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::strong_count(self) == 1 && last.elapsed() > IDLE_TIMEOUT
    }
}

impl ServerConnection {
    pub(crate) fn new(shared: Arc<Shared>, record: ServerRecord) -> Arc<Self> {
        Arc::new(Self::with_backoff(shared, record, true))
    }

    /// A connection that ignores earlier failures, for inspection by the user.
    pub(crate) fn without_backoff(shared: Arc<Shared>, record: ServerRecord) -> Arc<Self> {
        Arc::new(Self::with_backoff(shared, record, false))
    }

    fn with_backoff(shared: Arc<Shared>, record: ServerRecord, has_backoff: bool) -> Self {
        let (state, notifications) = (Mutex::default(), Arc::default());
        Self { record, shared, state, notifications, skips_backoff: !has_backoff }
    }

    pub(crate) fn name(&self) -> &str {
        &self.record.name
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.record.timeout_seconds.map_or(DEFAULT_TIMEOUT, Duration::from_secs)
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request, opening a connection if necessary, and returns its result.
    pub(crate) async fn send(
        self: &Arc<Self>,
        context: &Arc<CallContext>,
        request: &ServerRequest<'_>,
    ) -> Result<Map<String, Value>, ToolError> {
        let mut is_retry = false;
        self.check_entry().await?;
        loop {
            let live = self.open().await.map_err(|error| failed(self.name(), error, false))?;
            if let ServerRequest::CallTool { tool, hash, .. } = request
                && live.hashes.get(&tool.name).map(String::as_str) != Some(*hash)
            {
                return Err(self.not_accepted(&tool.name, live.hashes.contains_key(&tool.name)));
            }
            let left = context.deadline().map(|at| at.saturating_duration_since(Instant::now()));
            // The kernel ends the call at its deadline; this bounds calls that have none.
            let timeout = left.unwrap_or_else(|| self.timeout()).saturating_add(AFTER_DEADLINE);
            let receiver = Arc::clone(context);
            let progress = Arc::new(move |message: String, fraction| receiver.progress(message, fraction));
            let began = Instant::now();
            let client = live.client();
            let result = match *request {
                ServerRequest::CallTool { tool, arguments, .. } => {
                    client.call(tool, arguments, timeout, Some(progress)).await
                }
                ServerRequest::ReadResource { uri } => client.read_resource(uri, timeout).await,
                ServerRequest::ListResources { cursor } => client.resources(cursor, timeout).await,
            };
            live.touch();
            match result {
                Ok(result) => return Ok(result),
                // The request was not processed: repeat it in a new session.
                Err(McpError::SessionLost) if !is_retry => {
                    is_retry = true;
                    self.discard(&live);
                }
                Err(error) => {
                    if !live.is_alive() && self.discard(&live) {
                        self.note_failure(&error, began.elapsed()).await;
                    }
                    return Err(failed(self.name(), error, true));
                }
            }
        }
    }

    /// Discards a live connection. Returns whether it was the current one.
    fn discard(&self, live: &Arc<LiveConnection>) -> bool {
        let mut state = self.state();
        let is_current = state.live.as_ref().is_some_and(|current| Arc::ptr_eq(current, live));
        if is_current {
            state.live = None;
        }
        is_current
    }

    /// Checks that the server is enabled and unchanged: another process may have changed its entry.
    async fn check_entry(&self) -> Result<(), ToolError> {
        let Shared { project, store, outdated, .. } = &*self.shared;
        let servers = store.servers(project).await.map_err(|error| {
            let unknown = format!("cannot read the configuration of the server `{}`", self.name());
            ToolError::new(ErrorKind::PermissionDenied, unknown).caused_by(error)
        })?;
        match servers.iter().find(|server| server.name == self.name()) {
            Some(server) if *server == self.record => Ok(()),
            Some(server) if server.is_enabled => {
                outdated.notify_one();
                Err(failed(self.name(), McpError::EntryChanged, false))
            }
            _ => {
                outdated.notify_one();
                let off = format!("the server `{}` is disabled", self.name());
                Err(ToolError::new(ErrorKind::PermissionDenied, off))
            }
        }
    }

    fn not_accepted(&self, tool: &str, is_offered: bool) -> ToolError {
        let server = self.name();
        match is_offered {
            true => ToolError::new(
                ErrorKind::PermissionDenied,
                format!("the server `{server}` has changed the definition of `{tool}` since it was accepted"),
            )
            .with_hint(format!("the user has to review the change with `toolroom mcp review {server}`")),
            false => ToolError::not_found(format!("the server `{server}` no longer has the tool `{tool}`")),
        }
    }

    /// Closes the connection if it is idle, stores what the program printed, and lists the tools again if they may have changed.
    /// Returns whether it listed them.
    pub(crate) async fn maintain(self: &Arc<Self>) -> bool {
        let ended = self.state().live.clone().filter(|live| !live.is_alive());
        match ended {
            Some(live) if self.discard(&live) => {
                let error = McpError::Exited { how: "it ended by itself".to_owned() };
                self.note_failure(&error, Duration::ZERO).await;
            }
            _ => self.store_log().await,
        }
        let lists_again = {
            let mut state = self.state();
            if state.live.as_ref().is_some_and(LiveConnection::is_idle) {
                state.live = None;
            }
            if state.live.as_ref().is_some_and(|live| live.listed.elapsed() > LISTING_MAX_AGE) {
                self.notifications.on_tools_changed();
            }
            state.live.is_some() && self.notifications.have_tools_changed()
        };
        if !lists_again {
            return false;
        }
        match timeout(MAINTENANCE_TIMEOUT, self.open()).await {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                tracing::debug!(%error, "cannot list the tools of a server again yet");
                false
            }
            Err(_) => false,
        }
    }

    /// Closes the connection. An attempt to connect that is still running counts as a failure.
    pub(crate) async fn close(&self) {
        let ConnectionState { live, attempt } = std::mem::take(&mut *self.state());
        if let Some(attempt) = attempt.filter(|attempt| attempt.done.borrow().is_none()) {
            attempt.task.abort();
            if let Some(begun) = attempt.begun {
                self.note_failure(&McpError::StartAborted, begun.elapsed()).await;
            }
        }
        let server = live.and_then(Arc::into_inner).and_then(|live| Arc::into_inner(live.server));
        if let Some(server) = server {
            server.client.close().await;
        }
        self.store_log().await;
    }

    /// The text of an error, redacted.
    pub(crate) async fn redacted(&self, error: &McpError) -> String {
        self.redact(error.to_string()).await
    }
}
