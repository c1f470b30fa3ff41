//! Keys: how they look, and how one is made. The whole key is shown once; what is kept cannot be turned back into it.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toolroom::clock::{Clock, Timestamp, Uuid};
use toolroom::scope::ProjectId;
use toolroom_store::KeyRecord;

use super::origin::WebOrigin;
use super::permission::Permission;

/// How every key begins.
pub(crate) const PREFIX: &str = "trk_";

/// What a key is for. Test keys are told apart by how they look, so that nobody ships one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Environment {
    /// The real thing.
    #[default]
    Prod,
    /// Trying things out.
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

/// A key to be made.
pub(crate) struct NewKey {
    pub(crate) project: ProjectId,
    pub(crate) name: String,
    pub(crate) environment: Environment,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) origins: Vec<WebOrigin>,
    pub(crate) expires_at: Option<Timestamp>,
}

impl NewKey {
    /// The whole key, and what is kept of it.
    pub(crate) fn make(self, clock: &dyn Clock) -> (String, KeyRecord) {
        let environment = self.environment.as_str();
        let begin = format!("{PREFIX}{environment}_");
        let key = format!("{begin}{}", secret_text(clock));
        let tail: String = key.chars().skip(key.chars().count().saturating_sub(4)).collect();
        let permissions = Permission::ALL.into_iter().filter(|one| self.permissions.contains(one));
        let record = KeyRecord {
            id: clock.ordered_id().to_string(),
            project: self.project,
            name: self.name,
            environment: environment.to_owned(),
            sha256: hash_of(&key),
            hint: format!("{begin}…{tail}"),
            permissions: permissions.map(|permission| permission.as_str().to_owned()).collect(),
            origins: self.origins.iter().map(ToString::to_string).collect(),
            created_at: clock.now(),
            expires_at: self.expires_at,
        };
        (key, record)
    }
}

/// What a header shows, if it looks like one of our keys.
pub(crate) fn key_of(text: &str) -> Option<&str> {
    text.starts_with(PREFIX).then_some(text)
}

/// Whether a key still holds.
pub(crate) fn holds(key: &KeyRecord, now: Timestamp) -> bool {
    key.expires_at.is_none_or(|until| now < until)
}

/// A text that nobody guesses: 244 random bits.
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

/// What is kept of a secret text.
pub(super) fn hash_of(text: &str) -> String {
    let digest = Sha256::digest(text);
    let mut digits = vec![0; 2 * digest.len()];
    // At once, and not digit by digit: it happens for each request.
    match hex::encode_to_slice(digest, &mut digits).map(|()| String::from_utf8(digits)) {
        Ok(Ok(digits)) => digits,
        // Whatever happens, no two texts have one hash.
        Ok(Err(_)) | Err(_) => hex::encode(digest),
    }
}

#[cfg(test)]
mod tests {
    use toolroom::clock::SystemClock;

    use super::*;

    #[test]
    fn what_is_kept_of_a_key_is_not_the_key() {
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
