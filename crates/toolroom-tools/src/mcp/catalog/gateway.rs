//! The MCP servers of a project, and their tools in the catalog.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinSet;
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::clock::Clock;
use toolroom::foreign::{DefinitionRecord, ForeignServers, ServerRecord};
use toolroom::ledger::LedgerError;
use toolroom::scope::ProjectId;
use toolroom::tool::Tool;
use toolroom_host::process::Supervisor;

use crate::mcp::catalog::definition::Definition;
use crate::mcp::catalog::resources;
use crate::mcp::catalog::tool::{ForeignTool, check_schema};
use crate::mcp::connection::{ServerConnection, Shared};
use crate::mcp::launch::{LaunchEnvironment, Launcher, ServerSecrets};

/// Time limit for the handshake and the first `tools/list` together.
const START_LIMIT: Duration = Duration::from_secs(60);

/// What a gateway needs.
pub struct GatewayServices {
    /// Stores servers and accepted definitions.
    pub store: Arc<dyn ForeignServers>,
    /// Secrets and credentials.
    pub secrets: Arc<dyn ServerSecrets>,
    /// Starts programs.
    pub supervisor: Supervisor,
    /// Where programs run.
    pub launch_environment: LaunchEnvironment,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The catalog to register tools in. Weak, because it holds them.
    pub catalog: Weak<Catalog>,
}

/// The MCP servers of a project. Tools are registered from their accepted definitions; a server is started by its first call.
pub struct Gateway {
    shared: Arc<Shared>,
    catalog: Weak<Catalog>,
    servers: Arc<Mutex<BTreeMap<String, RegisteredServer>>>,
    is_closed: AtomicBool,
}

/// A server and the definitions that are registered in the catalog.
pub(crate) struct RegisteredServer {
    pub(crate) connection: Arc<ServerConnection>,
    definitions: Vec<DefinitionRecord>,
}

/// Why a server could not be inspected. Redacted: a server may repeat what it was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InspectError(String);

impl Gateway {
    /// A gateway without servers. [`Gateway::reconcile`] adds them.
    #[must_use]
    pub fn new(project: ProjectId, services: GatewayServices) -> Self {
        let GatewayServices { store, secrets, supervisor, launch_environment, clock, catalog } = services;
        let launcher = Launcher::new(supervisor, launch_environment, secrets);
        let (start_limit, outdated) = (START_LIMIT, Arc::default());
        let shared = Arc::new(Shared { project, store, launcher, clock, start_limit, outdated });
        Self { shared, catalog, servers: Arc::default(), is_closed: AtomicBool::new(false) }
    }

    /// Sets the time limit for starting a server. Has an effect only before servers are added.
    #[must_use]
    pub fn with_start_limit(mut self, start_limit: Duration) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.start_limit = start_limit;
        }
        self
    }

    /// Notified when a call finds that the stored servers differ from those in the catalog.
    #[must_use]
    pub fn outdated(&self) -> Arc<Notify> {
        Arc::clone(&self.shared.outdated)
    }

    /// Where servers' programs run.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        self.shared.launcher.workspace()
    }

    /// Updates the catalog from the store: it offers the accepted tools of enabled servers. Does nothing after
    /// [`Gateway::close`].
    pub async fn reconcile(&self) -> Result<(), LedgerError> {
        let Shared { project, store, .. } = &*self.shared;
        let Some(catalog) = self.catalog.upgrade() else { return Ok(()) };
        let mut registered = self.servers.lock().await;
        if self.is_closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let was_empty = registered.is_empty();
        let servers = store.servers(project).await?;
        catalog.explain_absences(project, servers.iter().map(why_missing).collect());
        let is_enabled =
            |name: &String| servers.iter().any(|server| server.name == *name && server.is_enabled);
        let removed: Vec<String> = registered.keys().filter(|name| !is_enabled(name)).cloned().collect();
        for name in removed {
            catalog.unregister(Some(project), &source(&name));
            // Running calls keep their connection.
            drop(registered.remove(&name));
        }
        for server in servers.into_iter().filter(|server| server.is_enabled) {
            // A storage error leaves out this server only.
            let definitions = store.definitions(project, &server.name).await.unwrap_or_else(|error| {
                tracing::warn!(server = server.name, %error, "cannot read the definitions of an MCP server");
                Vec::new()
            });
            let before = registered.get(&server.name);
            let connection =
                before.map(|before| &before.connection).filter(|connection| connection.record == server);
            let connection = match connection {
                Some(connection) => Arc::clone(connection),
                None => ServerConnection::new(Arc::clone(&self.shared), server.clone()),
            };
            let is_same = |before: &RegisteredServer| {
                Arc::ptr_eq(&before.connection, &connection) && before.definitions == definitions
            };
            if !before.is_some_and(is_same) {
                self.register(&catalog, &connection, &definitions);
                registered.insert(server.name, RegisteredServer { connection, definitions });
            }
        }
        match (was_empty, registered.is_empty()) {
            (true, false) => self.register_resources(&catalog),
            (false, true) => catalog.unregister(Some(project), resources::SOURCE),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// Registers the tools that list and read resources.
    fn register_resources(&self, catalog: &Catalog) {
        let tools = resources::tools(&Arc::downgrade(&self.servers)).map_err(RegisterError::from);
        let registered =
            tools.and_then(|tools| catalog.replace(Some(&self.shared.project), resources::SOURCE, tools));
        if let Err(error) = registered {
            tracing::warn!(%error, "cannot register the resource tools of MCP servers");
        }
    }

    fn register(
        &self,
        catalog: &Catalog,
        connection: &Arc<ServerConnection>,
        definitions: &[DefinitionRecord],
    ) {
        let replace = |is_checked: bool| {
            let tools = tools(connection, definitions, is_checked);
            catalog.replace(Some(&self.shared.project), &source(connection.name()), tools)
        };
        // Definitions were checked when they were accepted. If registering fails anyway, leave out those that fail the check.
        if let Err(error) = replace(false).or_else(|_| replace(true)) {
            tracing::warn!(server = connection.name(), %error, "cannot register the tools of an MCP server");
        }
    }

    /// Connects to a server, ignoring earlier failures, and stores the tools it offers. The server may be disabled.
    pub async fn inspect(&self, server: &ServerRecord) -> Result<(), InspectError> {
        let connection = ServerConnection::without_backoff(Arc::clone(&self.shared), server.clone());
        let opened = connection.open().await.map(drop);
        connection.close().await;
        match opened {
            Ok(()) => Ok(()),
            Err(error) => Err(InspectError(connection.redacted(&error).await)),
        }
    }

    /// Reconciles, closes idle connections and lists changed tools again. Waits for each server a moment only.
    pub async fn maintain(&self) -> Result<(), LedgerError> {
        self.reconcile().await?;
        let mut tasks = JoinSet::new();
        for server in self.servers.lock().await.values() {
            let connection = Arc::clone(&server.connection);
            tasks.spawn(async move { connection.maintain().await });
        }
        match tasks.join_all().await.contains(&true) {
            true => self.reconcile().await,
            false => Ok(()),
        }
    }

    /// Closes all connections. No servers are added afterwards.
    pub async fn close(&self) {
        let servers = {
            let mut servers = self.servers.lock().await;
            self.is_closed.store(true, Ordering::Relaxed);
            std::mem::take(&mut *servers)
        };
        let mut tasks = JoinSet::new();
        for server in servers.into_values() {
            tasks.spawn(async move { server.connection.close().await });
        }
        drop(tasks.join_all().await);
    }
}

/// The usable tools among these definitions.
fn tools(
    connection: &Arc<ServerConnection>,
    definitions: &[DefinitionRecord],
    is_checked: bool,
) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for document in definitions.iter().filter_map(usable) {
        let tool = Definition::parse(document).and_then(|tool| match is_checked {
            true => check_schema(&tool).map(|()| tool),
            false => Ok(tool),
        });
        match tool.and_then(|tool| ForeignTool::new(Arc::clone(connection), tool)) {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(error) => {
                tracing::warn!(server = connection.name(), %error, "cannot use a tool of an MCP server");
            }
        }
    }
    tools
}

/// The accepted definition, unless the server has changed it.
fn usable(record: &DefinitionRecord) -> Option<&Value> {
    record.accepted.as_ref().filter(|_| record.offered.is_none())
}

/// The hint for calls of tools that are not in the catalog.
fn why_missing(server: &ServerRecord) -> (String, String) {
    let name = &server.name;
    let why = match server.is_enabled {
        true => {
            format!("see the state of the server and its tools with `toolroom mcp show {name}`")
        }
        false => format!("the server `{name}` is disabled; enable it with `toolroom mcp enable {name}`"),
    };
    (source(name), why)
}

fn source(server: &str) -> String {
    format!("mcp:{server}")
}
