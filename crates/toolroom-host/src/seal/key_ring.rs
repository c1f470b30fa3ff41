//! The keys of this installation: one, or two while the key is changed.

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

/// Holds the key where there is no file for it, as in a container.
pub const KEY_VARIABLE: &str = "TOOLROOM_MASTER_KEY";

/// Holds the key that is to follow the one in [`KEY_VARIABLE`]. Without that one it means nothing.
pub const NEW_KEY_VARIABLE: &str = "TOOLROOM_NEW_MASTER_KEY";

/// The key's file in the data folder.
pub const KEY_FILE: &str = "master.key";
const NEW_KEY_FILE: &str = "master.key.new";

/// Seals and opens.
#[derive(Debug)]
pub struct KeyRing {
    /// While the key is changed, this is the new one.
    sealing: MasterKey,
    /// While the key is changed: the one before, which still opens.
    former: Option<MasterKey>,
    home: KeyHome,
    /// Held from the first step of a change to its last.
    lock: Option<KeyLock>,
}

/// Where the key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyHome {
    /// The variable [`KEY_VARIABLE`].
    Environment,
    /// This file.
    File(PathBuf),
}

/// A change of the key that was begun and not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// The key that goes.
    pub from: KeyId,
    /// The key that comes.
    pub to: KeyId,
}

impl KeyRing {
    /// The keys there are. Makes none: `None` says that nothing was ever sealed here, or that the key is lost.
    pub fn load(folders: &Folders) -> Result<Option<Self>, SealError> {
        Self::find(&folders.data, |name| path_variable(name).map(PathBuf::into_os_string))
    }

    /// The keys there are, or a new one in the data folder. Only for sealing something new: where something sealed is
    /// stored already, a missing key is lost, and a new one would hide that.
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
        // The new one first: if it takes the place of the other in between, it is simply found twice.
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
            // Another process was faster; its key is ours too.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
        // What is used is what is on disk.
        Self::find(folder, |_| None)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// A ring of one key that is not read from its place, such as one from a backup.
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

    /// Seals `plain` for one purpose, such as `secret/local/NAME`. It opens for the same purpose only.
    pub fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        envelope::seal(&self.sealing, purpose, plain)
    }

    /// Opens what was sealed for this purpose with any key of the ring.
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

    /// The key that seals.
    #[must_use]
    pub fn sealing_key(&self) -> KeyId {
        self.sealing.id()
    }

    /// Where the key comes from.
    #[must_use]
    pub fn home(&self) -> &KeyHome {
        &self.home
    }

    /// The change of the key this ring is in, be it begun here or found unfinished.
    #[must_use]
    pub fn rotation(&self) -> Option<Rotation> {
        self.former.as_ref().map(|former| Rotation { from: former.id(), to: self.sealing.id() })
    }

    /// First step: from now on a new key seals, and both open. The new key is on disk before this returns. If a
    /// change is unfinished, it goes on with that one's key.
    pub fn begin_rotation(&mut self) -> Result<(), SealError> {
        match &self.home {
            KeyHome::File(path) => self.begin_at(&path.clone(), None),
            KeyHome::Environment if self.former.is_some() => Ok(()),
            KeyHome::Environment => Err(RotationProblem::NoNewKey.into()),
        }
    }

    /// Brings in a key that exists already, such as one from a backup, by the steps of a change: until
    /// [`KeyRing::finish_rotation`] of what is returned, both keys open. `None` when nothing has to be finished,
    /// because this key is here already, or none was.
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
        // Only now nobody else changes anything: what was loaded before may be old.
        let key = self.former.as_ref().unwrap_or(&self.sealing).clone();
        if key_file::read(path)?.as_ref() != Some(&key) {
            return Err(RotationProblem::Stale.into());
        }
        let failed = |error| SealError::key_file(&new_path, KeyFileProblem::Io(error));
        let found = key_file::read(&new_path)?;
        if found.as_ref() == Some(&key) {
            // A copy of the key is no successor.
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

    /// Before the last step: keeps the key that goes under its own id beside the one that comes, and says where. What
    /// was copied before, such as a backup, opens with it alone. `None` if the key is in the environment.
    pub fn keep_former(&self) -> Result<Option<PathBuf>, SealError> {
        let Some(former) = &self.former else { return Err(RotationProblem::NotBegun.into()) };
        let KeyHome::File(path) = &self.home else { return Ok(None) };
        let kept = kept_file(path, former.id());
        let failed = |error| SealError::key_file(&kept, KeyFileProblem::Io(error));
        // Whoever was killed right after this has kept it already. Another key of the same id would be a marvel, and
        // is not written over.
        if key_file::read(&kept)?.as_ref() != Some(former) {
            key_file::write_new(&kept, former).map_err(failed)?;
        }
        Ok(Some(kept))
    }

    /// Where a key that [`KeyRing::keep_former`] has kept lies, if it is still there.
    #[must_use]
    pub fn kept(folders: &Folders, key: KeyId) -> Option<PathBuf> {
        let kept = kept_file(&folders.data.join(KEY_FILE), key);
        is_there(&kept).then_some(kept)
    }

    /// Last step, once everything stored is sealed with the new key: the old key is given up. Unless it was kept, it
    /// is gone from disk when this returns.
    pub fn finish_rotation(&mut self) -> Result<(), SealError> {
        if let Some((path, new_path)) = self.locked_files()? {
            put_in_place(&new_path, &path)
                .map_err(|error| SealError::key_file(&new_path, KeyFileProblem::Io(error)))?;
        }
        self.former = None;
        self.lock = None;
        Ok(())
    }

    /// The two files, with the lock in hand and holding what this ring holds; nothing if the key is in the
    /// environment.
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

/// The file beside that of the key in which a former one is kept.
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
