//! Secrets: sealed in the store, opened with the master key, and hidden wherever something is told or kept.
//!
//! Several processes share the store and the key, and any of them may change the key at any time. So what seals always
//! reads the key anew, and what cannot open something reads both again before it gives up.

mod error;
mod keys;
mod name;
mod record;
mod rotate;
mod secrets;

pub use error::VaultError;
pub use keys::{Hides, Vault};
pub(crate) use name::{SecretNameError, check_secret_name};
pub(crate) use record::SecretRecord;
pub use rotate::KeyChange;
pub(crate) use secrets::place_purpose;
pub use secrets::{Kept, SeenSecret, purpose};
