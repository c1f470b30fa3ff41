//! The toolroom itself: a catalog and the ports its calls go through.

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::clock::{Clock, SystemClock};
use crate::ledger::{Ledger, Switchboard};
use crate::testing::MemoryLedger;

/// The one door to every tool. Cheap to clone; all clones share catalog and ports.
#[derive(Clone)]
pub struct Toolroom {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) switchboard: Arc<dyn Switchboard>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Toolroom {
    /// A toolroom over storage that keeps both the ledger and the switches.
    #[must_use]
    pub fn builder<S: Ledger + Switchboard + 'static>(storage: Arc<S>) -> ToolroomBuilder {
        ToolroomBuilder {
            catalog: Arc::default(),
            ledger: Arc::clone(&storage) as _,
            switchboard: storage,
            clock: Arc::new(SystemClock),
        }
    }

    /// A toolroom that keeps its journal in memory: for tests and for embedders who need none. To read that
    /// journal, pass a [`MemoryLedger`] of your own to [`Toolroom::builder`].
    #[must_use]
    pub fn in_memory() -> Self {
        Self::builder(Arc::new(MemoryLedger::new())).build()
    }

    /// Which tools there are.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What has been switched on and off, for listings and offers.
    #[must_use]
    pub fn switchboard(&self) -> &dyn Switchboard {
        self.switchboard.as_ref()
    }

    /// The clock all records are stamped with.
    #[must_use]
    pub fn clock(&self) -> &dyn Clock {
        self.clock.as_ref()
    }
}

/// Builds a [`Toolroom`].
pub struct ToolroomBuilder {
    catalog: Arc<Catalog>,
    ledger: Arc<dyn Ledger>,
    switchboard: Arc<dyn Switchboard>,
    clock: Arc<dyn Clock>,
}

impl ToolroomBuilder {
    /// Uses this catalog.
    #[must_use]
    pub fn catalog(mut self, catalog: Arc<Catalog>) -> Self {
        self.catalog = catalog;
        self
    }

    /// Uses this clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The toolroom.
    #[must_use]
    pub fn build(self) -> Toolroom {
        Toolroom {
            catalog: self.catalog,
            ledger: self.ledger,
            switchboard: self.switchboard,
            clock: self.clock,
        }
    }
}
