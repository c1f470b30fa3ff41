//! Creates a backup while other processes keep working.

use std::path::{Path, PathBuf};

use toolroom::clock::Clock;
use toolroom_host::archive::{ArchiveWriter, Member};
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KeyHome, KeyId, KeyRing, SealError};
use toolroom_host::text_file::{self, TextFileError};
use toolroom_host::work_folder::WorkFolder;
use toolroom_store::{Store, inspect};

use super::error::BackupError;
use super::manifest::{MANIFEST, Manifest, ManifestKey};
use crate::config::{FILE_NAME, MAX_FILE_BYTES};
use crate::database::DATABASE;

/// Attempts to copy the database with an unchanged key.
const COPIES: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyInclusion {
    Include,
    Exclude,
}

#[derive(Debug)]
pub(crate) struct CreatedBackup {
    pub(crate) manifest: Manifest,
    /// Why the configuration file was left out.
    pub(crate) config_problem: Option<TextFileError>,
    /// Where its master key is.
    pub(crate) key: Option<KeyHome>,
}

/// Creates a backup of these folders. Never replaces an existing file.
pub(crate) async fn create(
    folders: &Folders,
    store: &Store,
    clock: &dyn Clock,
    target: &Path,
    key_option: KeyInclusion,
) -> Result<CreatedBackup, BackupError> {
    let failed = |source| BackupError::Io { path: folders.data.clone(), source };
    // Fails early if the target exists.
    let mut archive = ArchiveWriter::create(target)?;
    let work = WorkFolder::inside(folders).map_err(failed)?;
    let created_at = clock.now();
    let (copy, key) = copy(folders, store, work.path(), key_option).await?;
    let facts = inspect(&copy).await?;

    let mut members = vec![archive.add_file(DATABASE, &copy)?];
    let config_problem = add_config(&mut archive, folders, &mut members)?;
    let home = key.as_ref().map(|key| key.home.clone());
    let inside = match (key_option, &home) {
        (KeyInclusion::Include, Some(KeyHome::File(path))) => {
            members.push(archive.add_file(KEY_FILE, path)?);
            // The same key before and after the copy.
            let unchanged = KeyState::now(folders)? == key;
            if unchanged { true } else { return Err(BackupError::KeyChanges) }
        }
        (KeyInclusion::Include, Some(KeyHome::Environment)) => return Err(BackupError::KeyInEnvironment),
        (KeyInclusion::Include, None) | (KeyInclusion::Exclude, _) => false,
    };
    let note = ManifestKey { inside, id: key.map(|key| key.id.to_string()) };
    let manifest = Manifest::new(created_at, &facts, note, members);
    // Cannot fail: strings and numbers only.
    archive.add_bytes(MANIFEST, &serde_json::to_vec_pretty(&manifest).unwrap_or_default())?;
    archive.finish()?;
    Ok(CreatedBackup { manifest, config_problem, key: home })
}

/// The master key at a point in time.
#[derive(Debug, PartialEq, Eq)]
struct KeyState {
    id: KeyId,
    home: KeyHome,
    changes: bool,
}

impl KeyState {
    fn now(folders: &Folders) -> Result<Option<Self>, SealError> {
        let ring = KeyRing::load(folders)?;
        Ok(ring.map(|ring| Self {
            id: ring.sealing_key(),
            home: ring.home().clone(),
            changes: ring.rotation().is_some(),
        }))
    }
}

/// Copies the database. Returns the key that it is sealed with.
async fn copy(
    folders: &Folders,
    store: &Store,
    work: &Path,
    key_option: KeyInclusion,
) -> Result<(PathBuf, Option<KeyState>), BackupError> {
    if key_option == KeyInclusion::Exclude {
        // A backup without the key does not need a readable key.
        let key = KeyState::now(folders).ok().flatten();
        let copy = work.join(DATABASE);
        store.copy_to(&copy).await?;
        return Ok((copy, key));
    }
    for number in 0..COPIES {
        let before = KeyState::now(folders)?;
        match &before {
            Some(KeyState { home: KeyHome::Environment, .. }) => return Err(BackupError::KeyInEnvironment),
            Some(KeyState { changes: true, .. }) => return Err(BackupError::KeyChanges),
            Some(_) | None => {}
        }
        let copy = work.join(format!("{number}-{DATABASE}"));
        store.copy_to(&copy).await?;
        if KeyState::now(folders)? == before {
            return Ok((copy, before));
        }
    }
    Err(BackupError::KeyChanges)
}

/// Adds the configuration file, if there is one. An unreadable one is skipped and reported.
fn add_config(
    archive: &mut ArchiveWriter,
    folders: &Folders,
    members: &mut Vec<Member>,
) -> Result<Option<TextFileError>, BackupError> {
    match text_file::read_bounded(&folders.config.join(FILE_NAME), MAX_FILE_BYTES) {
        Ok(Some(text)) => members.push(archive.add_bytes(FILE_NAME, text.as_bytes())?),
        Ok(None) => {}
        Err(error) => return Ok(Some(error)),
    }
    Ok(None)
}
