//! The port that seals the requests of parked calls.

use std::error::Error;
use std::sync::Arc;

/// Encrypts bytes. The kernel has no key: the builder of the toolroom provides the seal.
pub trait Seal: Send + Sync {
    /// Seals `plain`. Data sealed for one `purpose` cannot be opened for another.
    fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, SealError>;

    /// Opens what [`Seal::seal`] made for the same `purpose`.
    fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError>;
}

/// Sealing, or opening, failed. The source says why; it is for the operator, never for a model.
#[derive(Debug, Clone, thiserror::Error)]
#[error("the request cannot be sealed or unsealed")]
pub struct SealError(#[source] Arc<dyn Error + Send + Sync>);

impl SealError {
    /// Wraps the cause.
    #[must_use]
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(Arc::from(source.into()))
    }
}
