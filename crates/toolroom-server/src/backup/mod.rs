//! Everything in one file: making it, looking whether it is good, bringing it back.
//!
//! A backup is a tar archive of `manifest.json`, the database, the user's configuration file if there is one, and the
//! master key only if that was asked for. Its hashes tell damage, not forgery: whoever can change the file can change
//! them too.

mod create;
mod error;
mod manifest;
mod restore;
mod unopened;
mod verify;
mod way_back;

pub(crate) use create::{KeyWish, create};
pub(crate) use error::BackupError;
pub(crate) use manifest::{Manifest, Rows};
pub(crate) use restore::{Restoration, Restored, Wishes};
pub(crate) use unopened::Unopened;
pub(crate) use verify::{Examined, KeyUsed, SealedSeen, examine};
pub(crate) use way_back::WayBack;
