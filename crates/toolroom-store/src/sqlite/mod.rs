//! The SQLite back end.
//!
//! [`store`] opens a database. Writes go through [`writer`], one task per process; reads through [`reader`], or
//! [`switchboard`] for what every call needs. [`instance`] is the row of this process and the recovery of dead ones,
//! [`replay`] the recovery of write-ahead files. The other modules implement one port or group of methods each.

mod agents;
mod approvals;
mod artifacts;
mod backup;
mod call_row;
mod connection;
mod conversation;
mod foreign;
mod health;
mod identity;
mod instance;
mod journal;
mod ledger;
mod memories;
mod migrate;
mod programs;
mod prune;
mod reader;
mod replay;
mod result_code;
mod row;
mod secrets;
mod settings;
mod store;
mod switchboard;
mod tracks;
mod trusted_files;
mod writer;

pub use backup::inspect;
pub use migrate::{
    MigrationPlan, MigrationStep, copies_before, migration_steps, newest_schema, plan_migration,
};
pub use settings::SettingsBatch;
pub use store::Store;
