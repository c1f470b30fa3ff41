//! A private ssh configuration: named hosts in marked blocks, and their public keys. Private keys are never written.

mod entry;
mod error;
mod home;
mod known_host;

pub use entry::HostEntry;
pub use error::SshError;
pub use home::{ChangedFiles, SshHome};
pub use known_host::KnownHost;
