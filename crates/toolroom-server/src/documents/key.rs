//! Keys, without what makes them keys; and a new one, with it.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;
use toolroom_store::KeyRecord;

use crate::identity::{Environment, Permission, holds};

/// A key, as it is listed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Key")]
pub(crate) struct KeyDocument {
    /// Its id, which is no secret.
    id: String,
    /// Whose key it is.
    project: ProjectId,
    /// What people call it.
    name: String,
    /// What it is for.
    #[schemars(with = "Environment")]
    environment: String,
    /// How it begins, and its last four characters.
    hint: String,
    /// What it may do.
    #[schemars(with = "Vec<Permission>")]
    scopes: Vec<String>,
    /// The web pages that may use it; none, if empty.
    origins: Vec<String>,
    /// When it was made: microseconds since the Unix epoch.
    created_at: Timestamp,
    /// From when on it no longer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// Whether it still holds.
    holds: bool,
}

impl KeyDocument {
    pub(crate) fn of(key: &KeyRecord, now: Timestamp) -> Self {
        Self {
            id: key.id.clone(),
            project: key.project.clone(),
            name: key.name.clone(),
            environment: key.environment.clone(),
            hint: key.hint.clone(),
            scopes: key.permissions.clone(),
            origins: key.origins.clone(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            holds: holds(key, now),
        }
    }
}

/// A key that was just made.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NewKey")]
pub(crate) struct MadeKey {
    /// The whole key. It is told this once.
    pub(crate) key: String,
    /// What is kept of it.
    #[serde(flatten)]
    pub(crate) kept: KeyDocument,
    /// The key whose place it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<String>,
}

/// A token that was just made.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub(crate) struct MadeToken {
    /// The token. It is told this once.
    pub(crate) token: String,
    /// From when on it no longer holds: microseconds since the Unix epoch.
    pub(crate) expires_at: Timestamp,
}
