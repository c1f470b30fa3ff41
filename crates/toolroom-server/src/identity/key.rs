//! The format of API keys. Only the hash of a key is stored.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolroom::clock::{Clock, Timestamp, Uuid};
use toolroom::scope::ProjectId;
use toolroom_store::KeyRecord;

use super::origin::WebOrigin;
use super::permission::Permission;

/// Prefix of every key.
pub(crate) const PREFIX: &str = "trk_";

/// Where a key is used. It is part of the key, so that test keys are recognized before they are deployed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Environment {
    /// Production.
    #[default]
    Prod,
    /// Tests.
    Test,
}

impl Environment {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Prod => "prod",
            Self::Test => "test",
        }
    }
}

impl FromStr for Environment {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        [Self::Prod, Self::Test].into_iter().find(|one| one.as_str() == name).ok_or(())
    }
}

/// A key to create.
pub(crate) struct NewKey {
    pub(crate) project: ProjectId,
    pub(crate) name: String,
    pub(crate) environment: Environment,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) origins: Vec<WebOrigin>,
    pub(crate) expires_at: Option<Timestamp>,
}

impl NewKey {
    /// The whole key and its record.
    pub(crate) fn make(self, clock: &dyn Clock) -> (String, KeyRecord) {
        let environment = self.environment.as_str();
        let prefix = format!("{PREFIX}{environment}_");
        let key = format!("{prefix}{}", secret_text(clock));
        let tail: String = key.chars().skip(key.chars().count().saturating_sub(4)).collect();
        let permissions = Permission::ALL.into_iter().filter(|one| self.permissions.contains(one));
        let record = KeyRecord {
            id: clock.ordered_id().to_string(),
            project: self.project,
            name: self.name,
            environment: environment.to_owned(),
            sha256: hash_of(&key),
            hint: format!("{prefix}…{tail}"),
            permissions: permissions.map(|permission| permission.as_str().to_owned()).collect(),
            origins: self.origins.iter().map(ToString::to_string).collect(),
            created_at: clock.now(),
            expires_at: self.expires_at,
        };
        (key, record)
    }
}

/// The text, if it has the prefix of a key.
pub(crate) fn key_of(text: &str) -> Option<&str> {
    text.starts_with(PREFIX).then_some(text)
}

/// Whether a key has not expired.
pub(crate) fn holds(key: &KeyRecord, now: Timestamp) -> bool {
    key.expires_at.is_none_or(|until| now < until)
}

/// A secret of 244 random bits.
pub(super) fn secret_text(clock: &dyn Clock) -> String {
    let letters = |id: Uuid| {
        let mut rest = id.as_u128();
        let digits = std::iter::from_fn(move || {
            let digit = u32::try_from(rest % 36).ok()?;
            rest /= 36;
            char::from_digit(digit, 36)
        });
        digits.take(25).collect::<String>()
    };
    format!("{}{}", letters(clock.random_id()), letters(clock.random_id()))
}

/// The hash that is stored of a secret.
pub(super) fn hash_of(text: &str) -> String {
    let digest = Sha256::digest(text);
    let mut digits = vec![0; 2 * digest.len()];
    // Faster than `hex::encode`, because it runs for each request.
    match hex::encode_to_slice(digest, &mut digits).map(|()| String::from_utf8(digits)) {
        Ok(Ok(digits)) => digits,
        // Never equal hashes for different secrets.
        Ok(Err(_)) | Err(_) => hex::encode(digest),
    }
}

#[cfg(test)]
mod tests {
    use toolroom::clock::SystemClock;

    use super::*;

    #[test]
    fn the_record_of_a_key_does_not_contain_the_key() {
        let new = || NewKey {
            project: ProjectId::new("shop"),
            name: "till".to_owned(),
            environment: Environment::Test,
            permissions: vec![Permission::Chat, Permission::Read, Permission::Chat],
            origins: Vec::new(),
            expires_at: None,
        };
        let (key, record) = new().make(&SystemClock);
        let (other, _) = new().make(&SystemClock);
        assert_ne!(key, other);
        assert!(key.starts_with("trk_test_") && key.len() == 59, "{key}");
        assert_eq!(record.permissions, ["read", "chat"], "each once, in order");
        assert_eq!(record.sha256, hash_of(&key));
        let shown = record.hint.strip_prefix("trk_test_…").unwrap();
        assert!(shown.len() == 4 && key.ends_with(shown));
    }
}
