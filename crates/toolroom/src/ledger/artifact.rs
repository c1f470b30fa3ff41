//! Artifacts: whole results of calls whose caller got a shortened one, and attached files.

use std::borrow::Cow;

use bytes::Bytes;

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

/// The whole result of one call, or a file that came with it. Owned by the scope of that call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// Its id.
    pub id: ArtifactId,
    /// The call it came from.
    pub call: CallId,
    /// Who may read it.
    pub scope: Scope,
    /// `application/json`, `text/plain` for a result that was one text, or the type of a file.
    pub media_type: Cow<'static, str>,
    /// The content. Its producer may wait until these bytes are dropped before it makes others, so a ledger in memory stores a
    /// copy.
    pub bytes: Bytes,
    /// When it was stored.
    pub kept_at: Timestamp,
}

impl Artifact {
    /// Media type of a result that was one text.
    pub const TEXT: &'static str = "text/plain";
    /// Media type of every other result.
    pub const JSON: &'static str = "application/json";
}
