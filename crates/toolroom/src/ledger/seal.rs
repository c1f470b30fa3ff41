//! How the exact request of a parked call is kept: sealed, by somebody who has a key.

use std::error::Error;
use std::sync::Arc;

/// Makes bytes unreadable for everybody without the key. The kernel has no key: whoever builds the room brings one.
pub trait Seal: Send + Sync {
    /// Seals `plain`. What was sealed for one `purpose` cannot be opened for another.
    fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Opens what [`Seal::seal`] made for the same `purpose`.
    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError>;
}

/// Sealing, or opening, failed. The source says why; it is for the operator, never for a model.
#[derive(Debug, Clone, thiserror::Error)]
#[error("what is sealed cannot be made or read")]
pub struct SealError(#[source] Arc<dyn Error + Send + Sync>);

impl SealError {
    /// Keeps why.
    #[must_use]
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(source.into()))
    }
}
