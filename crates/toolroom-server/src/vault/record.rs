//! Secrets that are records, such as OAuth grants: stored as one secret, while each secret part is redacted by itself.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolroom::redact::Secret;

/// A record and its secret parts.
#[derive(Serialize, Deserialize)]
pub(crate) struct SecretRecord<T> {
    hides: Vec<String>,
    record: T,
}

impl<T: Serialize + DeserializeOwned> SecretRecord<T> {
    /// The text to seal.
    pub(crate) fn text<'a>(record: &T, hides: impl Iterator<Item = &'a String>) -> serde_json::Result<String>
    where
        T: Clone,
    {
        serde_json::to_string(&Self { hides: hides.cloned().collect(), record: record.clone() })
    }

    /// Parses a record. `None` for other text.
    pub(crate) fn read(text: &str) -> Option<T> {
        serde_json::from_str::<Self>(text).ok().map(|sealed| sealed.record)
    }
}

/// The secret parts of a record. Empty for other secrets.
pub(super) fn parts(secret: &Secret) -> Vec<Secret> {
    let Ok(record) = serde_json::from_str::<SecretRecord<serde::de::IgnoredAny>>(secret.expose()) else {
        return Vec::new();
    };
    record.hides.into_iter().map(|value| Secret::new(secret.name(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_redacts_its_parts_and_other_text_only_itself() {
        let text = SecretRecord::text(&(1, "x".to_owned()), [&"token-one".to_owned()].into_iter()).unwrap();
        let hidden = parts(&Secret::new("a", text.clone()));
        assert_eq!(hidden.iter().map(Secret::expose).collect::<Vec<_>>(), ["token-one"]);
        assert_eq!(SecretRecord::<(u8, String)>::read(&text), Some((1, "x".to_owned())));
        for other in ["", "{}", "correct horse", "[1]"] {
            assert!(parts(&Secret::new("a", other)).is_empty(), "{other}");
        }
    }
}
