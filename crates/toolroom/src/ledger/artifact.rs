//! Whole results, kept when the caller got a shortened one.

use std::sync::Arc;

use super::CallId;
use crate::clock::{Clock, Timestamp};
use crate::scope::Scope;
use crate::text_id::text_id;

text_id! {
    /// An artifact's id: `art_` and 32 random hexadecimal digits.
    ArtifactId
}

impl ArtifactId {
    /// A fresh id that cannot be guessed.
    #[must_use]
    pub fn fresh(clock: &dyn Clock) -> Self {
        Self::new(&format!("art_{}", clock.random_id().simple()))
    }
}

/// The whole result of one call. Owned by the scope of that call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its id.
    pub id: ArtifactId,
    /// The call it came from.
    pub call: CallId,
    /// Who may read it.
    pub scope: Scope,
    /// `application/json`, or `text/plain` for a result that was one text.
    pub media_type: &'static str,
    /// The content.
    pub bytes: Arc<[u8]>,
    /// When it was kept.
    pub kept_at: Timestamp,
}

impl Artifact {
    /// Media type of a result that was one text.
    pub const TEXT: &'static str = "text/plain";
    /// Media type of every other result.
    pub const JSON: &'static str = "application/json";
}
