//! References to secrets. The configuration never contains secret values.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use toolroom::redact::Secret;

/// A reference to a secret value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SecretRef {
    /// A stored secret.
    Secret(String),
    /// An environment variable.
    Variable(String),
}

impl SecretRef {
    /// The accepted forms.
    pub(in crate::config) const EXPECTED: &str = "`secret:NAME` or `$VARIABLE`";

    pub(in crate::config) fn parse(text: &str) -> Option<Self> {
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

    /// Resolves the reference.
    ///
    /// # Errors
    /// Says what is missing and how to set it.
    pub fn key(
        &self,
        secrets: &[Secret],
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Secret, String> {
        match self {
            Self::Secret(name) => {
                let found = secrets.iter().find(|secret| secret.name() == name).cloned();
                found.ok_or_else(|| format!("no secret `{name}`; set it with `toolroom secrets set {name}`"))
            }
            Self::Variable(name) => match variable(name) {
                Some(value) => Ok(Secret::new(self.to_string(), value)),
                None => Err(format!("the environment variable `{name}` is not set")),
            },
        }
    }
}

impl TryFrom<String> for SecretRef {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        Self::parse(&text).ok_or(Self::EXPECTED)
    }
}

impl From<SecretRef> for String {
    fn from(reference: SecretRef) -> Self {
        reference.to_string()
    }
}

impl fmt::Display for SecretRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret(name) => write!(formatter, "secret:{name}"),
            Self::Variable(name) => write!(formatter, "${name}"),
        }
    }
}

impl JsonSchema for SecretRef {
    fn schema_name() -> Cow<'static, str> {
        "SecretRef".into()
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
    fn a_reference_is_a_secret_or_a_variable_and_never_the_value() {
        for text in ["secret:openai", "secret:my.key-2", "$OPENAI_API_KEY"] {
            assert_eq!(SecretRef::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "sk-abc123", "secret:", "$", "secret:a b", "$(rm)", "openai"] {
            assert_eq!(SecretRef::parse(text), None, "{text}");
        }
    }
}
