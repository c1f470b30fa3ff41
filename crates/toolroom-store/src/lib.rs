//! SQLite behind the ports of the Toolroom kernel: the record of calls, approvals, whole results, switches,
//! conversations and their runs, memories, agents, programs in the background; and beside the ports what operators need: sealed secrets, trusted files, copies, checks.
//!
//! [`Store`] implements [`Ledger`](toolroom::ledger::Ledger), [`Journal`](toolroom::ledger::Journal),
//! [`Artifacts`](toolroom::ledger::Artifacts), [`Approvals`](toolroom::ledger::Approvals),
//! [`Switchboard`](toolroom::ledger::Switchboard), [`Conversations`](toolroom::conversation::Conversations),
//! [`Memories`](toolroom::memory::Memories), [`Agents`](toolroom::agent::Agents),
//! [`ForeignServers`](toolroom::foreign::ForeignServers) and
//! [`BackgroundPrograms`](toolroom::background::BackgroundPrograms). Several
//! processes share one database file. It opens nothing but databases: folders are made, and processes looked
//! at, by whoever calls [`Store::open`]. PostgreSQL has its migrations and statements here, checked against a
//! real server; its runtime does not exist yet.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod adoption;
mod agent;
mod artifact;
mod background;
mod backup;
mod connect;
mod conversation;
mod error;
mod foreign;
mod health;
mod identity;
mod inbox;
mod instance;
mod journal;
mod kept_artifact;
mod known_keys;
mod ledger;
mod memory;
mod migrate;
mod migration_plan;
mod notice;
mod offer;
mod presence;
mod prune;
mod question;
mod reader;
mod row;
mod secret;
mod setting;
mod settings_batch;
pub mod statements;
mod store;
mod switchboard;
mod track;
mod trust;
mod writer;

pub use artifact::ArtifactFacts;
pub use backup::{BackupFacts, inspect};
pub use error::StoreError;
pub use foreign::ServerEntry;
pub use health::{InstanceSeen, KeptWords, StoreHealth};
pub use identity::{ClaimedReply, KeptReply, KeyRecord, ProjectRecord, ReplyName, Retired, SignInKind};
pub use inbox::{Inbox, PART_BYTES};
pub use kept_artifact::KeptArtifact;
pub use migration_plan::{
    MigrationPlan, MigrationStep, copies_before, migration_steps, newest_schema, plan_migration,
};
pub use notice::{Notice, Words};
pub use presence::{Presence, Probe};
pub use prune::{CountedCalls, PruneReport};
pub use secret::{Resealed, Sealed, SealedPlace, SealedSecret};
pub use settings_batch::SettingsBatch;
pub use store::{Store, StoreStatus};
pub use trust::TrustedFile;
