//! The SQLite store behind the kernel's storage ports. PostgreSQL has its migrations and statements here, checked against a
//! real server; its runtime does not exist yet.
//!
//! [`Store`] implements [`Ledger`](toolroom::ledger::Ledger), [`Journal`](toolroom::ledger::Journal),
//! [`Artifacts`](toolroom::ledger::Artifacts), [`Approvals`](toolroom::ledger::Approvals),
//! [`Switchboard`](toolroom::ledger::Switchboard), [`Conversations`](toolroom::conversation::Conversations),
//! [`Memories`](toolroom::memory::Memories), [`Agents`](toolroom::agent::Agents),
//! [`ForeignServers`](toolroom::foreign::ForeignServers) and
//! [`BackgroundPrograms`](toolroom::background::BackgroundPrograms), and adds what operators need: sealed secrets,
//! trusted files, backups, pruning, health. Several processes share one database file.
//!
//! This crate opens nothing but databases. [`StoreOptions`] brings the rest: the identity of the process, the change
//! counter, the write-ahead file.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod port;
mod sqlite;
pub mod statements;

pub use port::*;
pub use sqlite::{
    MigrationPlan, MigrationStep, SettingsBatch, Store, copies_before, inspect, migration_steps,
    newest_schema, plan_migration,
};
