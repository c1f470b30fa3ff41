//! Backups: create, verify, restore.
//!
//! A backup is a tar archive of `manifest.json`, the database, the user's configuration file if there is one, and the
//! master key on request. Its hashes detect damage, not forgery.

mod create;
mod error;
mod manifest;
mod restore;
mod rollback;
mod verify;

pub(crate) use create::{KeyInclusion, create};
pub(crate) use error::BackupError;
pub(crate) use manifest::{Manifest, Rows};
pub(crate) use restore::{RestoreOptions, RestorePlan, RestoreReport};
pub(crate) use rollback::Rollback;
pub(crate) use verify::{KeyUsed, MissingKey, SealedCounts, VerifiedBackup, verify};
