//! What of a backup the keys that are here do not open, and what would.

use std::path::PathBuf;

use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KeyHome, KeyId, KeyRing};

use super::verify::{Examined, KeyUsed, SealedSeen};

/// Sealed texts without their key.
#[derive(Debug)]
pub(crate) struct Unopened {
    /// How many.
    pub(crate) count: usize,
    /// Of how many.
    pub(crate) all: usize,
    /// The key they need, if the backup says so.
    pub(crate) needed: Option<KeyId>,
    /// Where that key was kept when it was changed here.
    pub(crate) kept: Option<PathBuf>,
    /// Where it belongs.
    pub(crate) home: KeyHome,
    /// Whether another one is there.
    pub(crate) held: bool,
}

impl Unopened {
    /// What does not open; `None` if everything does, or its key comes along.
    pub(crate) fn of(folders: &Folders, examined: &Examined) -> Option<Self> {
        let SealedSeen { all, opened, key } = examined.sealed?;
        if opened == all || key == KeyUsed::Inside {
            return None;
        }
        let id = examined.manifest.as_ref().and_then(|manifest| manifest.key.id.as_deref());
        let needed = id.and_then(KeyId::parse);
        let ring = KeyRing::load(folders).ok().flatten();
        Some(Self {
            count: all - opened,
            all,
            needed,
            kept: needed.and_then(|id| KeyRing::kept(folders, id)),
            held: ring.is_some(),
            home: ring.map_or_else(|| KeyHome::File(folders.data.join(KEY_FILE)), |ring| ring.home().clone()),
        })
    }
}
