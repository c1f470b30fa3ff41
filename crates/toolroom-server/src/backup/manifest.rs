//! What a backup says of itself.

use serde::{Deserialize, Serialize};
use toolroom::clock::Timestamp;
use toolroom_host::archive::Member;
use toolroom_host::seal::KEY_FILE;
use toolroom_store::BackupFacts;

use crate::config::FILE_NAME;
use crate::database::DATABASE;

/// The member that holds it.
pub(super) const MANIFEST: &str = "manifest.json";

/// No list of four members is longer.
pub(super) const MAX_BYTES: u64 = 64 * 1_024;

/// The one format there is.
const FORMAT: u32 = 1;

/// The members a backup may have beside its manifest.
pub(super) const MEMBERS: [&str; 3] = [DATABASE, FILE_NAME, KEY_FILE];

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    format: u32,
    /// When it was made.
    pub(crate) created_at: Timestamp,
    /// The version that made it.
    pub(crate) toolroom: String,
    /// The newest migration of the database.
    pub(crate) schema: i64,
    /// What the database holds.
    pub(crate) rows: Rows,
    /// The key everything in it is sealed with.
    pub(crate) key: KeyNote,
    /// Every other member.
    pub(super) members: Vec<Content>,
}

/// How many of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rows {
    pub(crate) calls: u64,
    pub(crate) approvals: u64,
    pub(crate) secrets: u64,
    pub(crate) answers: u64,
    pub(crate) artifacts: u64,
    /// Absent in backups of earlier versions, which had none.
    #[serde(default)]
    pub(crate) conversations: u64,
    /// The same.
    #[serde(default)]
    pub(crate) memories: u64,
}

/// What is said of the master key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyNote {
    /// Whether it is in the backup.
    pub(crate) inside: bool,
    /// Its id, if there was one.
    pub(crate) id: Option<String>,
}

/// A member as it was put in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Content {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

/// Why a text is no manifest.
#[derive(Debug, thiserror::Error)]
pub(super) enum ManifestError {
    #[error("`{MANIFEST}` has format {found}, this Toolroom knows {FORMAT}; use the newer Toolroom")]
    Newer { found: u32 },
    #[error("`{MANIFEST}` is damaged")]
    Damaged,
}

impl Manifest {
    pub(super) fn new(
        created_at: Timestamp,
        facts: &BackupFacts,
        key: KeyNote,
        members: Vec<Member>,
    ) -> Self {
        let content = |Member { name, bytes, sha256 }| Content { name, bytes, sha256 };
        Self {
            format: FORMAT,
            created_at,
            toolroom: env!("CARGO_PKG_VERSION").to_owned(),
            schema: facts.schema,
            rows: Rows::of(facts),
            key,
            members: members.into_iter().map(content).collect(),
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, ManifestError> {
        /// What every format has, whatever else changes.
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let Format { format } = serde_json::from_slice(bytes).map_err(|_| ManifestError::Damaged)?;
        if format != FORMAT {
            return Err(ManifestError::Newer { found: format });
        }
        serde_json::from_slice(bytes).map_err(|_| ManifestError::Damaged)
    }

    pub(super) fn content(&self, name: &str) -> Option<&Content> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Whether the user's configuration file is inside.
    pub(crate) fn has_config(&self) -> bool {
        self.content(FILE_NAME).is_some()
    }
}

impl Rows {
    pub(super) fn of(facts: &BackupFacts) -> Self {
        let BackupFacts { schema: _, calls, approvals, secrets, answers, artifacts, conversations, memories } =
            *facts;
        Self { calls, approvals, secrets, answers, artifacts, conversations, memories }
    }
}

impl Content {
    /// Whether a member is what was put in.
    pub(super) fn is(&self, member: &Member) -> bool {
        (self.name.as_str(), self.bytes, self.sha256.as_str())
            == (member.name.as_str(), member.bytes, member.sha256.as_str())
    }
}
