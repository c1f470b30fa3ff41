//! Restores a backup. Replaced files are kept under another name, and a crash leaves either the old or the new state.
//!
//! The database is replaced atomically. A restored key is added like a rotation: until the database is replaced, both keys
//! exist, so either database can be opened after a crash.

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
use super::verify::{KeyUsed, SealedCounts, VerifiedBackup};
use crate::config::FILE_NAME;
use crate::database::{DATABASE, store_options};

/// Files of SQLite next to a database that is open, or was left by a crash.
pub(super) const WRITE_AHEAD_LOG: &str = "-wal";
pub(super) const SHARED_MEMORY: &str = "-shm";

/// How long to wait for other processes, which may be finishing a call.
const LOCK_ATTEMPTS: u32 = 40;
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// What to replace although it exists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RestoreOptions {
    pub(crate) config: bool,
    pub(crate) key: bool,
}

/// The changes of a restore.
#[derive(Debug)]
pub(crate) struct RestorePlan {
    file: PathBuf,
    pub(crate) manifest: Manifest,
    key: Option<MasterKey>,
    config: Option<String>,
    /// The files that would be replaced.
    pub(crate) replaces: Vec<PathBuf>,
}

#[derive(Debug)]
pub(crate) struct RestoreReport {
    /// The replaced files, under their new names.
    pub(crate) kept: Vec<PathBuf>,
    /// The files that came from the backup.
    pub(crate) placed: Vec<PathBuf>,
    /// Why the replaced database could not be opened.
    pub(crate) unreadable: Option<String>,
}

impl RestorePlan {
    /// Plans the restore of a verified backup.
    pub(crate) fn plan(
        folders: &Folders,
        file: &Path,
        verified: VerifiedBackup,
        options: RestoreOptions,
    ) -> Result<Self, BackupError> {
        let manifest = verified.manifest.ok_or(BackupError::Changed)?;
        let key = key_to_restore(folders, verified.key, verified.sealed, options)?;
        let config_file = folders.config.join(FILE_NAME);
        let config = match verified.config {
            None if options.config => return Err(BackupError::NoConfigInside),
            None => None,
            Some(_) if is_there(&config_file) && !options.config => None,
            Some(text) => match verified.config_problem {
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

    /// Restores. `mark` is the suffix of replaced files.
    pub(crate) async fn carry_out(self, folders: &Folders, mark: &str) -> Result<RestoreReport, BackupError> {
        let failed = |source| BackupError::Io { path: folders.data.clone(), source };
        let work = WorkFolder::inside(folders).map_err(failed)?;
        let new = work.path().join(DATABASE);
        let member = ArchiveReader::open(&self.file)?
            .extract_member(DATABASE, &new)
            .map_err(|error| BackupError::extracting(error, folders))?;
        if !self.manifest.content(DATABASE).is_some_and(|content| content.is(&member)) {
            return Err(BackupError::Changed);
        }

        let lock = lock_exclusively(&folders.data).await?;
        let database = folders.data.join(DATABASE);
        let unreadable = match is_there(&database) {
            true => check_current_database(&database, folders).await?,
            false => None,
        };
        let mut restored = RestoreReport { kept: Vec::new(), placed: vec![database.clone()], unreadable };

        let key_ring = match &self.key {
            Some(key) => {
                let path = folders.data.join(KEY_FILE);
                restored.kept.extend(keep_aside(&path, mark).map_err(failed)?);
                restored.placed.push(path);
                KeyRing::bring_in(folders, key)?
            }
            None => None,
        };
        // A log remains only next to a database that could not be opened; SQLite would apply it to the new one.
        let companions = [WRITE_AHEAD_LOG, SHARED_MEMORY];
        restored.kept.extend(replace(Replacement::File(&new), &database, mark, &companions).map_err(failed)?);
        if let Some(mut ring) = key_ring {
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
        drop(lock);
        Ok(restored)
    }
}

/// The key of the backup, if it must be restored.
fn key_to_restore(
    folders: &Folders,
    inside: Option<MasterKey>,
    sealed: Option<SealedCounts>,
    options: RestoreOptions,
) -> Result<Option<MasterKey>, BackupError> {
    let Some(inside) = inside else {
        return if options.key { Err(BackupError::NoKeyInside) } else { Ok(None) };
    };
    let is_inside = |key| key == inside.id();
    match KeyRing::load(folders)? {
        None => Ok(Some(inside)),
        Some(ring) if is_inside(ring.sealing_key()) => Ok(None),
        Some(ring) if ring.rotation().is_some_and(|change| is_inside(change.from)) => Ok(None),
        Some(ring) => match (ring.home(), options.key) {
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

/// Locks the data folder once no other process uses it.
pub(super) async fn lock_exclusively(folder: &Path) -> Result<FolderLock, BackupError> {
    for _ in 0..LOCK_ATTEMPTS {
        let lock = FolderLock::exclusive(folder)
            .map_err(|source| BackupError::Io { path: folder.to_owned(), source })?;
        match lock {
            Some(lock) => return Ok(lock),
            None => tokio::time::sleep(LOCK_INTERVAL).await,
        }
    }
    Err(in_use("another toolroom is".to_owned(), folder))
}

fn in_use(who: String, folder: &Path) -> BackupError {
    BackupError::InUse { who, folder: folder.to_owned() }
}

/// Checks that no process uses the database, and empties its write-ahead log. Returns why it cannot be opened, if so: then
/// no process can use it.
async fn check_current_database(database: &Path, folders: &Folders) -> Result<Option<String>, BackupError> {
    let options = store_options().map_err(BackupError::Presence)?;
    let store = match Store::open(database, options, Arc::new(SystemClock)).await {
        Ok(store) => store,
        Err(newer @ StoreError::Newer { .. }) => return Err(BackupError::PresentIsNewer(newer)),
        Err(locked @ StoreError::Locked(_)) => return Err(locked.into()),
        Err(error) => return Ok(Some(error.to_string())),
    };
    let health = store.health().await;
    // The last connection moves the log into the file.
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
