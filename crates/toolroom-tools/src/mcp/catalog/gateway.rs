//! All servers of a project, and their tools in the catalog.

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
use crate::mcp::connection::{Berth, Harbour};
use crate::mcp::launch::{Grounds, Launcher, Safe};

/// How long a server may take for the handshake and for listing its tools, together.
const START_LIMIT: Duration = Duration::from_secs(60);

/// What a gateway is made of.
pub struct Surroundings {
    /// Where servers and what was accepted of them are kept.
    pub kept: Arc<dyn ForeignServers>,
    /// Secrets.
    pub safe: Arc<dyn Safe>,
    /// Who starts programs.
    pub supervisor: Supervisor,
    /// Where they run.
    pub grounds: Grounds,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The catalog that tools come into. Weak, because it holds them.
    pub catalog: Weak<Catalog>,
}

/// The servers of a project. Nothing is started before it is needed: which tools there are is known from what was
/// accepted of them.
pub struct Gateway {
    harbour: Arc<Harbour>,
    catalog: Weak<Catalog>,
    docked: Arc<Mutex<BTreeMap<String, Docked>>>,
    /// Nobody comes in any more.
    is_closed: AtomicBool,
}

/// A server, and what of it is in the catalog.
pub(crate) struct Docked {
    pub(crate) berth: Arc<Berth>,
    definitions: Vec<DefinitionRecord>,
}

/// Why a server cannot be used, in words without secrets: it may repeat what it was sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(String);

impl Gateway {
    /// A gateway without servers; [`Gateway::settle`] brings them.
    #[must_use]
    pub fn new(project: ProjectId, around: Surroundings) -> Self {
        let Surroundings { kept, safe, supervisor, grounds, clock, catalog } = around;
        let launcher = Launcher::new(supervisor, grounds, safe);
        let (start_limit, outdated) = (START_LIMIT, Arc::default());
        let harbour = Arc::new(Harbour { project, kept, launcher, clock, start_limit, outdated });
        Self { harbour, catalog, docked: Arc::default(), is_closed: AtomicBool::new(false) }
    }

    /// The same, whose servers may take so long for the handshake and for listing their tools, together. Said before it
    /// has any.
    #[must_use]
    pub fn with_start_limit(mut self, start_limit: Duration) -> Self {
        if let Some(harbour) = Arc::get_mut(&mut self.harbour) {
            harbour.start_limit = start_limit;
        }
        self
    }

    /// Rings when a call has found that what is kept is not what is in the catalog.
    #[must_use]
    pub fn outdated(&self) -> Arc<Notify> {
        Arc::clone(&self.harbour.outdated)
    }

    /// Where programs of servers work.
    #[must_use]
    pub fn workspace(&self) -> &Path {
        self.harbour.launcher.workspace()
    }

    /// Brings the catalog to what is kept now: accepted tools of servers that are on, and no others. Once everything is
    /// closed, it stays as it is.
    pub async fn settle(&self) -> Result<(), LedgerError> {
        let Harbour { project, kept, .. } = &*self.harbour;
        let Some(catalog) = self.catalog.upgrade() else { return Ok(()) };
        let mut docked = self.docked.lock().await;
        if self.is_closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let was_empty = docked.is_empty();
        let servers = kept.servers(project).await?;
        catalog.explain_absences(project, servers.iter().map(why_missing).collect());
        let is_on = |name: &String| servers.iter().any(|server| server.name == *name && server.is_enabled);
        let gone: Vec<String> = docked.keys().filter(|name| !is_on(name)).cloned().collect();
        for name in gone {
            catalog.unregister(Some(project), &source(&name));
            // What is at work keeps its connection until it is done.
            drop(docked.remove(&name));
        }
        for server in servers.into_iter().filter(|server| server.is_enabled) {
            // What was accepted of this one cannot be told: it is out, and no other with it.
            let definitions = kept.definitions(project, &server.name).await.unwrap_or_else(|error| {
                tracing::warn!(server = server.name, %error, "the tools of a server cannot be used");
                Vec::new()
            });
            let seat = docked.get(&server.name);
            let berth = match seat.map(|seat| &seat.berth).filter(|berth| berth.record == server) {
                Some(berth) => Arc::clone(berth),
                None => Berth::new(Arc::clone(&self.harbour), server.clone()),
            };
            let is_same = |seat: &Docked| Arc::ptr_eq(&seat.berth, &berth) && seat.definitions == definitions;
            if !seat.is_some_and(is_same) {
                self.register(&catalog, &berth, &definitions);
                docked.insert(server.name, Docked { berth, definitions });
            }
        }
        match (was_empty, docked.is_empty()) {
            (true, false) => self.register_resources(&catalog),
            (false, true) => catalog.unregister(Some(project), resources::SOURCE),
            (true, true) | (false, false) => {}
        }
        Ok(())
    }

    /// What servers have beside tools.
    fn register_resources(&self, catalog: &Catalog) {
        let tools = resources::tools(&Arc::downgrade(&self.docked)).map_err(RegisterError::from);
        let registered =
            tools.and_then(|tools| catalog.replace(Some(&self.harbour.project), resources::SOURCE, tools));
        if let Err(error) = registered {
            tracing::warn!(%error, "the resources of servers cannot be read");
        }
    }

    fn register(&self, catalog: &Catalog, berth: &Arc<Berth>, definitions: &[DefinitionRecord]) {
        let replace = |is_checked: bool| {
            let tools = tools(berth, definitions, is_checked);
            catalog.replace(Some(&self.harbour.project), &source(berth.name()), tools)
        };
        // They were checked before they were accepted. If one cannot be used all the same, the others can.
        if let Err(error) = replace(false).or_else(|_| replace(true)) {
            tracing::warn!(server = berth.name(), %error, "the tools of a server cannot be used");
        }
    }

    /// Connects to a server anew, whatever happened before, and lists its tools; what it offers is kept beside what was
    /// accepted. It need not be on.
    pub async fn inspect(&self, server: &ServerRecord) -> Result<(), Failed> {
        let berth = Berth::wanted_now(Arc::clone(&self.harbour), server.clone());
        let opened = berth.open().await.map(drop);
        berth.close().await;
        match opened {
            Ok(()) => Ok(()),
            Err(error) => Err(Failed(berth.told(&error).await)),
        }
    }

    /// Brings the catalog to what is kept, then ends what nobody uses and looks at what has changed. No server holds up
    /// the others, or those who wait for this, for more than a moment.
    pub async fn look_after(&self) -> Result<(), LedgerError> {
        self.settle().await?;
        let mut looks = JoinSet::new();
        for seat in self.docked.lock().await.values() {
            let berth = Arc::clone(&seat.berth);
            looks.spawn(async move { berth.look_after().await });
        }
        match looks.join_all().await.contains(&true) {
            true => self.settle().await,
            false => Ok(()),
        }
    }

    /// Ends every connection in order, and lets no server in any more.
    pub async fn close(&self) {
        let docked = {
            let mut docked = self.docked.lock().await;
            self.is_closed.store(true, Ordering::Relaxed);
            std::mem::take(&mut *docked)
        };
        let mut ends = JoinSet::new();
        for seat in docked.into_values() {
            ends.spawn(async move { seat.berth.close().await });
        }
        drop(ends.join_all().await);
    }
}

/// What of these can be a tool.
fn tools(berth: &Arc<Berth>, definitions: &[DefinitionRecord], is_checked: bool) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for document in definitions.iter().filter_map(usable) {
        let tool = Definition::read(document).and_then(|tool| match is_checked {
            true => check_schema(&tool).map(|()| tool),
            false => Ok(tool),
        });
        match tool.and_then(|tool| ForeignTool::new(Arc::clone(berth), tool)) {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(error) => tracing::warn!(server = berth.name(), %error, "a tool cannot be used"),
        }
    }
    tools
}

/// What can be used of a definition: what was accepted, if it is still that.
fn usable(record: &DefinitionRecord) -> Option<&Value> {
    record.accepted.as_ref().filter(|_| record.offered.is_none())
}

/// What is said of tools of a server that are not in the catalog.
fn why_missing(server: &ServerRecord) -> (String, String) {
    let name = &server.name;
    let why = match server.is_enabled {
        true => {
            format!("`toolroom mcp show {name}` says how that server is, and which of its tools can be used")
        }
        false => format!("the server `{name}` is off; `toolroom mcp enable {name}` switches it on"),
    };
    (source(name), why)
}

fn source(server: &str) -> String {
    format!("mcp:{server}")
}
