//! Values of stored secrets in the entry of a server: the entry keeps the name of the secret, and never its value.

use toolroom::foreign::{EntryValue, Transport};
use toolroom::redact::{Patterns, Redactor, Secret};
use toolroom::scope::ProjectId;

use super::check::with_query_values;
use crate::vault::Vault;

/// The secrets of a project, to be recognised in entries.
pub(crate) struct StoredSecrets {
    /// Those that an entry may name.
    named: Vec<Secret>,
    /// All of them, and what is secret in those that are records.
    all: Vec<Secret>,
}

impl StoredSecrets {
    pub(crate) async fn of(vault: &Vault, project: &ProjectId) -> anyhow::Result<Self> {
        let mut named = vault.secrets(project).await?;
        // Those belong to one server, and are removed with it.
        named.retain(|secret| !secret.name().starts_with("mcp."));
        Ok(Self { named, all: vault.kept(project).await? })
    }

    fn of_value(&self, value: &str) -> Option<&Secret> {
        self.named.iter().find(|secret| secret.expose() == value)
    }

    /// What stands for a value that is one of a secret, or holds one.
    pub(crate) fn value(&self, text: &str) -> Option<EntryValue> {
        if let Some(secret) = self.of_value(text) {
            return Some(EntryValue::Secret(secret.name().to_owned()));
        }
        let is_inside = |secret: &&Secret| is_unguessable(secret) && text.contains(secret.expose());
        let secret = self.named.iter().filter(is_inside).max_by_key(|secret| secret.expose().len())?;
        let (before, after) = text.split_once(secret.expose())?;
        let (before, after) = (before.to_owned(), after.to_owned());
        Some(EntryValue::Around { before, secret: secret.name().to_owned(), after })
    }

    /// An argument, with the name of a secret in the place of its value.
    pub(crate) fn argument(&self, argument: &str) -> String {
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) if argument.starts_with('-') => (format!("{flag}="), value),
            _ => (String::new(), argument),
        };
        match self.of_value(value) {
            Some(secret) => format!("{flag}secret:{}", secret.name()),
            None => argument.to_owned(),
        }
    }

    /// An address, with the names of secrets in the place of their values in its query.
    pub(crate) fn address(&self, address: &str) -> String {
        with_query_values(address, |_, value| Some(format!("secret:{}", self.of_value(value)?.name())))
    }

    /// What to say to a person who gave values on the command line, where names belong.
    pub(crate) fn hint<'t>(&self, given: impl IntoIterator<Item = &'t String>) -> Option<String> {
        let given: Vec<&String> = given.into_iter().collect();
        let is_given = |secret: &&Secret| {
            is_unguessable(secret) && given.iter().any(|text| text.contains(secret.expose()))
        };
        let names: Vec<String> =
            self.named.iter().filter(is_given).map(|secret| format!("`secret:{}`", secret.name())).collect();
        (!names.is_empty()).then(|| {
            format!(
                "kept {} instead of the value; write it so the next time, because other processes can read a command line",
                names.join(", ")
            )
        })
    }

    /// Whether an entry still holds a value, where no secret can be named or in another encoding.
    pub(crate) fn check(&self, transport: &Transport) -> Result<(), String> {
        let text = serde_json::to_string(transport).map_err(|error| error.to_string())?;
        let holds = |secret: &&Secret| {
            let redactor = Redactor::new([(*secret).clone()], Patterns::None);
            is_unguessable(secret) && redactor.redact_text(&text) != text
        };
        match self.all.iter().find(holds) {
            None => Ok(()),
            Some(secret) => Err(format!(
                "the entry holds the value of the secret `{name}` where no secret can be named, or encoded; it would be seen \
                 by everybody here. Write `secret:{name}` for a whole argument or the value of a flag, a variable, a header \
                 or a part of the query",
                name = secret.name()
            )),
        }
    }
}

/// Whether finding the value in a text means that the text holds the secret. A short or common value stands in many.
fn is_unguessable(secret: &Secret) -> bool {
    !secret.is_too_short() && secret.few_possibilities().is_none()
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
    fn a_value_becomes_the_name_of_its_secret() {
        let stored = stored();
        let around = |before: &str, after: &str| {
            let (before, after) = (before.to_owned(), after.to_owned());
            Some(EntryValue::Around { before, secret: "DB".to_owned(), after })
        };
        assert_eq!(stored.value("4711"), Some(EntryValue::Secret("PIN".to_owned())));
        assert_eq!(stored.value("port 4711"), None, "a PIN stands in many texts");
        assert_eq!(stored.value("pg://ann:pa+ss/wörd9@host"), around("pg://ann:", "@host"));
        assert_eq!(stored.argument("--pw=pa+ss/wörd9"), "--pw=secret:DB");
        assert_eq!(stored.argument("pa+ss/wörd9"), "secret:DB");
        assert_eq!(stored.argument("PW=pa+ss/wörd9"), "PW=pa+ss/wörd9");
        let address = stored.address("https://x.example/a?k=pa%2Bss/w%C3%B6rd9&b=1");
        assert_eq!(address, "https://x.example/a?k=secret:DB&b=1");
    }

    #[test]
    fn a_value_where_no_secret_can_be_named_is_found() {
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
