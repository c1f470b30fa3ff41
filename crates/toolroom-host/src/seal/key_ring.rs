//! The keys of this installation: one, or two during a rotation.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::envelope::{self, Envelope};
use super::error::{KeyFileProblem, RotationProblem, SealError};
use super::key_file::{self, KeyLock};
use super::master_key::{KeyId, MasterKey, MasterKeyError};
use crate::environment::path_variable;
use crate::folders::{Folders, make_private};
use crate::replacement::{is_there, put_in_place, with_end};

/// The key, where a key file is not practical, as in a container.
pub const KEY_VARIABLE: &str = "TOOLROOM_MASTER_KEY";

/// The successor of the key in [`KEY_VARIABLE`]; ignored without it.
pub const NEW_KEY_VARIABLE: &str = "TOOLROOM_NEW_MASTER_KEY";

/// The key file in the data folder.
pub const KEY_FILE: &str = "master.key";
const NEW_KEY_FILE: &str = "master.key.new";

/// Seals and opens.
#[derive(Debug)]
pub struct KeyRing {
    /// During a rotation, the new key.
    sealing: MasterKey,
    /// During a rotation, the old key, which still opens.
    former: Option<MasterKey>,
    home: KeyHome,
    /// Held during a rotation.
    lock: Option<KeyLock>,
}

/// The source of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyHome {
    /// The variable [`KEY_VARIABLE`].
    Environment,
    /// A file.
    File(PathBuf),
}

/// An unfinished rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// The old key.
    pub from: KeyId,
    /// The new key.
    pub to: KeyId,
}

impl KeyRing {
    /// Loads the existing keys. `None` if nothing was ever sealed here, or the key is lost.
    pub fn load(folders: &Folders) -> Result<Option<Self>, SealError> {
        Self::find(&folders.data, |name| path_variable(name).map(PathBuf::into_os_string))
    }

    /// Loads the existing keys, or creates one in the data folder. Only for sealing new data: if sealed data exists already,
    /// a missing key is lost, and a new one would hide that.
    pub fn load_or_create(folders: &Folders) -> Result<Self, SealError> {
        match Self::load(folders)? {
            Some(ring) => Ok(ring),
            None => Self::create(&folders.data),
        }
    }

    pub(super) fn find(
        folder: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Option<Self>, SealError> {
        let named = |name| variable(name).map(|value| key_in(name, value)).transpose();
        if let Some(key) = named(KEY_VARIABLE)? {
            return Ok(Some(Self::new(KeyHome::Environment, key, named(NEW_KEY_VARIABLE)?)));
        }
        let (path, new_path) = (folder.join(KEY_FILE), folder.join(NEW_KEY_FILE));
        // The new one first: if it replaces the other in between, it is simply found twice.
        let new = key_file::read(&new_path)?;
        match (key_file::read(&path)?, new) {
            (Some(key), new) => Ok(Some(Self::new(KeyHome::File(path), key, new))),
            (None, None) => Ok(None),
            (None, Some(_)) => Err(SealError::key_file(&path, KeyFileProblem::Missing { new: new_path })),
        }
    }

    pub(super) fn create(folder: &Path) -> Result<Self, SealError> {
        let path = folder.join(KEY_FILE);
        let failed = |error| SealError::key_file(&path, KeyFileProblem::Io(error));
        make_private(folder).map_err(failed)?;
        match key_file::write_new(&path, &generate()?) {
            Ok(()) => {}
            // Another process was faster; we use its key.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        // Use the key that is on disk.
        Self::find(folder, |_| None)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// A ring with a given key, such as one from a backup.
    #[must_use]
    pub fn holding(key: MasterKey, home: KeyHome) -> Self {
        Self::new(home, key, None)
    }

    fn new(home: KeyHome, key: MasterKey, new: Option<MasterKey>) -> Self {
        let (sealing, former) = match new {
            Some(new) if new != key => (new, Some(key)),
            _ => (key, None),
        };
        Self { sealing, former, home, lock: None }
    }

    /// Seals `plain` for one purpose, such as `secret/local/NAME`. It opens only for the same purpose.
    pub fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        envelope::seal(&self.sealing, purpose, plain)
    }

    /// Opens data sealed for this purpose with any key of the ring.
    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealError> {
        let damaged = || SealError::Damaged { purpose: purpose.to_owned() };
        let envelope = Envelope::parse(sealed)?.ok_or_else(damaged)?;
        let mut fitting = [Some(&self.sealing), self.former.as_ref()]
            .into_iter()
            .flatten()
            .filter(|key| key.id() == envelope.key)
            .peekable();
        if fitting.peek().is_none() {
            let (needed, held) = (envelope.key, self.sealing.id());
            return Err(SealError::UnknownKey { needed, held, home: self.home.clone() });
        }
        fitting.find_map(|key| envelope.open(key, purpose)).ok_or_else(damaged)
    }

    /// The id of the sealing key.
    #[must_use]
    pub fn sealing_key(&self) -> KeyId {
        self.sealing.id()
    }

    /// The source of the key.
    #[must_use]
    pub fn home(&self) -> &KeyHome {
        &self.home
    }

    /// The current rotation, begun here or found unfinished.
    #[must_use]
    pub fn rotation(&self) -> Option<Rotation> {
        self.former.as_ref().map(|former| Rotation { from: former.id(), to: self.sealing.id() })
    }

    /// First step: from now on a new key seals, and both open. The new key is on disk when this returns. Continues an
    /// unfinished rotation with its key.
    pub fn begin_rotation(&mut self) -> Result<(), SealError> {
        match &self.home {
            KeyHome::File(path) => self.begin_at(&path.clone(), None),
            KeyHome::Environment if self.former.is_some() => Ok(()),
            KeyHome::Environment => Err(RotationProblem::NoNewKey.into()),
        }
    }

    /// Brings in an existing key, such as one from a backup, as a rotation: both keys open until
    /// [`KeyRing::finish_rotation`] of the returned ring. `None` if there is nothing to finish, because the key is already
    /// here, or there was none.
    pub fn bring_in(folders: &Folders, key: &MasterKey) -> Result<Option<Self>, SealError> {
        let Some(mut ring) = Self::load(folders)? else {
            let path = folders.data.join(KEY_FILE);
            let written = make_private(&folders.data).and_then(|()| key_file::write_new(&path, key));
            return match written {
                Ok(()) => Ok(None),
                Err(error) => Err(SealError::key_file(&path, KeyFileProblem::Io(error))),
            };
        };
        if ring.former.as_ref().unwrap_or(&ring.sealing) == key {
            return Ok(None);
        }
        match &ring.home {
            KeyHome::Environment => return Err(RotationProblem::InEnvironment.into()),
            KeyHome::File(path) => ring.begin_at(&path.clone(), Some(key))?,
        }
        Ok(Some(ring))
    }

    fn begin_at(&mut self, path: &Path, wanted: Option<&MasterKey>) -> Result<(), SealError> {
        let (lock, new_path) = (KeyLock::take(path)?, path.with_file_name(NEW_KEY_FILE));
        // The lock is held from here on; what was loaded before may be outdated.
        let key = self.former.as_ref().unwrap_or(&self.sealing).clone();
        if key_file::read(path)?.as_ref() != Some(&key) {
            return Err(RotationProblem::Stale.into());
        }
        let failed = |error| SealError::key_file(&new_path, KeyFileProblem::Io(error));
        let found = key_file::read(&new_path)?;
        if found.as_ref() == Some(&key) {
            // A copy of the key is not a successor.
            key_file::remove(&new_path).map_err(failed)?;
        }
        let new = match found.filter(|new| *new != key) {
            Some(new) if wanted.is_some_and(|wanted| *wanted != new) => {
                return Err(RotationProblem::Unfinished.into());
            }
            Some(new) => new,
            None => {
                let new = wanted.cloned().map_or_else(generate, Ok)?;
                key_file::write_new(&new_path, &new).map_err(failed)?;
                new
            }
        };
        *self = Self { lock: Some(lock), ..Self::new(self.home.clone(), key, Some(new)) };
        Ok(())
    }

    /// Before the last step: stores the old key under its id next to the new one, and returns the path. Older copies of the
    /// data, such as backups, need it. `None` if the key is in the environment.
    pub fn keep_former(&self) -> Result<Option<PathBuf>, SealError> {
        let Some(former) = &self.former else { return Err(RotationProblem::NotBegun.into()) };
        let KeyHome::File(path) = &self.home else { return Ok(None) };
        let kept = kept_file(path, former.id());
        let failed = |error| SealError::key_file(&kept, KeyFileProblem::Io(error));
        // A process killed right after this has already stored it. A different key with the same id is practically
        // impossible, and is not overwritten.
        if key_file::read(&kept)?.as_ref() != Some(former) {
            key_file::write_new(&kept, former).map_err(failed)?;
        }
        Ok(Some(kept))
    }

    /// The path of a key stored by [`KeyRing::keep_former`], if it still exists.
    #[must_use]
    pub fn kept(folders: &Folders, key: KeyId) -> Option<PathBuf> {
        let kept = kept_file(&folders.data.join(KEY_FILE), key);
        is_there(&kept).then_some(kept)
    }

    /// Last step, once all data is sealed with the new key: drops the old key. Unless it was stored, it is deleted from disk
    /// when this returns.
    pub fn finish_rotation(&mut self) -> Result<(), SealError> {
        if let Some((path, new_path)) = self.locked_files()? {
            put_in_place(&new_path, &path)
                .map_err(|error| SealError::key_file(&new_path, KeyFileProblem::Io(error)))?;
        }
        self.former = None;
        self.lock = None;
        Ok(())
    }

    /// The two files, locked and checked against this ring; `None` if the key is in the environment.
    fn locked_files(&mut self) -> Result<Option<(PathBuf, PathBuf)>, SealError> {
        let Some(former) = &self.former else { return Err(RotationProblem::NotBegun.into()) };
        let KeyHome::File(path) = &self.home else { return Ok(None) };
        let lock = self.lock.take().map_or_else(|| KeyLock::take(path), Ok)?;
        let new_path = path.with_file_name(NEW_KEY_FILE);
        if key_file::read(path)?.as_ref() != Some(former)
            || key_file::read(&new_path)?.as_ref() != Some(&self.sealing)
        {
            return Err(RotationProblem::Stale.into());
        }
        self.lock = Some(lock);
        Ok(Some((path.clone(), new_path)))
    }
}

/// The file in which an old key is stored.
fn kept_file(path: &Path, key: KeyId) -> PathBuf {
    with_end(path, &format!(".{key}"))
}

fn key_in(variable: &'static str, value: OsString) -> Result<MasterKey, SealError> {
    let text = value.into_string().map(Zeroizing::new);
    let key = text.map_err(|_| MasterKeyError::NotText).and_then(|text| MasterKey::parse(&text));
    key.map_err(|source| SealError::Variable { variable, source })
}

fn generate() -> Result<MasterKey, SealError> {
    MasterKey::generate().map_err(|source| SealError::Randomness { source })
}

impl fmt::Display for KeyHome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => write!(formatter, "`{KEY_VARIABLE}`"),
            Self::File(path) => write!(formatter, "`{}`", path.display()),
        }
    }
}
