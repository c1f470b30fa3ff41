//! Encrypts data at rest: secrets, and the arguments of parked calls.
//!
//! A [`KeyRing`] seals with XChaCha20-Poly1305 under a 32-byte master key. The key comes from the variable
//! `TOOLROOM_MASTER_KEY` or the file `master.key` in the data folder, which is created when first needed. Sealed data is
//! bound to a *purpose*, such as `secret/local/NAME`: in another row it does not open.
//!
//! This is not a vault: a user who can read the owner's files or the memory of the process can read the key. It protects
//! copies of the database and backups without the key.
//!
//! # Changing the key
//!
//! The caller re-seals its data, so it drives the rotation:
//!
//! 1. [`KeyRing::begin_rotation`]: the new key is on disk as `master.key.new`. From now on the ring seals with it
//!    and opens with both.
//! 2. In one transaction, all stored data is opened and sealed again.
//! 3. [`KeyRing::keep_former`], if older copies must stay readable: the old key is stored as `master.key.ID`.
//! 4. [`KeyRing::finish_rotation`]: `master.key.new` replaces `master.key`.
//!
//! If the process dies in between, both keys are on disk and nothing is lost. The next process that loads the ring sees
//! the rotation in [`KeyRing::rotation`] and repeats the steps: step 1 reuses the new key, and re-sealing twice is
//! harmless.
//!
//! With the key in the environment no file is written: the operator sets `TOOLROOM_NEW_MASTER_KEY` in addition, and after
//! step 4 moves its value to `TOOLROOM_MASTER_KEY`.
//!
//! A process that loaded its ring before step 1 does not know the new key and keeps sealing with the old one. So a shared
//! database stores the id of the valid key, changed in the transaction of step 2 and compared with
//! [`KeyRing::sealing_key`] in each transaction that stores sealed data; if they differ, the process reloads the ring and
//! seals again. For the same reason it reloads once when data has an unknown key.

mod envelope;
mod error;
mod key_file;
mod key_ring;
mod master_key;
#[cfg(test)]
mod tests;

pub use self::envelope::{beginning, key_of};
pub use self::error::{KeyFileProblem, RotationProblem, SealError};
pub use self::key_ring::{KEY_FILE, KEY_VARIABLE, KeyHome, KeyRing, NEW_KEY_VARIABLE, Rotation};
pub use self::master_key::{KeyId, MasterKey, MasterKeyError};
