//! Recognises values of stored secrets in a server's entry and replaces them by references.

use toolroom::foreign::{EntryValue, Transport};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom::scope::ProjectId;

use super::check::with_query_values;
use crate::vault::Vault;

/// The stored secrets of a project.
pub(crate) struct StoredSecrets {
    /// Those that an entry can refer to.
    named: Vec<Secret>,
    /// All of them, including the secret parts of records.
    all: Vec<Secret>,
}

impl StoredSecrets {
    pub(crate) async fn load(vault: &Vault, project: &ProjectId) -> anyhow::Result<Self> {
        let mut named = vault.secrets(project).await?;
        // These belong to a single server and are deleted with it.
        named.retain(|secret| !secret.name().starts_with("mcp."));
        Ok(Self { named, all: vault.secrets_with_parts(project).await? })
    }

    fn with_value(&self, value: &str) -> Option<&Secret> {
        self.named.iter().find(|secret| secret.expose() == value)
    }

    /// The reference for a value that is a secret or contains one.
    pub(crate) fn value(&self, text: &str) -> Option<EntryValue> {
        if let Some(secret) = self.with_value(text) {
            return Some(EntryValue::Secret(secret.name().to_owned()));
        }
        let is_inside = |secret: &&Secret| is_unguessable(secret) && text.contains(secret.expose());
        let secret = self.named.iter().filter(is_inside).max_by_key(|secret| secret.expose().len())?;
        let (before, after) = text.split_once(secret.expose())?;
        let (before, after) = (before.to_owned(), after.to_owned());
        Some(EntryValue::Around { before, secret: secret.name().to_owned(), after })
    }

    /// An argument with a reference in place of a secret.
    pub(crate) fn argument(&self, argument: &str) -> String {
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) if argument.starts_with('-') => (format!("{flag}="), value),
            _ => (String::new(), argument),
        };
        match self.with_value(value) {
            Some(secret) => format!("{flag}secret:{}", secret.name()),
            None => argument.to_owned(),
        }
    }

    /// A URL with references in place of secrets in its query.
    pub(crate) fn address(&self, address: &str) -> String {
        with_query_values(address, |_, value| Some(format!("secret:{}", self.with_value(value)?.name())))
    }

    /// A hint for a user who passed values of secrets on the command line.
    pub(crate) fn hint<'t>(&self, given: impl IntoIterator<Item = &'t String>) -> Option<String> {
        let given: Vec<&String> = given.into_iter().collect();
        let is_given = |secret: &&Secret| {
            is_unguessable(secret) && given.iter().any(|text| text.contains(secret.expose()))
        };
        let names: Vec<String> =
            self.named.iter().filter(is_given).map(|secret| format!("`secret:{}`", secret.name())).collect();
        (!names.is_empty()).then(|| {
            format!(
                "stored {} instead of the value; use the reference next time, because other processes can read the command line",
                names.join(", ")
            )
        })
    }

    /// Rejects an entry that contains a secret where no reference is possible, or encoded.
    pub(crate) fn check(&self, transport: &Transport) -> Result<(), String> {
        let text = serde_json::to_string(transport).map_err(|error| error.to_string())?;
        let contains = |secret: &&Secret| {
            let redactor = Redactor::new([(*secret).clone()], Patterns::None);
            is_unguessable(secret) && redactor.redact_text(&text) != text
        };
        match self.all.iter().find(contains) {
            None => Ok(()),
            Some(secret) => Err(format!(
                "the entry contains the value of the secret `{name}` where a reference is not possible, or encoded; others could \
                 read it. Use `secret:{name}` as a whole argument, or as the value of a flag, a variable, a header or a query \
                 parameter",
                name = secret.name()
            )),
        }
    }
}

/// Whether a text that contains the value contains the secret. Short and common values occur by chance.
fn is_unguessable(secret: &Secret) -> bool {
    !secret.is_too_short() && secret.weakness().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored() -> StoredSecrets {
        let secrets = [("PIN", "4711"), ("DB", "pa+ss/wörd9"), ("WORD", "postgres")];
        let all: Vec<Secret> = secrets.map(|(name, value)| Secret::new(name, value)).into();
        StoredSecrets { named: all.clone(), all }
    }

    #[test]
    fn a_value_is_replaced_by_its_reference() {
        let stored = stored();
        let around = |before: &str, after: &str| {
            let (before, after) = (before.to_owned(), after.to_owned());
            Some(EntryValue::Around { before, secret: "DB".to_owned(), after })
        };
        assert_eq!(stored.value("4711"), Some(EntryValue::Secret("PIN".to_owned())));
        assert_eq!(stored.value("port 4711"), None, "a short value occurs in many texts");
        assert_eq!(stored.value("pg://ann:pa+ss/wörd9@host"), around("pg://ann:", "@host"));
        assert_eq!(stored.argument("--pw=pa+ss/wörd9"), "--pw=secret:DB");
        assert_eq!(stored.argument("pa+ss/wörd9"), "secret:DB");
        assert_eq!(stored.argument("PW=pa+ss/wörd9"), "PW=pa+ss/wörd9");
        let address = stored.address("https://x.example/a?k=pa%2Bss/w%C3%B6rd9&b=1");
        assert_eq!(address, "https://x.example/a?k=secret:DB&b=1");
    }

    #[test]
    fn a_value_where_no_reference_is_possible_is_rejected() {
        let stored = stored();
        let program = |arguments: &[&str]| {
            let arguments: Vec<&str> = arguments.to_vec();
            let text = serde_json::json!({"transport": "stdio", "command": "x", "arguments": arguments, "profile": "off"});
            serde_json::from_value::<Transport>(text).unwrap()
        };
        for (argument, is_fine) in [
            ("secret:DB", true),
            ("@x/server-postgres", true),
            ("port 4711", true),
            ("-ppa+ss/wörd9", false),
            ("https://x.example/?k=pa%2Bss/w%C3%B6rd9", false),
        ] {
            assert_eq!(stored.check(&program(&[argument])).is_ok(), is_fine, "{argument}");
        }
    }
}
