//! `manifest.json`: the format, origin, counts and hashes of a backup.

use serde::{Deserialize, Serialize};
use toolroom::clock::Timestamp;
use toolroom_host::archive::Member;
use toolroom_host::seal::KEY_FILE;
use toolroom_store::BackupFacts;

use crate::config::FILE_NAME;
use crate::database::DATABASE;

pub(super) const MANIFEST: &str = "manifest.json";

/// More than enough for four members.
pub(super) const MAX_BYTES: u64 = 64 * 1_024;

const FORMAT: u32 = 1;

/// Allowed members besides the manifest.
pub(super) const MEMBERS: [&str; 3] = [DATABASE, FILE_NAME, KEY_FILE];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    format: u32,
    pub(crate) created_at: Timestamp,
    pub(crate) toolroom: String,
    /// The schema version of the database.
    pub(crate) schema: i64,
    pub(crate) rows: Rows,
    pub(crate) key: ManifestKey,
    pub(super) members: Vec<ManifestMember>,
}

/// Counts of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rows {
    pub(crate) calls: u64,
    pub(crate) approvals: u64,
    pub(crate) secrets: u64,
    pub(crate) answers: u64,
    pub(crate) artifacts: u64,
    /// Absent in backups of earlier versions.
    #[serde(default)]
    pub(crate) conversations: u64,
    /// Absent in backups of earlier versions.
    #[serde(default)]
    pub(crate) memories: u64,
}

/// The master key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManifestKey {
    /// Whether it is in the backup.
    pub(crate) inside: bool,
    /// Its id, if there was one.
    pub(crate) id: Option<String>,
}

/// A member with its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestMember {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

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
        key: ManifestKey,
        members: Vec<Member>,
    ) -> Self {
        let content = |Member { name, bytes, sha256 }| ManifestMember { name, bytes, sha256 };
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
        /// The part that all formats share.
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

    pub(super) fn content(&self, name: &str) -> Option<&ManifestMember> {
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

impl ManifestMember {
    /// Whether a member matches.
    pub(super) fn is(&self, member: &Member) -> bool {
        (self.name.as_str(), self.bytes, self.sha256.as_str())
            == (member.name.as_str(), member.bytes, member.sha256.as_str())
    }
}
