//! Texts at rest that only this installation can read: secrets, and the arguments of calls that wait for an answer.
//!
//! A [`KeyRing`] seals with XChaCha20-Poly1305 under one master key of 32 bytes. The key comes from the variable
//! `TOOLROOM_MASTER_KEY` or from the file `master.key` in the data folder, which is made when it is first needed.
//! What is sealed is bound to a *purpose*, such as `secret/local/NAME`: moved to another row, it does not open.
//!
//! It is no vault. Whoever may read the owner's files, or the memory of the process, may read the key. What it
//! protects is a copy of the database, and a backup without its key.
//!
//! # Changing the key
//!
//! The caller re-seals what it stores, so it holds the rotation together:
//!
//! 1. [`KeyRing::begin_rotation`]: the new key is on disk as `master.key.new`. From now on the ring seals with it
//!    and opens with both.
//! 2. In one transaction, everything stored is opened and sealed again.
//! 3. [`KeyRing::keep_former`], if copies that were made before are to open later: the old key is `master.key.ID`.
//! 4. [`KeyRing::finish_rotation`]: `master.key.new` takes the place of `master.key`.
//!
//! Whenever the process dies in between, both keys are on disk and nothing is lost. The next one that loads the ring
//! sees it in [`KeyRing::rotation`] and repeats the steps: step 1 finds the new key that was begun, and sealing
//! something twice does no harm.
//!
//! With the key in the environment no file is written: the operator sets `TOOLROOM_NEW_MASTER_KEY` beside the other
//! one, and after step 4 gives its value to `TOOLROOM_MASTER_KEY`.
//!
//! A process that loaded its ring before step 1 knows nothing of the new key, and goes on sealing with the old one.
//! So whoever shares a database keeps the id of the valid key in it, changes it in the transaction of step 2, and
//! compares it with [`KeyRing::sealing_key`] in the transaction that stores something sealed; if they differ, it
//! loads the ring and seals again. For the same reason a text under an unknown key is a reason to load again once.

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
