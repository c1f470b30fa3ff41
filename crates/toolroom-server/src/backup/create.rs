//! Making a backup, while others go on.

use std::path::{Path, PathBuf};

use toolroom::clock::Clock;
use toolroom_host::archive::{ArchiveWriter, Member};
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KeyHome, KeyId, KeyRing, SealError};
use toolroom_host::text_file::{self, TextFileError};
use toolroom_host::work_folder::WorkFolder;
use toolroom_store::{Store, inspect};

use super::error::BackupError;
use super::manifest::{KeyNote, MANIFEST, Manifest};
use crate::config::{FILE_NAME, MAX_FILE_BYTES};
use crate::database::DATABASE;

/// How often the database is copied because the key changed meanwhile.
const COPIES: u32 = 3;

/// Whether the master key is put inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyWish {
    Inside,
    Apart,
}

/// A backup that was made.
#[derive(Debug)]
pub(crate) struct Created {
    pub(crate) manifest: Manifest,
    /// The configuration file was left out, because it is no text.
    pub(crate) config_problem: Option<TextFileError>,
    /// Where the key is that opens what is sealed in it.
    pub(crate) key: Option<KeyHome>,
}

/// Makes a backup of what is in these folders. An existing file is never replaced.
pub(crate) async fn create(
    folders: &Folders,
    store: &Store,
    clock: &dyn Clock,
    target: &Path,
    wish: KeyWish,
) -> Result<Created, BackupError> {
    let failed = |source| BackupError::Io { path: folders.data.clone(), source };
    // Said before the work, which may take long.
    let mut archive = ArchiveWriter::create(target)?;
    let work = WorkFolder::inside(folders).map_err(failed)?;
    let created_at = clock.now();
    let (copy, key) = copy(folders, store, work.path(), wish).await?;
    let facts = inspect(&copy).await?;

    let mut members = vec![archive.add_file(DATABASE, &copy)?];
    let config_problem = add_config(&mut archive, folders, &mut members)?;
    let home = key.as_ref().map(|key| key.home.clone());
    let inside = match (wish, &home) {
        (KeyWish::Inside, Some(KeyHome::File(path))) => {
            members.push(archive.add_file(KEY_FILE, path)?);
            // Read after the copy: if it is still the key of the copy, it was so in between.
            let unchanged = KeyState::now(folders)? == key;
            if unchanged { true } else { return Err(BackupError::KeyChanges) }
        }
        (KeyWish::Inside, Some(KeyHome::Environment)) => return Err(BackupError::KeyInEnvironment),
        (KeyWish::Inside, None) | (KeyWish::Apart, _) => false,
    };
    let note = KeyNote { inside, id: key.map(|key| key.id.to_string()) };
    let manifest = Manifest::new(created_at, &facts, note, members);
    // Strings and numbers only: there is nothing that could not be written.
    archive.add_bytes(MANIFEST, &serde_json::to_vec_pretty(&manifest).unwrap_or_default())?;
    archive.finish()?;
    Ok(Created { manifest, config_problem, key: home })
}

/// The key, as far as a backup is about it.
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

/// A copy of the database, and the key it was sealed with throughout.
async fn copy(
    folders: &Folders,
    store: &Store,
    work: &Path,
    wish: KeyWish,
) -> Result<(PathBuf, Option<KeyState>), BackupError> {
    if wish == KeyWish::Apart {
        // Whether the key can be read does not matter to a backup without it.
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

/// Puts the configuration file inside, if there is one. One that is no text is of no use, and no reason to have no
/// backup at all.
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
