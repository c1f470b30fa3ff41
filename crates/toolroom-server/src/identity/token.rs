//! Tokens of end users: a key's owner makes one for a person in their app, and the person's browser shows it. A token is
//! sealed, so nobody but us can read or change it, and it dies with its key.

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

/// How every token begins.
const PREFIX: &str = "tru_";

const PURPOSE: &str = "end-user token";

/// The longest a token holds.
pub(crate) const LONGEST: Duration = Duration::from_hours(24);

/// How long it holds where nothing is said.
pub(crate) const USUAL: Duration = Duration::from_mins(15);

/// A token to be made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"user": "ann", "agent": "default"}))]
pub(crate) struct TokenOrder {
    /// The person, as the app knows them.
    #[schemars(length(max = 200), regex(pattern = NAME_PATTERN))]
    pub(crate) user: String,
    /// The agent they may talk to.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) agent: String,
    /// The web page that may use the token, as in `https://shop.example`; those of the key, if absent.
    #[serde(default)]
    pub(crate) origin: Option<WebOrigin>,
    /// Seconds until it no longer holds.
    #[serde(default, deserialize_with = "whole_number")]
    #[schemars(range(min = 10, max = 86_400))]
    pub(crate) expires_in: Option<u64>,
}

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EndUser {
    /// The key that made it.
    pub(crate) key: String,
    pub(crate) project: ProjectId,
    pub(crate) user: UserId,
    pub(crate) agent: AgentId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<WebOrigin>,
    pub(crate) expires_at: Timestamp,
}

impl EndUser {
    /// The token that says this.
    pub(crate) fn token(&self, seal: &dyn Seal) -> Result<String, SealError> {
        let plain = serde_json::to_vec(self).map_err(SealError::new)?;
        Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(seal.seal(PURPOSE, &plain)?)))
    }

    /// What a header shows, if it looks like a token.
    pub(super) fn is_token(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// What a token says, if we made it.
    pub(super) fn read(token: &str, seal: &dyn Seal) -> Option<Self> {
        let sealed = URL_SAFE_NO_PAD.decode(token.strip_prefix(PREFIX)?).ok()?;
        serde_json::from_slice(&seal.open(PURPOSE, &sealed).ok()?).ok()
    }
}
