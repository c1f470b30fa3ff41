//! SQLite behind the ports of the Toolroom kernel: the record of calls, approvals, whole results, switches.
//!
//! [`Store`] implements [`Ledger`](toolroom::ledger::Ledger), [`Journal`](toolroom::ledger::Journal),
//! [`Artifacts`](toolroom::ledger::Artifacts) and [`Switchboard`](toolroom::ledger::Switchboard). Several
//! processes share one database file. It opens nothing but databases: folders are made, and processes looked
//! at, by whoever calls [`Store::open`]. PostgreSQL has its migrations and statements here, checked against a
//! real server; its runtime does not exist yet.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod artifact;
mod connect;
mod error;
mod instance;
mod journal;
mod ledger;
mod migrate;
mod presence;
mod prune;
mod reader;
mod row;
pub mod statements;
mod store;
mod switchboard;
mod writer;

pub use error::StoreError;
pub use presence::{Presence, Probe};
pub use prune::PruneReport;
pub use store::{Store, StoreStatus};
