//! API keys and tokens.

use schemars::JsonSchema;
use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::scope::ProjectId;
use toolroom_store::KeyRecord;

use crate::identity::{Environment, Permission, holds};

/// An API key, without its secret.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Key")]
pub(crate) struct KeyDocument {
    /// Key id (not secret).
    id: String,
    /// Project of the key.
    project: ProjectId,
    /// Name.
    name: String,
    /// Environment.
    #[schemars(with = "Environment")]
    environment: String,
    /// Prefix and last four characters.
    hint: String,
    /// Scopes.
    #[schemars(with = "Vec<Permission>")]
    scopes: Vec<String>,
    /// Web origins that may use it; none if empty.
    origins: Vec<String>,
    /// Creation time: microseconds since the Unix epoch.
    created_at: Timestamp,
    /// Expiry time.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    /// Whether it is valid.
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

/// A new API key.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "NewKey")]
pub(crate) struct MadeKey {
    /// The key. Shown only once.
    pub(crate) key: String,
    /// Its metadata.
    #[serde(flatten)]
    pub(crate) kept: KeyDocument,
    /// The key it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<String>,
}

/// A new token.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub(crate) struct MadeToken {
    /// The token. Shown only once.
    pub(crate) token: String,
    /// Expiry time: microseconds since the Unix epoch.
    pub(crate) expires_at: Timestamp,
}
