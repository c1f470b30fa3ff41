//! All servers of a project, and their tools in the catalog.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use serde_json::Value;
use tokio::sync::Mutex;
use toolroom::catalog::Catalog;
use toolroom::clock::Clock;
use toolroom::foreign::{DefinitionRecord, ForeignServers, ServerRecord};
use toolroom::ledger::LedgerError;
use toolroom::scope::ProjectId;
use toolroom::tool::Tool;
use toolroom_host::process::Supervisor;

use super::berth::{Berth, Harbour};
use super::client::Listing;
use super::definition::Definition;
use super::era::Era;
use super::error::McpError;
use super::launcher::{Grounds, Launcher, Safe};
use super::tool::ForeignTool;

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
    seats: Mutex<BTreeMap<String, Seat>>,
}

/// A server, and what of it is in the catalog.
struct Seat {
    berth: Arc<Berth>,
    definitions: Vec<DefinitionRecord>,
}

/// What a look at a server has shown.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// What it calls itself, and its version.
    pub title: (String, String),
    /// The version that is spoken with it.
    pub version: String,
    /// Its era.
    pub era: Era,
    /// Its tools.
    pub listing: Listing,
}

impl Gateway {
    /// A gateway without servers; [`Gateway::settle`] brings them.
    #[must_use]
    pub fn new(project: ProjectId, around: Surroundings) -> Self {
        let Surroundings { kept, safe, supervisor, grounds, clock, catalog } = around;
        let launcher = Launcher::new(supervisor, grounds, safe);
        let harbour = Arc::new(Harbour { project, kept, launcher, clock });
        Self { harbour, catalog, seats: Mutex::default() }
    }

    /// Brings the catalog to what is kept now: accepted tools of servers that are on, and no others.
    pub async fn settle(&self) -> Result<(), LedgerError> {
        let Harbour { project, kept, .. } = &*self.harbour;
        let Some(catalog) = self.catalog.upgrade() else { return Ok(()) };
        let mut seats = self.seats.lock().await;
        let servers = kept.servers(project).await?;
        let is_on = |name: &String| servers.iter().any(|server| server.name == *name && server.is_enabled);
        let gone: Vec<String> = seats.keys().filter(|name| !is_on(name)).cloned().collect();
        for name in gone {
            catalog.unregister(Some(project), &source(&name));
            // What is at work keeps its connection until it is done.
            drop(seats.remove(&name));
        }
        for server in servers.into_iter().filter(|server| server.is_enabled) {
            let definitions = kept.definitions(project, &server.name).await?;
            let seat = seats.get(&server.name);
            let berth = match seat.map(|seat| &seat.berth).filter(|berth| berth.record == server) {
                Some(berth) => Arc::clone(berth),
                None => Berth::new(Arc::clone(&self.harbour), server.clone()),
            };
            let is_same = |seat: &Seat| Arc::ptr_eq(&seat.berth, &berth) && seat.definitions == definitions;
            if !seat.is_some_and(is_same) {
                self.register(&catalog, &berth, &definitions);
                seats.insert(server.name, Seat { berth, definitions });
            }
        }
        Ok(())
    }

    fn register(&self, catalog: &Catalog, berth: &Arc<Berth>, definitions: &[DefinitionRecord]) {
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for document in definitions.iter().filter_map(usable) {
            let tool = Definition::read(document).and_then(|tool| ForeignTool::new(Arc::clone(berth), tool));
            match tool {
                Ok(tool) => tools.push(Arc::new(tool)),
                Err(error) => tracing::warn!(server = berth.name(), %error, "a tool cannot be used"),
            }
        }
        let replaced = catalog.replace(Some(&self.harbour.project), &source(berth.name()), tools);
        if let Err(error) = replaced {
            tracing::warn!(server = berth.name(), %error, "the tools of a server cannot be used");
        }
    }

    /// Connects to a server anew, whatever happened before, and lists its tools; what it offers is kept beside what was
    /// accepted. It need not be on.
    pub async fn inspect(&self, server: &ServerRecord) -> Result<Inspection, McpError> {
        let berth = Berth::new(Arc::clone(&self.harbour), server.clone());
        let open = berth.open().await?;
        let client = open.client();
        let (title, version) = (client.server_name(), client.version().to_owned());
        let inspection = Inspection { title, version, era: client.era(), listing: open.listing.clone() };
        drop(open);
        berth.close().await;
        Ok(inspection)
    }

    /// Ends what nobody uses, looks at what has changed, and brings the catalog to it.
    pub async fn look_after(&self) -> Result<(), LedgerError> {
        let berths: Vec<Arc<Berth>> =
            self.seats.lock().await.values().map(|seat| Arc::clone(&seat.berth)).collect();
        for berth in berths {
            berth.look_after().await;
        }
        self.settle().await
    }

    /// Ends every connection in order.
    pub async fn close(&self) {
        let seats = std::mem::take(&mut *self.seats.lock().await);
        for seat in seats.into_values() {
            seat.berth.close().await;
        }
    }
}

/// What can be used of a definition: what was accepted, if it is still that.
fn usable(record: &DefinitionRecord) -> Option<&Value> {
    record.accepted.as_ref().filter(|_| record.offered.is_none())
}

fn source(server: &str) -> String {
    format!("mcp:{server}")
}
