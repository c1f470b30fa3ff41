//! One server, started when it is needed and looked after while it runs.

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
use crate::mcp::launch::{Launcher, Started};
use crate::mcp::protocol::error::McpError;
use connecting::Connecting;
use notifications::Ear;

/// How much longer than its call a request may wait.
const AFTER_DEADLINE: Duration = Duration::from_secs(5);

/// A server that nobody has asked for so long is ended; the next call starts it again.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// What was listed so long ago is listed again: a server need not tell that its tools have changed.
const STALE: Duration = Duration::from_secs(10 * 60);

/// How long one server may hold up those who look after it; what was begun goes on.
const UPKEEP: Duration = Duration::from_secs(3);

/// What all berths share.
pub(crate) struct Harbour {
    pub(crate) project: ProjectId,
    pub(crate) kept: Arc<dyn ForeignServers>,
    pub(crate) launcher: Launcher,
    pub(crate) clock: Arc<dyn Clock>,
    /// How long a server may take until it has listed its tools.
    pub(crate) start_limit: Duration,
    /// Rings when what is kept is not what is in the catalog.
    pub(crate) outdated: Arc<Notify>,
}

/// A server with its place here.
pub(crate) struct Berth {
    pub(crate) record: ServerRecord,
    harbour: Arc<Harbour>,
    state: Mutex<State>,
    ear: Arc<Ear>,
    /// A person waits for it: whatever happened before, it is tried.
    is_wanted_now: bool,
}

/// What a server is asked for.
pub(crate) enum Wanted<'a> {
    /// A call of a tool whose accepted definition has this hash.
    Call { tool: &'a Definition, hash: &'a str, arguments: &'a Arguments },
    /// What is at an address of its own.
    Resource { uri: &'a str },
    /// A page of what it has.
    Resources { cursor: Option<&'a str> },
}

#[derive(Default)]
struct State {
    open: Option<Arc<Open>>,
    connecting: Option<Connecting>,
}

/// A connection, and what was listed over it.
pub(crate) struct Open {
    started: Arc<Started>,
    /// What is offered now: a hash for each tool.
    hashes: HashMap<String, String>,
    listed: Instant,
    used: Mutex<Instant>,
}

impl Open {
    fn new(started: Arc<Started>, hashes: HashMap<String, String>) -> Self {
        let now = Instant::now();
        Self { started, hashes, listed: now, used: Mutex::new(now) }
    }

    fn client(&self) -> &Client {
        &self.started.client
    }

    fn is_alive(&self) -> bool {
        self.client().is_alive()
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether nobody has it, or had it lately. A call has it until it ends.
    fn is_idle(self: &Arc<Self>) -> bool {
        let last = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::strong_count(self) == 1 && last.elapsed() > IDLE
    }
}

impl Berth {
    pub(crate) fn new(harbour: Arc<Harbour>, record: ServerRecord) -> Arc<Self> {
        Arc::new(Self::of(harbour, record, false))
    }

    /// One for a person who wants to see the server now.
    pub(crate) fn wanted_now(harbour: Arc<Harbour>, record: ServerRecord) -> Arc<Self> {
        Arc::new(Self::of(harbour, record, true))
    }

    fn of(harbour: Arc<Harbour>, record: ServerRecord, is_wanted_now: bool) -> Self {
        Self { record, harbour, state: Mutex::default(), ear: Arc::default(), is_wanted_now }
    }

    pub(crate) fn name(&self) -> &str {
        &self.record.name
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.record.timeout_seconds.map_or(DEFAULT_TIMEOUT, Duration::from_secs)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server for something, and gives the result as it came.
    pub(crate) async fn ask(
        self: &Arc<Self>,
        context: &Arc<CallContext>,
        wanted: &Wanted<'_>,
    ) -> Result<Map<String, Value>, ToolError> {
        let mut is_second = false;
        self.check_on().await?;
        loop {
            let open = self.open().await.map_err(|error| failed(self.name(), error, false))?;
            if let Wanted::Call { tool, hash, .. } = wanted
                && open.hashes.get(&tool.name).map(String::as_str) != Some(*hash)
            {
                return Err(self.not_accepted(&tool.name, open.hashes.contains_key(&tool.name)));
            }
            let left = context.deadline().map(|at| at.saturating_duration_since(Instant::now()));
            // The end of the call is the kernel's business; this only bounds what has no end.
            let patience = left.unwrap_or_else(|| self.timeout()).saturating_add(AFTER_DEADLINE);
            let told = Arc::clone(context);
            let progress = Arc::new(move |message: String, fraction| told.progress(message, fraction));
            let began = Instant::now();
            let client = open.client();
            let result = match *wanted {
                Wanted::Call { tool, arguments, .. } => {
                    client.call(tool, arguments, patience, Some(progress)).await
                }
                Wanted::Resource { uri } => client.read_resource(uri, patience).await,
                Wanted::Resources { cursor } => client.resources(cursor, patience).await,
            };
            open.touch();
            match result {
                Ok(result) => return Ok(result),
                // It has not looked at the request: another session can.
                Err(McpError::SessionLost) if !is_second => {
                    is_second = true;
                    self.forget(&open);
                }
                Err(error) => {
                    if !open.is_alive() && self.forget(&open) {
                        self.note_failure(&error, began.elapsed()).await;
                    }
                    return Err(failed(self.name(), error, true));
                }
            }
        }
    }

    /// Lets go of a connection, if it is still the one that is used; says whether it was.
    fn forget(&self, open: &Arc<Open>) -> bool {
        let mut state = self.state();
        let is_used = state.open.as_ref().is_some_and(|used| Arc::ptr_eq(used, open));
        if is_used {
            state.open = None;
        }
        is_used
    }

    /// Whether the server is still on and still this one: it may have been switched off, removed or changed in another
    /// process.
    async fn check_on(&self) -> Result<(), ToolError> {
        let Harbour { project, kept, outdated, .. } = &*self.harbour;
        let servers = kept.servers(project).await.map_err(|error| {
            let unknown = format!("whether the server `{}` may be used cannot be told", self.name());
            ToolError::new(ErrorKind::PermissionDenied, unknown).caused_by(error)
        })?;
        match servers.iter().find(|server| server.name == self.name()) {
            Some(server) if *server == self.record => Ok(()),
            Some(server) if server.is_enabled => {
                outdated.notify_one();
                Err(failed(self.name(), McpError::Replaced, false))
            }
            _ => {
                outdated.notify_one();
                let off = format!("the server `{}` is switched off", self.name());
                Err(ToolError::new(ErrorKind::PermissionDenied, off))
            }
        }
    }

    fn not_accepted(&self, tool: &str, is_there: bool) -> ToolError {
        let server = self.name();
        match is_there {
            true => ToolError::new(
                ErrorKind::PermissionDenied,
                format!("`{tool}` is not what was accepted any more: its server `{server}` has changed it"),
            )
            .with_hint(format!("a person has to look at the change with `toolroom mcp review {server}`")),
            false => ToolError::not_found(format!("the server `{server}` has no tool `{tool}` any more")),
        }
    }

    /// Ends what nobody uses, keeps what was printed, and looks at the tools again if they have changed or may have. Says
    /// whether it looked.
    pub(crate) async fn look_after(self: &Arc<Self>) -> bool {
        let ended = self.state().open.clone().filter(|open| !open.is_alive());
        match ended {
            Some(open) if self.forget(&open) => {
                let error = McpError::Ended { how: "it ended by itself".to_owned() };
                self.note_failure(&error, Duration::ZERO).await;
            }
            _ => self.note_printed().await,
        }
        let wants_look = {
            let mut state = self.state();
            if state.open.as_ref().is_some_and(Open::is_idle) {
                state.open = None;
            }
            let is_stale = state.open.as_ref().is_some_and(|open| open.listed.elapsed() > STALE);
            if is_stale {
                self.ear.ring();
            }
            state.open.is_some() && self.ear.is_rung()
        };
        if !wants_look {
            return false;
        }
        match timeout(UPKEEP, self.open()).await {
            Ok(Ok(_)) => true,
            Ok(Err(error)) => {
                tracing::debug!(%error, "the tools of a server are looked at later");
                false
            }
            Err(_) => false,
        }
    }

    /// Ends the connection in order. A start that nobody waited for to its end has failed.
    pub(crate) async fn close(&self) {
        let State { open, connecting } = std::mem::take(&mut *self.state());
        if let Some(connecting) = connecting.filter(|connecting| connecting.done.borrow().is_none()) {
            connecting.task.abort();
            if let Some(begun) = connecting.begun {
                self.note_failure(&McpError::Abandoned, begun.elapsed()).await;
            }
        }
        let started = open.and_then(Arc::into_inner).and_then(|open| Arc::into_inner(open.started));
        if let Some(started) = started {
            started.client.close().await;
        }
        self.note_printed().await;
    }

    /// What went wrong, without secrets.
    pub(crate) async fn told(&self, error: &McpError) -> String {
        self.without_secrets(error.to_string()).await
    }
}
