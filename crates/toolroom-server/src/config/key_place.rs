//! Where keys are. They never stand in a configuration themselves.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom::redact::Secret;

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum KeyPlace {
    /// Among the stored secrets, under this name.
    Secret(String),
    /// In this variable.
    Variable(String),
}

impl KeyPlace {
    /// How one is written.
    pub(super) const EXPECTED: &str = "`secret:NAME` or `$VARIABLE`";

    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_name = |name: &str| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
            (!name.is_empty() && name.len() <= 128 && name.chars().all(is_plain)).then(|| name.to_owned())
        };
        match (text.strip_prefix("secret:"), text.strip_prefix('$')) {
            (Some(name), _) => is_name(name).map(Self::Secret),
            (None, Some(name)) => is_name(name).map(Self::Variable),
            (None, None) => None,
        }
    }

    /// The key, from the stored secrets or the variables.
    ///
    /// # Errors
    /// With what is missing, and how it is put there.
    pub fn key(
        &self,
        secrets: &[Secret],
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Secret, String> {
        match self {
            Self::Secret(name) => {
                let found = secrets.iter().find(|secret| secret.name() == name).cloned();
                found.ok_or_else(|| {
                    format!("there is no secret `{name}`; `toolroom secrets set {name}` keeps it")
                })
            }
            Self::Variable(name) => match variable(name) {
                Some(value) => Ok(Secret::new(self.to_string(), value)),
                None => Err(format!("the variable {name} is not set")),
            },
        }
    }
}

impl TryFrom<String> for KeyPlace {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        Self::parse(&text).ok_or(Self::EXPECTED)
    }
}

impl From<KeyPlace> for String {
    fn from(place: KeyPlace) -> Self {
        place.to_string()
    }
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret(name) => write!(formatter, "secret:{name}"),
            Self::Variable(name) => write!(formatter, "${name}"),
        }
    }
}

impl JsonSchema for KeyPlace {
    fn schema_name() -> Cow<'static, str> {
        "KeyPlace".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "key-place", "pattern": "^(secret:|\\$)[A-Za-z0-9_.-]+$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_of_a_key_is_a_secret_or_a_variable_and_never_the_key() {
        for text in ["secret:openai", "secret:my.key-2", "$OPENAI_API_KEY"] {
            assert_eq!(KeyPlace::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "sk-abc123", "secret:", "$", "secret:a b", "$(rm)", "openai"] {
            assert_eq!(KeyPlace::parse(text), None, "{text}");
        }
    }
}
