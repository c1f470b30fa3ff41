//! Secrets that are whole records. One is kept and replaced as one, so that no part of it outlives the others; what in it
//! would open something is hidden by itself wherever it turns up.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolroom::redact::Secret;

/// A record, and the parts of it that are secret.
#[derive(Serialize, Deserialize)]
pub(crate) struct SecretRecord<T> {
    hides: Vec<String>,
    record: T,
}

impl<T: Serialize + DeserializeOwned> SecretRecord<T> {
    /// The text that is sealed.
    pub(crate) fn text<'a>(record: &T, hides: impl Iterator<Item = &'a String>) -> serde_json::Result<String>
    where
        T: Clone,
    {
        serde_json::to_string(&Self { hides: hides.cloned().collect(), record: record.clone() })
    }

    /// The record of a text; nothing, if it is none.
    pub(crate) fn read(text: &str) -> Option<T> {
        serde_json::from_str::<Self>(text).ok().map(|sealed| sealed.record)
    }
}

/// What a secret hides beside itself.
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
    fn a_record_hides_its_parts_and_another_text_hides_itself_alone() {
        let text = SecretRecord::text(&(1, "x".to_owned()), [&"token-one".to_owned()].into_iter()).unwrap();
        let hidden = parts(&Secret::new("a", text.clone()));
        assert_eq!(hidden.iter().map(Secret::expose).collect::<Vec<_>>(), ["token-one"]);
        assert_eq!(SecretRecord::<(u8, String)>::read(&text), Some((1, "x".to_owned())));
        for other in ["", "{}", "correct horse", "[1]"] {
            assert!(parts(&Secret::new("a", other)).is_empty(), "{other}");
        }
    }
}
