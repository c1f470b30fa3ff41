//! Verifies a backup: hashes, the database, the configuration file, and whether a key opens the sealed values.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolroom::clock::SystemClock;
use toolroom_host::archive::{ArchiveError, ArchiveReader, Member};
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KeyHome, KeyId, KeyRing, MasterKey, SealError};
use toolroom_host::work_folder::WorkFolder;
use toolroom_store::{SealedValue, Store, inspect};
use zeroize::Zeroizing;

use super::error::BackupError;
use super::manifest::{MANIFEST, MAX_BYTES, MEMBERS, Manifest, Rows};
use crate::config::{FILE_NAME, Layer, MAX_FILE_BYTES, load};
use crate::database::{DATABASE, store_options};
use crate::vault::place_purpose;

const MAX_KEY_BYTES: u64 = 256;

#[derive(Debug)]
pub(crate) struct VerifiedBackup {
    pub(crate) manifest: Option<Manifest>,
    /// What is damaged or forged.
    pub(crate) problems: Vec<String>,
    /// Why the configuration file inside is invalid. The backup can be restored without it.
    pub(crate) config_problem: Option<String>,
    /// Sealed values, if the database could be opened.
    pub(crate) sealed: Option<SealedCounts>,
    pub(super) key: Option<MasterKey>,
    pub(super) config: Option<String>,
}

/// Sealed secrets and parked calls, and how many can be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SealedCounts {
    pub(crate) all: usize,
    pub(crate) opened: usize,
    pub(crate) key: KeyUsed,
}

/// The key that was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyUsed {
    Inside,
    Here,
    None,
}

/// Verifies a backup. Only fails if it cannot be read at all; damage is reported in the result.
pub(crate) async fn verify(folders: &Folders, file: &Path) -> Result<VerifiedBackup, BackupError> {
    let mut verified = VerifiedBackup {
        manifest: None,
        problems: Vec::new(),
        config_problem: None,
        sealed: None,
        key: None,
        config: None,
    };
    let mut archive = match ArchiveReader::open(file) {
        Ok(archive) => archive,
        Err(
            error
            @ (ArchiveError::Missing { .. } | ArchiveError::NotRegular { .. } | ArchiveError::Io { .. }),
        ) => {
            return Err(error.into());
        }
        Err(error) => {
            verified.problem(&error);
            return Ok(verified);
        }
    };
    let work = WorkFolder::inside(folders)
        .map_err(|source| BackupError::Io { path: folders.data.clone(), source })?;
    if let Err(error) = verified.read_members(&mut archive) {
        verified.problem(&error);
    }
    let database = work.path().join(DATABASE);
    match archive.extract_member(DATABASE, &database) {
        Ok(member) => {
            verified.check(&member);
            verified.check_database(&database, folders, file).await?;
        }
        // Already reported as missing.
        Err(ArchiveError::NoMember { .. }) => {}
        Err(error @ ArchiveError::Damaged) => verified.problem(&error),
        // Such as a full disk, which is not a problem of the backup.
        Err(error) => return Err(BackupError::extracting(error, folders)),
    }
    Ok(verified)
}

/// An error with its causes.
fn whole_text(error: &(dyn std::error::Error + 'static)) -> String {
    anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// A member in memory.
fn member(name: &str, content: &[u8]) -> Member {
    let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
    Member { name: name.to_owned(), bytes, sha256: hex::encode(Sha256::digest(content)) }
}

impl VerifiedBackup {
    pub(crate) fn is_good(&self) -> bool {
        self.is_whole() && self.config_problem.is_none()
    }

    /// Whether nothing is damaged.
    pub(crate) fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, error: &(dyn std::error::Error + 'static)) {
        self.problems.push(whole_text(error));
    }

    /// Adds a problem of the database, without the path of the temporary copy.
    fn database_problem(&mut self, error: &(dyn std::error::Error + 'static), extracted: &Path) {
        self.problems.push(whole_text(error).replace(&extracted.display().to_string(), DATABASE));
    }

    /// Reads all members except the database, which may be large.
    fn read_members(&mut self, archive: &mut ArchiveReader) -> Result<(), ArchiveError> {
        let names: Vec<String> = archive.members().map(|(name, _)| name.to_owned()).collect();
        for name in names.iter().filter(|name| *name != MANIFEST && !MEMBERS.contains(&name.as_str())) {
            self.problems.push(format!("`{name}` does not belong in a backup"));
        }
        match Manifest::read(&archive.read_member(MANIFEST, MAX_BYTES)?) {
            Ok(manifest) => self.manifest = Some(manifest),
            Err(error) => self.problem(&error),
        }
        let listed = self.manifest.iter().flat_map(|manifest| &manifest.members);
        let missing: Vec<String> =
            listed.filter(|member| !names.contains(&member.name)).map(|member| member.name.clone()).collect();
        self.problems.extend(missing.iter().map(|name| format!("`{name}` is missing")));
        if !names.iter().any(|name| name == DATABASE) && !missing.iter().any(|name| name == DATABASE) {
            self.problems.push(format!("`{DATABASE}` is missing"));
        }
        if names.iter().any(|name| name == FILE_NAME) {
            let limit = u64::try_from(MAX_FILE_BYTES).unwrap_or(u64::MAX);
            let config = archive.read_member(FILE_NAME, limit)?;
            self.check(&member(FILE_NAME, &config));
            match String::from_utf8(config) {
                Ok(text) => {
                    let layer = Layer::User { path: FILE_NAME.into(), text: text.clone() };
                    self.config_problem = load(&[layer]).err().map(|error| error.to_string());
                    self.config = Some(text);
                }
                Err(_) => self.problems.push(format!("`{FILE_NAME}` is not UTF-8")),
            }
        }
        if names.iter().any(|name| name == KEY_FILE) {
            let text = Zeroizing::new(archive.read_member(KEY_FILE, MAX_KEY_BYTES)?);
            self.check(&member(KEY_FILE, &text));
            match str::from_utf8(&text).ok().map(MasterKey::parse) {
                Some(Ok(key)) => self.key = Some(key),
                Some(Err(_)) | None => self.problems.push(format!("`{KEY_FILE}` holds no key")),
            }
        }
        if let Some(manifest) = &self.manifest
            && manifest.key.inside != names.iter().any(|name| name == KEY_FILE)
        {
            self.problems.push(format!("`{MANIFEST}` is wrong about `{KEY_FILE}`"));
        }
        Ok(())
    }

    /// Compares a member with the manifest.
    fn check(&mut self, member: &Member) {
        let name = &member.name;
        let Some(manifest) = &self.manifest else { return };
        let problem = match manifest.content(name) {
            Some(content) if content.is(member) => return,
            Some(_) => format!("`{name}` is not what was put in: its hash is another one"),
            None => format!("`{MANIFEST}` does not list `{name}`"),
        };
        self.problems.push(problem);
    }

    /// Checks the database.
    async fn check_database(
        &mut self,
        database: &Path,
        folders: &Folders,
        file: &Path,
    ) -> Result<(), BackupError> {
        let facts = match inspect(database).await {
            Ok(facts) => facts,
            Err(error) => {
                self.database_problem(&error, database);
                return Ok(());
            }
        };
        if let Some(manifest) = &self.manifest
            && (manifest.schema, manifest.rows) != (facts.schema, Rows::of(&facts))
        {
            self.problems.push(format!("`{MANIFEST}` is wrong about what is in `{DATABASE}`"));
        }
        // The extracted copy is temporary, so it may be migrated.
        let options = store_options().map_err(BackupError::Presence)?;
        let sealed = match Store::open(database, options, Arc::new(SystemClock)).await {
            Ok(store) => {
                let sealed = store.sealed_values().await?;
                store.shutdown().await?;
                sealed
            }
            Err(error) => {
                self.database_problem(&error, database);
                return Ok(());
            }
        };
        let (ring, key) = match &self.key {
            Some(key) => {
                (Some(KeyRing::holding(key.clone(), KeyHome::File(file.to_owned()))), KeyUsed::Inside)
            }
            // A problem with the local key is not one of the backup.
            None => match KeyRing::load(folders).ok().flatten() {
                Some(ring) => (Some(ring), KeyUsed::Here),
                None => (None, KeyUsed::None),
            },
        };
        let opened = ring.map_or(0, |ring| self.try_key(&ring, key, &sealed));
        self.sealed = Some(SealedCounts { all: sealed.len(), opened, key });
        Ok(())
    }

    /// Counts the sealed values that a key opens. The local key may be another one; the key inside must match.
    fn try_key(&mut self, ring: &KeyRing, key: KeyUsed, sealed: &[SealedValue]) -> usize {
        let mut opened = 0;
        for sealed in sealed {
            match ring.open(&place_purpose(&sealed.location), &sealed.bytes) {
                Ok(_) => opened += 1,
                Err(SealError::UnknownKey { .. }) if key == KeyUsed::Here => {}
                Err(error) => self.problem(&error),
            }
        }
        opened
    }
}

/// Sealed values whose key is missing.
#[derive(Debug)]
pub(crate) struct MissingKey {
    /// Values that cannot be opened.
    pub(crate) count: usize,
    pub(crate) all: usize,
    /// The id of the missing key, if known.
    pub(crate) needed: Option<KeyId>,
    /// A copy of it that an earlier rotation kept.
    pub(crate) kept: Option<PathBuf>,
    /// Where to put it.
    pub(crate) home: KeyHome,
    /// Whether another key is there.
    pub(crate) held: bool,
}

impl MissingKey {
    /// `None` if everything can be opened, or the backup holds its key.
    pub(crate) fn of(folders: &Folders, verified: &VerifiedBackup) -> Option<Self> {
        let SealedCounts { all, opened, key } = verified.sealed?;
        if opened == all || key == KeyUsed::Inside {
            return None;
        }
        let id = verified.manifest.as_ref().and_then(|manifest| manifest.key.id.as_deref());
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
