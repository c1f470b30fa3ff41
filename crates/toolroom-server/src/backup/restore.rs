//! Bringing a backup back: what is there is kept beside, and at every moment either the old or the new state opens.
//!
//! The database changes in one step. A key that comes along is brought in like a new one: until the database has
//! changed, both keys are there, so whichever database a killed process leaves behind, its key is with it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolroom::clock::SystemClock;
use toolroom_host::archive::ArchiveReader;
use toolroom_host::folder_lock::FolderLock;
use toolroom_host::folders::Folders;
use toolroom_host::replacement::{Replacement, is_there, keep_aside, replace, with_end};
use toolroom_host::sandbox::confirm;
use toolroom_host::seal::{KEY_FILE, KeyHome, KeyRing, MasterKey};
use toolroom_host::work_folder::WorkFolder;
use toolroom_store::{InstanceStatus, Store, StoreError};

use super::error::BackupError;
use super::manifest::Manifest;
use super::verify::{Examined, KeyUsed, SealedSeen};
use crate::config::FILE_NAME;
use crate::database::{DATABASE, store_options};

/// What SQLite keeps beside a database that is open, or was left by a process that died.
pub(super) const WRITE_AHEAD_LOG: &str = "-wal";
pub(super) const SHARED_MEMORY: &str = "-shm";

/// How often to look whether others are gone: a single call does not take long.
const LOOKS: u32 = 40;
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is to be restored even though something is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Wishes {
    /// The configuration file.
    pub(crate) config: bool,
    /// The master key.
    pub(crate) key: bool,
}

/// What would be done.
#[derive(Debug)]
pub(crate) struct Restoration {
    file: PathBuf,
    /// What the backup says of itself.
    pub(crate) manifest: Manifest,
    key: Option<MasterKey>,
    config: Option<String>,
    /// The files that would be replaced.
    pub(crate) replaces: Vec<PathBuf>,
}

/// What was done.
#[derive(Debug)]
pub(crate) struct Restored {
    /// The files that were there, under their new names.
    pub(crate) kept: Vec<PathBuf>,
    /// The files that came from the backup.
    pub(crate) placed: Vec<PathBuf>,
    /// Why the database that was there could not be opened.
    pub(crate) unreadable: Option<String>,
}

impl Restoration {
    /// Decides what a good backup would change here.
    pub(crate) fn plan(
        folders: &Folders,
        file: &Path,
        examined: Examined,
        wishes: Wishes,
    ) -> Result<Self, BackupError> {
        let manifest = examined.manifest.ok_or(BackupError::Changed)?;
        let key = wanted_key(folders, examined.key, examined.sealed, wishes)?;
        let config_file = folders.config.join(FILE_NAME);
        let config = match examined.config {
            None if wishes.config => return Err(BackupError::NoConfigInside),
            None => None,
            Some(_) if is_there(&config_file) && !wishes.config => None,
            Some(text) => match examined.config_problem {
                Some(why) => return Err(BackupError::ConfigInside { why, file: config_file }),
                None => Some(text),
            },
        };
        let (database, key_file) = (folders.data.join(DATABASE), folders.data.join(KEY_FILE));
        let replaced =
            [Some(database), key.is_some().then_some(key_file), config.is_some().then_some(config_file)];
        let replaces = replaced.into_iter().flatten().filter(|path| is_there(path)).collect();
        Ok(Self { file: file.to_owned(), manifest, key, config, replaces })
    }

    /// Does it. `mark` ends the names of the files that are kept.
    pub(crate) async fn carry_out(self, folders: &Folders, mark: &str) -> Result<Restored, BackupError> {
        let failed = |source| BackupError::Io { path: folders.data.clone(), source };
        let work = WorkFolder::inside(folders).map_err(failed)?;
        let new = work.path().join(DATABASE);
        let member = ArchiveReader::open(&self.file)?
            .extract_member(DATABASE, &new)
            .map_err(|error| BackupError::extracting(error, folders))?;
        if !self.manifest.content(DATABASE).is_some_and(|content| content.is(&member)) {
            return Err(BackupError::Changed);
        }

        let alone = wait_until_alone(&folders.data).await?;
        let database = folders.data.join(DATABASE);
        let unreadable = match is_there(&database) {
            true => look_at_present(&database, folders).await?,
            false => None,
        };
        let mut restored = Restored { kept: Vec::new(), placed: vec![database.clone()], unreadable };

        let brought_in = match &self.key {
            Some(key) => {
                let path = folders.data.join(KEY_FILE);
                restored.kept.extend(keep_aside(&path, mark).map_err(failed)?);
                restored.placed.push(path);
                KeyRing::bring_in(folders, key)?
            }
            None => None,
        };
        // The log is there only beside a database that could not be opened; left, it would be taken for the new one's.
        let companions = [WRITE_AHEAD_LOG, SHARED_MEMORY];
        restored.kept.extend(replace(Replacement::File(&new), &database, mark, &companions).map_err(failed)?);
        if let Some(mut ring) = brought_in {
            ring.finish_rotation()?;
        }
        if let Some(text) = &self.config {
            let path = folders.config_file(FILE_NAME)?;
            let kept = replace(Replacement::Text(text), &path, mark, &[]);
            let failed = |source| BackupError::Io { path: path.clone(), source };
            restored.kept.extend(kept.map_err(failed)?);
            confirm(&path).map_err(failed)?;
            restored.placed.push(path);
        }
        drop(alone);
        Ok(restored)
    }
}

/// The key inside, if it is to be put here.
fn wanted_key(
    folders: &Folders,
    inside: Option<MasterKey>,
    sealed: Option<SealedSeen>,
    wishes: Wishes,
) -> Result<Option<MasterKey>, BackupError> {
    let Some(inside) = inside else {
        return if wishes.key { Err(BackupError::NoKeyInside) } else { Ok(None) };
    };
    let is_inside = |key| key == inside.id();
    match KeyRing::load(folders)? {
        None => Ok(Some(inside)),
        Some(ring) if is_inside(ring.sealing_key()) => Ok(None),
        Some(ring) if ring.rotation().is_some_and(|change| is_inside(change.from)) => Ok(None),
        Some(ring) => match (ring.home(), wishes.key) {
            (KeyHome::Environment, true) => Err(BackupError::KeyWouldNotCount),
            (KeyHome::File(_), true) if ring.rotation().is_some() => Err(BackupError::KeyChanges),
            (KeyHome::File(_), true) => Ok(Some(inside)),
            (KeyHome::Environment | KeyHome::File(_), false) => {
                let needed = sealed.is_none_or(|sealed| sealed.all > 0 && sealed.key == KeyUsed::Inside);
                if needed { Err(BackupError::OtherKey) } else { Ok(None) }
            }
        },
    }
}

/// The folder, once nobody else is in it.
pub(super) async fn wait_until_alone(folder: &Path) -> Result<FolderLock, BackupError> {
    for _ in 0..LOOKS {
        let alone = FolderLock::exclusive(folder)
            .map_err(|source| BackupError::Io { path: folder.to_owned(), source })?;
        match alone {
            Some(alone) => return Ok(alone),
            None => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
    Err(in_use("another toolroom is".to_owned(), folder))
}

fn in_use(who: String, folder: &Path) -> BackupError {
    BackupError::InUse { who, folder: folder.to_owned() }
}

/// Makes sure that nobody uses the database that is to be replaced, and that nothing of it is in the log beside it.
/// Says why if it cannot be opened: then there is nobody who could use it.
async fn look_at_present(database: &Path, folders: &Folders) -> Result<Option<String>, BackupError> {
    let options = store_options().map_err(BackupError::Presence)?;
    let store = match Store::open(database, options, Arc::new(SystemClock)).await {
        Ok(store) => store,
        Err(newer @ StoreError::Newer { .. }) => return Err(BackupError::PresentIsNewer(newer)),
        Err(locked @ StoreError::Locked(_)) => return Err(locked.into()),
        Err(error) => return Ok(Some(error.to_string())),
    };
    let health = store.health().await;
    // The last one to close it moves everything from the log into the file.
    store.shutdown().await?;
    let health = match health {
        Ok(health) => health,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let living = |instance: &&InstanceStatus| !instance.is_this && instance.is_alive != Some(false);
    if let Some(other) = health.instances.iter().find(living) {
        return Err(in_use(format!("process {} on `{}` is", other.process, other.machine), &folders.data));
    }
    if is_there(&with_end(database, WRITE_AHEAD_LOG)) {
        return Err(in_use("another program that has the database open is".to_owned(), &folders.data));
    }
    Ok(None)
}
