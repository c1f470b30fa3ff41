//! Tokens of end users: an app creates one with its key for each of its users, whose browser sends it. A token is sealed,
//! so only this server can read or change it, and it ends with its key.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolroom::clock::Timestamp;
use toolroom::conversation::AgentId;
use toolroom::ledger::{Seal, SealError};
use toolroom::scope::{ProjectId, UserId};

use super::origin::WebOrigin;
use super::project::NAME_PATTERN;
use crate::documents::whole_number;

/// Prefix of every token.
const PREFIX: &str = "tru_";

const PURPOSE: &str = "end-user token";

/// Longest lifetime of a token.
pub(crate) const MAX_LIFETIME: Duration = Duration::from_hours(24);

/// Default lifetime of a token.
pub(crate) const DEFAULT_LIFETIME: Duration = Duration::from_mins(15);

/// A token to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"user": "ann", "agent": "default"}))]
pub(crate) struct TokenOrder {
    /// The user, as the app names them.
    #[schemars(length(max = 200), regex(pattern = NAME_PATTERN))]
    pub(crate) user: String,
    /// The agent they may use.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) agent: String,
    /// Origin of the web page that may use the token, such as `https://shop.example`; those of the key if absent.
    #[serde(default)]
    pub(crate) origin: Option<WebOrigin>,
    /// Seconds until it expires.
    #[serde(default, deserialize_with = "whole_number")]
    #[schemars(range(min = 10, max = 86_400))]
    pub(crate) expires_in: Option<u64>,
}

/// The content of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndUser {
    /// The key that created it.
    pub(crate) key: String,
    pub(crate) project: ProjectId,
    pub(crate) user: UserId,
    pub(crate) agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<WebOrigin>,
    pub(crate) expires_at: Timestamp,
}

impl EndUser {
    /// The sealed token.
    pub(crate) fn token(&self, seal: &dyn Seal) -> Result<String, SealError> {
        let plain = serde_json::to_vec(self).map_err(SealError::new)?;
        Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(seal.seal(PURPOSE, &plain)?)))
    }

    /// Whether it has the prefix of a token.
    pub(super) fn is_token(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// Opens a token, if this server created it.
    pub(super) fn read(token: &str, seal: &dyn Seal) -> Option<Self> {
        let sealed = URL_SAFE_NO_PAD.decode(token.strip_prefix(PREFIX)?).ok()?;
        serde_json::from_slice(&seal.open(PURPOSE, &sealed).ok()?).ok()
    }
}
