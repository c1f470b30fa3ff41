//! Looking whether a backup is good: every hash, the database itself, the configuration file, and whether its key opens
//! what is sealed.

use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolroom::clock::SystemClock;
use toolroom_host::archive::{ArchiveError, ArchiveReader, Member};
use toolroom_host::folders::Folders;
use toolroom_host::seal::{KEY_FILE, KeyHome, KeyRing, MasterKey, SealError};
use toolroom_host::work_folder::WorkFolder;
use toolroom_store::{SealedValue, Store, inspect};
use zeroize::Zeroizing;

use super::error::BackupError;
use super::manifest::{MANIFEST, MAX_BYTES, MEMBERS, Manifest, Rows};
use crate::config::{FILE_NAME, Layer, MAX_FILE_BYTES, load};
use crate::database::{DATABASE, store_options};
use crate::vault::place_purpose;

/// Room for a key, however it is written.
const MAX_KEY_BYTES: u64 = 256;

/// What was found out about a backup.
#[derive(Debug)]
pub(crate) struct Examined {
    /// What it says of itself, if that can be read.
    pub(crate) manifest: Option<Manifest>,
    /// What is damaged or forged, a sentence each.
    pub(crate) problems: Vec<String>,
    /// Why the configuration file inside could not be used. It is as it was put in, and everything else can be brought back
    /// without it.
    pub(crate) config_problem: Option<String>,
    /// What is sealed in it, once its database could be opened.
    pub(crate) sealed: Option<SealedSeen>,
    /// The key inside.
    pub(super) key: Option<MasterKey>,
    /// The configuration file inside.
    pub(super) config: Option<String>,
}

/// Secrets and parked calls, and how many of them open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SealedSeen {
    pub(crate) all: usize,
    pub(crate) opened: usize,
    pub(crate) key: KeyUsed,
}

/// Which key was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyUsed {
    Inside,
    Here,
    None,
}

/// Looks at a backup and changes nothing. Only what keeps it from looking is an error.
pub(crate) async fn examine(folders: &Folders, file: &Path) -> Result<Examined, BackupError> {
    let mut examined = Examined {
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
            examined.problem(&error);
            return Ok(examined);
        }
    };
    let work = WorkFolder::inside(folders)
        .map_err(|source| BackupError::Io { path: folders.data.clone(), source })?;
    if let Err(error) = examined.read_members(&mut archive) {
        examined.problem(&error);
    }
    let database = work.path().join(DATABASE);
    match archive.extract_member(DATABASE, &database) {
        Ok(member) => {
            examined.check(&member);
            examined.look_into(&database, folders, file).await?;
        }
        // That it is missing was told above.
        Err(ArchiveError::NoMember { .. }) => {}
        Err(error @ ArchiveError::Damaged) => examined.problem(&error),
        // Such as no room for it here: that says nothing about the backup.
        Err(error) => return Err(BackupError::extracting(error, folders)),
    }
    Ok(examined)
}

/// An error with everything behind it.
fn whole_text(error: &(dyn std::error::Error + 'static)) -> String {
    anyhow::Chain::new(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// A member that was read into memory.
fn member(name: &str, content: &[u8]) -> Member {
    let bytes = u64::try_from(content.len()).unwrap_or(u64::MAX);
    Member { name: name.to_owned(), bytes, sha256: hex::encode(Sha256::digest(content)) }
}

impl Examined {
    /// Whether it can be relied upon.
    pub(crate) fn is_good(&self) -> bool {
        self.is_whole() && self.config_problem.is_none()
    }

    /// Whether it holds what was put in, whatever that was.
    pub(crate) fn is_whole(&self) -> bool {
        self.problems.is_empty()
    }

    /// Notes an error with everything behind it.
    fn problem(&mut self, error: &(dyn std::error::Error + 'static)) {
        self.problems.push(whole_text(error));
    }

    /// Notes what is wrong with the database, which lies elsewhere only as long as it is looked at.
    fn database_problem(&mut self, error: &(dyn std::error::Error + 'static), extracted: &Path) {
        self.problems.push(whole_text(error).replace(&extracted.display().to_string(), DATABASE));
    }

    /// Everything but the database, which may be large.
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

    /// Compares a member with what the manifest says of it.
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

    /// The database itself.
    async fn look_into(
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
        // What was extracted is thrown away, so it may be opened like any other, and migrated.
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
            // Whatever is wrong with the key here is not wrong with the backup.
            None => match KeyRing::load(folders).ok().flatten() {
                Some(ring) => (Some(ring), KeyUsed::Here),
                None => (None, KeyUsed::None),
            },
        };
        let opened = ring.map_or(0, |ring| self.try_key(&ring, key, &sealed));
        self.sealed = Some(SealedSeen { all: sealed.len(), opened, key });
        Ok(())
    }

    /// How much of what is sealed opens. A key of this place may simply be another one; the key inside may not.
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
