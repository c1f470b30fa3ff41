//! Secrets: sealed in the store, opened with the master key, and redacted everywhere else.
//!
//! Several processes share store and key, and each may rotate the key at any time. So sealing always reloads the key, and
//! opening reloads key and store before it fails.

mod error;
mod keys;
mod name;
mod record;
mod rotate;
mod secrets;

pub use error::VaultError;
pub use keys::{RedactedValues, Vault};
pub(crate) use name::{SecretNameError, check_secret_name};
pub(crate) use record::SecretRecord;
pub use rotate::KeyRotation;
pub(crate) use secrets::place_purpose;
pub use secrets::{OpenedSecret, SavedSecret, purpose};
