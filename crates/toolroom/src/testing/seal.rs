//! A seal that seals nothing.

use crate::ledger::{Seal, SealError};

/// Keeps bytes unchanged. For ledgers in memory, whose content is lost with the process.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSeal;

impl Seal for NoSeal {
    fn seal(&self, _purpose: &str, plain: &[u8]) -> Result<Vec<u8>, SealError> {
        Ok(plain.to_vec())
    }

    fn open(&self, _purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, SealError> {
        Ok(sealed.to_vec())
    }
}
