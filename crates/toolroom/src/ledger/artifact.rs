//! Whole results, kept when the caller got a shortened one.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::CallId;
use crate::clock::{Clock, Timestamp};
use crate::scope::Scope;

/// An artifact's id: `art_` and 32 random hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ArtifactId(Arc<str>);

impl ArtifactId {
    /// A fresh id that cannot be guessed.
    #[must_use]
    pub fn fresh(clock: &dyn Clock) -> Self {
        Self(format!("art_{}", clock.random_id().simple()).into())
    }

    /// The id somebody wrote down earlier. It need not exist.
    #[must_use]
    pub fn from_text(id: &str) -> Self {
        Self(id.into())
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
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
