//! One server, started when it is needed and looked after while it runs.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
use toolroom::call::CallContext;
use toolroom::clock::Clock;
use toolroom::foreign::{ForeignServers, Reached, ServerCondition, ServerRecord};
use toolroom::scope::ProjectId;
use toolroom::tool::{Arguments, ErrorKind, ToolError, ToolOutput};

use super::client::{Client, Listing};
use super::definition::{Definition, Unusable};
use super::desk::Attendant;
use super::era::Era;
use super::error::McpError;
use super::launcher::{Launcher, Started};
use super::lock;
use super::outcome::{failed, outcome};
use super::tool::{DEFAULT_TIMEOUT, spec};

/// So many failures within this time, and a program is not started again.
const MAX_FAILURES: usize = 3;
const WITHIN: Duration = Duration::from_secs(60);

/// How long to wait after a failure, at first and at most.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How much longer than its call a request may wait.
const AFTER_DEADLINE: Duration = Duration::from_secs(5);

/// A server that nobody has asked for so long is ended; the next call starts it again.
const IDLE: Duration = Duration::from_secs(15 * 60);

/// What is kept of the errors it printed.
const LOG_CHARS: usize = 16 * 1024;

/// What all berths share.
pub(super) struct Harbour {
    pub(super) project: ProjectId,
    pub(super) kept: Arc<dyn ForeignServers>,
    pub(super) launcher: Launcher,
    pub(super) clock: Arc<dyn Clock>,
}

/// A server with its place here.
pub(super) struct Berth {
    pub(super) record: ServerRecord,
    harbour: Arc<Harbour>,
    state: Mutex<State>,
    bell: Arc<Bell>,
}

#[derive(Default)]
struct State {
    open: Option<Arc<Open>>,
    failures: VecDeque<Instant>,
    last: String,
    logged: usize,
}

/// A connection, and what was listed over it.
pub(super) struct Open {
    started: Arc<Started>,
    pub(super) listing: Listing,
    /// What is offered now: a hash for each tool.
    hashes: HashMap<String, String>,
    used: Lock<Instant>,
}

/// Rings when the tools of the server have changed.
#[derive(Default)]
struct Bell(AtomicBool);

impl Attendant for Bell {
    fn tools_changed(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Open {
    pub(super) fn client(&self) -> &Client {
        &self.started.client
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn is_idle(&self) -> bool {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed() > IDLE
    }
}

impl Berth {
    pub(super) fn new(harbour: Arc<Harbour>, record: ServerRecord) -> Arc<Self> {
        Arc::new(Self { record, harbour, state: Mutex::default(), bell: Arc::default() })
    }

    pub(super) fn name(&self) -> &str {
        &self.record.name
    }

    pub(super) fn timeout(&self) -> Duration {
        self.record.timeout_seconds.map_or(DEFAULT_TIMEOUT, Duration::from_secs)
    }

    /// Calls a tool whose accepted definition has this hash.
    pub(super) async fn call(
        &self,
        context: CallContext,
        tool: &Definition,
        hash: &str,
        arguments: Arguments,
    ) -> Result<ToolOutput, ToolError> {
        let mut is_second = false;
        let context = Arc::new(context);
        self.check_on().await?;
        loop {
            let open = self.open().await.map_err(|error| failed(self.name(), error))?;
            if open.hashes.get(&tool.name).map(String::as_str) != Some(hash) {
                return Err(self.not_accepted(&tool.name, open.hashes.contains_key(&tool.name)));
            }
            let left = context.deadline().map(|at| at.saturating_duration_since(Instant::now()));
            // The end of the call is the kernel's business; this only bounds what has no end.
            let patience = left.unwrap_or_else(|| self.timeout()).saturating_add(AFTER_DEADLINE);
            let told = Arc::clone(&context);
            let progress = Arc::new(move |message: String, fraction| told.progress(message, fraction));
            let result = open.client().call(tool, &arguments, patience, Some(progress)).await;
            open.touch();
            match result {
                Ok(result) => return outcome(result),
                // It has not looked at the request: another session can.
                Err(McpError::SessionLost) if !is_second => {
                    is_second = true;
                    self.state.lock().await.open = None;
                }
                Err(error) => return Err(failed(self.name(), error)),
            }
        }
    }

    /// Whether the server is still on: it may have been switched off, or removed, in another process.
    async fn check_on(&self) -> Result<(), ToolError> {
        let Harbour { project, kept, .. } = &*self.harbour;
        let servers = kept.servers(project).await.map_err(|error| {
            let unknown = format!("whether the server `{}` may be used cannot be told", self.name());
            ToolError::new(ErrorKind::PermissionDenied, unknown).caused_by(error)
        })?;
        match servers.iter().any(|server| server.name == self.name() && server.is_enabled) {
            true => Ok(()),
            false => {
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

    /// The connection, made if there is none.
    pub(super) async fn open(&self) -> Result<Arc<Open>, McpError> {
        let mut state = self.state.lock().await;
        if let Some(open) = state.open.take() {
            if open.client().is_alive() {
                if !self.bell.0.swap(false, Ordering::Relaxed) {
                    open.touch();
                    return Ok(Arc::clone(state.open.insert(open)));
                }
                match self.listed(Arc::clone(&open.started)).await {
                    Ok(open) => return Ok(Arc::clone(state.open.insert(Arc::new(open)))),
                    Err(error) => self.note_failure(&mut state, &error, String::new()).await,
                }
            } else {
                let log = open.client().errors().unwrap_or_default();
                let error = McpError::Ended { how: "it ended by itself".to_owned() };
                self.note_failure(&mut state, &error, log).await;
            }
        }
        self.wait(&state).await?;
        let known = self.harbour.kept.condition(&self.harbour.project, self.name()).await;
        let known =
            known.inspect_err(|error| tracing::warn!(%error, "what is known of a server cannot be read"));
        let era = known.ok().and_then(|known| known.era).and_then(|era| match era.as_str() {
            "session" => Some(Era::Session),
            "stateless" => Some(Era::Stateless),
            _ => None,
        });
        match self.start(era).await {
            Ok(open) => {
                let open = Arc::new(open);
                state.open = Some(Arc::clone(&open));
                state.logged = 0;
                Ok(open)
            }
            Err(error) => {
                self.note_failure(&mut state, &error, String::new()).await;
                Err(error)
            }
        }
    }

    async fn start(&self, era: Option<Era>) -> Result<Open, McpError> {
        let Harbour { project, launcher, .. } = &*self.harbour;
        let bell = Arc::clone(&self.bell) as _;
        let started = launcher.start(project, &self.record, era, bell).await?;
        self.listed(Arc::new(started)).await
    }

    /// Lists the tools of a server that runs, and keeps what they are.
    async fn listed(&self, started: Arc<Started>) -> Result<Open, McpError> {
        self.bell.0.store(false, Ordering::Relaxed);
        let listing = self.usable(started.client.tools().await?);
        self.keep(&started.client, &listing).await?;
        let hashes = listing.tools.iter().map(|tool| (tool.name.clone(), tool.hash())).collect();
        Ok(Open { started, listing, hashes, used: Lock::new(Instant::now()) })
    }

    /// Leaves out what could not be a tool here.
    fn usable(&self, listing: Listing) -> Listing {
        let mut usable = Listing { left_out: listing.left_out, tools: Vec::new() };
        for tool in listing.tools {
            match spec(self.name(), self.timeout(), &tool) {
                Ok(_) => usable.tools.push(tool),
                Err(unusable) => usable.left_out.push(unusable),
            }
        }
        usable
    }

    /// Keeps what the server offers beside what was accepted, and how it was seen.
    async fn keep(&self, client: &Client, listing: &Listing) -> Result<(), McpError> {
        let Harbour { project, kept, clock, .. } = &*self.harbour;
        let unkept = |error: toolroom::ledger::LedgerError| McpError::Closed { why: error.to_string() };
        let known = kept.definitions(project, self.name()).await.map_err(unkept)?;
        let now = lock::compared(&known, &listing.tools);
        if now != known {
            // Without it, a change would not be seen the next time.
            kept.set_definitions(project, self.name(), &now).await.map_err(unkept)?;
        }
        let (title, version) = client.server_name();
        let seen = ServerCondition {
            era: Some(client.era().to_string()),
            title: Some(format!("{title} {version}").trim().to_owned()),
            left_out: listing.left_out.iter().map(Unusable::to_string).take(100).collect(),
            log: self.log(client.errors().unwrap_or_default()).await,
            seen_at: Some(clock.now()),
            ..ServerCondition::default()
        };
        kept.set_condition(project, self.name(), &seen).await.map_err(unkept)
    }

    /// The end of what was printed, without secrets.
    async fn log(&self, errors: String) -> String {
        let quiet = self.harbour.launcher.safe.without_secrets(&self.harbour.project, errors).await;
        let skipped = quiet.chars().count().saturating_sub(LOG_CHARS);
        quiet.chars().skip(skipped).collect()
    }

    async fn note_failure(&self, state: &mut State, error: &McpError, log: String) {
        let Harbour { project, kept, clock, .. } = &*self.harbour;
        state.failures.push_back(Instant::now());
        while state.failures.front().is_some_and(|at| at.elapsed() > WITHIN) {
            state.failures.pop_front();
        }
        state.last = self.log(error.to_string()).await;
        let before = kept.condition(project, self.name()).await.unwrap_or_default();
        let log = self.log(log).await;
        let seen = ServerCondition {
            failure: Some(state.last.clone()),
            is_given_up: self.is_given_up(state),
            log: if log.is_empty() { before.log.clone() } else { log },
            seen_at: Some(clock.now()),
            ..before
        };
        if let Err(error) = kept.set_condition(project, self.name(), &seen).await {
            tracing::warn!(%error, "how a server failed is not kept");
        }
    }

    /// Whether it failed so often that only a person can have it started again. Servers that are somewhere else may come
    /// back by themselves.
    fn is_given_up(&self, state: &State) -> bool {
        state.failures.len() >= MAX_FAILURES && matches!(self.record.reached, Reached::Stdio(_))
    }

    async fn wait(&self, state: &State) -> Result<(), McpError> {
        if self.is_given_up(state) {
            let last = state.last.clone();
            return Err(McpError::GivenUp { times: MAX_FAILURES, within: WITHIN, last });
        }
        let Some(last) = state.failures.back() else { return Ok(()) };
        let doubled = u32::try_from(state.failures.len()).unwrap_or(u32::MAX).saturating_sub(1).min(6);
        let wait = (FIRST_WAIT * 2_u32.pow(doubled)).min(LONGEST_WAIT);
        tokio::time::sleep_until(*last + wait).await;
        Ok(())
    }

    /// Ends what nobody uses, keeps what was printed, and looks at the tools again if they have changed.
    pub(super) async fn look_after(&self) {
        // Somebody is at it.
        let Ok(mut state) = self.state.try_lock() else { return };
        let Some(open) = state.open.clone() else { return };
        let errors = open.client().errors().unwrap_or_default();
        if errors.len() != state.logged {
            state.logged = errors.len();
            let Harbour { project, kept, .. } = &*self.harbour;
            let before = kept.condition(project, self.name()).await.unwrap_or_default();
            let seen = ServerCondition { log: self.log(errors).await, ..before };
            if let Err(error) = kept.set_condition(project, self.name(), &seen).await {
                tracing::debug!(%error, "what a server printed is kept later");
            }
        }
        if open.is_idle() {
            state.open = None;
        }
        drop(state);
        if self.bell.0.load(Ordering::Relaxed)
            && let Err(error) = self.open().await
        {
            tracing::debug!(%error, "the tools of a server are looked at later");
        }
    }

    /// Ends the connection in order.
    pub(super) async fn close(&self) {
        let open = self.state.lock().await.open.take();
        let started = open.and_then(Arc::into_inner).and_then(|open| Arc::into_inner(open.started));
        if let Some(started) = started {
            started.client.close().await;
        }
    }
}
