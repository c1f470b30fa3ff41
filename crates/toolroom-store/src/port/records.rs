//! Records of the store's own methods: sealed values, trusted files, artifacts, entries of foreign servers.

use std::sync::Arc;

use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::foreign::ServerRecord;
use toolroom::ledger::{ArtifactId, CallId};
use toolroom::scope::ProjectId;

/// A sealed secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecret {
    /// Its name in the project.
    pub name: String,
    /// The sealed value.
    pub sealed: Vec<u8>,
    /// When it was first set.
    pub created_at: Timestamp,
    /// When it was last set.
    pub changed_at: Timestamp,
}

/// Where a sealed value is stored.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SealedLocation {
    /// A secret.
    Secret {
        /// Its project.
        project: ProjectId,
        /// Its name.
        name: String,
    },
    /// The request of a parked call.
    Approval {
        /// The call.
        call: CallId,
    },
}

/// A sealed value and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedValue {
    /// Where it is stored.
    pub location: SealedLocation,
    /// The sealed bytes.
    pub bytes: Vec<u8>,
}

/// A value that was sealed again, under another key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResealedValue {
    /// Where it is stored.
    pub location: SealedLocation,
    /// The bytes that were read there.
    pub old: Vec<u8>,
    /// The same value under the new key.
    pub new: Vec<u8>,
}

/// A project file that is trusted as long as its content is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedFile {
    /// Its path.
    pub path: String,
    /// SHA-256 of the trusted content.
    pub sha256: String,
    /// When the content was trusted.
    pub trusted_at: Timestamp,
}

/// Metadata of one artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactFacts {
    /// The call it came from.
    pub call: CallId,
    /// Its media type.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// When it was stored.
    pub kept_at: Timestamp,
}

/// An entry in a listing of artifacts: a whole result, or a file that came with one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoredArtifact {
    /// Its id.
    pub id: ArtifactId,
    /// The call it came from.
    pub call: CallId,
    /// The tool of that call.
    pub tool: Arc<str>,
    /// File name, if it was offered as a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its media type.
    pub media_type: String,
    /// Its size.
    pub bytes: u64,
    /// When it was stored.
    pub kept_at: Timestamp,
}

/// A foreign server to be written, if it is still what it was when the change was decided.
#[derive(Debug, Clone)]
pub struct ServerEntry {
    /// The new record.
    pub record: ServerRecord,
    /// The record it replaces; `None` if there was none that could be read.
    pub before: Option<ServerRecord>,
    /// Prefix of the names of secrets that were granted for another address, and are deleted with it.
    pub deleted_secrets: Option<String>,
    /// Whether it is another program or address: the observed condition of the previous one is reset.
    pub is_other_server: bool,
}
