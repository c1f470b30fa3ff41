//! The composition root: here, and nowhere else, kernel, store, host and tools are put together.

use std::sync::Arc;

use anyhow::Context;
use toolroom::Toolroom;
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::clock::SystemClock;
use toolroom::ledger::Artifacts;
use toolroom_host::environment;
use toolroom_host::folders::Folders;
use toolroom_host::presence::Presence;
use toolroom_store::Store;
use toolroom_tools::builtin::{self, Surroundings};

/// The database inside the data folder.
const DATABASE: &str = "toolroom.db";

/// A running toolroom: its calls, and the store behind them.
pub struct App {
    /// The one door to every tool.
    pub room: Toolroom,
    /// Journal, artifacts and switches.
    pub store: Store,
}

impl App {
    /// Opens the user's toolroom. `register` adds an embedder's own tools.
    pub async fn open(register: impl FnOnce(&Catalog) -> Result<(), RegisterError>) -> anyhow::Result<Self> {
        let database = Folders::from_environment()?.private_file(DATABASE)?;
        let clock = Arc::new(SystemClock);
        let us = Presence::of_this_process()
            .context("cannot find out which process this is (is /proc mounted?)")?;
        let presence = toolroom_store::Presence {
            machine: us.machine,
            process: us.process,
            is_alive: Arc::new(Presence::is_alive),
        };
        let store = Store::open(&database, presence, Arc::clone(&clock) as _).await?;
        let catalog = catalog(Arc::new(store.clone()), register)?;
        let room = Toolroom::builder(Arc::new(store.clone())).catalog(Arc::new(catalog)).clock(clock).build();
        Ok(Self { room, store })
    }

    /// Writes what is queued and lets go of the database.
    pub async fn close(self) -> anyhow::Result<()> {
        Ok(self.store.shutdown().await?)
    }
}

/// Every tool there is: the built-in ones over these artifacts, and an embedder's own.
pub(crate) fn catalog(
    artifacts: Arc<dyn Artifacts>,
    register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
) -> anyhow::Result<Catalog> {
    let catalog = Catalog::default();
    let around = Surroundings { artifacts, time_zone: environment::time_zone() };
    catalog.register_all(None, builtin::all(&around)?)?;
    register(&catalog)?;
    Ok(catalog)
}
