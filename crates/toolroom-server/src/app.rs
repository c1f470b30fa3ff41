//! The composition root: here, and nowhere else, kernel, store, host and tools are put together.

use std::sync::Arc;

use anyhow::Context;
use toolroom::Toolroom;
use toolroom::catalog::{Catalog, RegisterError};
use toolroom::clock::SystemClock;
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
        let folders = Folders::from_environment()?;
        let database = folders.create_data()?.join(DATABASE);
        let clock = Arc::new(SystemClock);
        let us = Presence::of_this_process()
            .context("cannot find out which process this is (is /proc mounted?)")?;
        let presence = toolroom_store::Presence {
            machine: us.machine,
            process: us.process,
            is_alive: Arc::new(Presence::is_alive),
        };
        let store = Store::open(&database, presence, Arc::clone(&clock) as _).await?;

        let catalog = Arc::new(Catalog::default());
        let around = Surroundings { artifacts: Arc::new(store.clone()), time_zone: environment::time_zone() };
        catalog.register_all(None, builtin::all(&around)?)?;
        register(&catalog)?;

        let ports = Arc::new(store.clone());
        let room = Toolroom::builder(Arc::clone(&ports) as _, ports).catalog(catalog).clock(clock).build();
        Ok(Self { room, store })
    }

    /// Writes what is queued and lets go of the database.
    pub async fn close(self) -> anyhow::Result<()> {
        Ok(self.store.shutdown().await?)
    }
}
