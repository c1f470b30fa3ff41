//! Values of imported entries: harmless ones stay, all others become secrets.

use toolroom::foreign::EntryValue;
use toolroom_host::environment::variable;
use toolroom_tools::mcp::import::{ImportedValue, TemplatePart};

use crate::gateway::{
    StoredSecrets, is_plain, is_unnamed_secret, secret_argument, secret_prefix, with_query_values,
};

/// The longest key in the name of a secret.
const MAX_KEY_CHARS: usize = 60;

/// A secret of an imported entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlannedSecret {
    pub(super) name: String,
    /// `None` if the user has to set it.
    pub(super) value: Option<String>,
    /// Where its value comes from, for display.
    pub(super) from: String,
}

/// Replaces the secrets of one entry by references.
pub(super) struct SecretExtractor<'a> {
    server: &'a str,
    /// The user's stored secrets, which are referred to by name. `None` for an untrusted file, which must get neither them
    /// nor the user's environment variables.
    stored: Option<&'a StoredSecrets>,
    pub(super) secrets: Vec<PlannedSecret>,
}

impl<'a> SecretExtractor<'a> {
    pub(super) fn new(server: &'a str, stored: Option<&'a StoredSecrets>) -> Self {
        Self { server, stored, secrets: Vec::new() }
    }

    fn stored_value(&self, text: &str) -> Option<EntryValue> {
        self.stored?.value(text)
    }

    /// The value, or a reference to a secret if it may be one.
    pub(super) fn value(&mut self, key: &str, value: &ImportedValue) -> EntryValue {
        if let ImportedValue::Text(text) = value
            && let Some(stored) = self.stored_value(text)
        {
            return stored;
        }
        let parts = match value {
            ImportedValue::Text(text) if is_plain(key, text) => return EntryValue::Plain(text.clone()),
            ImportedValue::Text(text) => {
                let secret = self.secret(key, Some(text.clone()), "the file".to_owned());
                return EntryValue::Secret(secret);
            }
            ImportedValue::Template(parts) => parts.as_slice(),
        };
        let from = |id: &str| format!("the input `{id}`");
        match parts {
            [TemplatePart::Input(id)] => EntryValue::Secret(self.secret(id, None, from(id))),
            [TemplatePart::Text(before), TemplatePart::Input(id)] => self.around(before, id, "", from(id)),
            [TemplatePart::Input(id), TemplatePart::Text(after)] => self.around("", id, after, from(id)),
            [TemplatePart::Text(before), TemplatePart::Input(id), TemplatePart::Text(after)] => {
                self.around(before, id, after, from(id))
            }
            parts => self.filled_in(key, parts),
        }
    }

    fn around(&mut self, before: &str, id: &str, after: &str, from: String) -> EntryValue {
        let secret = self.secret(id, None, from);
        EntryValue::Around { before: before.to_owned(), secret, after: after.to_owned() }
    }

    /// Fills in a template with several parts.
    fn filled_in(&mut self, key: &str, parts: &[TemplatePart]) -> EntryValue {
        let own = |name: &str| variable(name).filter(|_| self.stored.is_some());
        let value = |part: &TemplatePart| match part {
            TemplatePart::Text(text) => Some(text.clone()),
            TemplatePart::Input(_) => None,
            TemplatePart::Variable(name, default) => own(name).or_else(|| default.clone()),
        };
        let whole: Option<String> = parts.iter().map(value).collect();
        if let Some(stored) = whole.as_ref().and_then(|whole| self.stored_value(whole)) {
            return stored;
        }
        let is_harmless = |part: &TemplatePart| match part {
            TemplatePart::Variable(name, _) => value(part).is_some_and(|value| is_plain(name, &value)),
            TemplatePart::Text(_) | TemplatePart::Input(_) => true,
        };
        if let Some(whole) =
            whole.as_ref().filter(|whole| is_plain(key, whole) && parts.iter().all(is_harmless))
        {
            return EntryValue::Plain(whole.clone());
        }
        let from: Vec<String> = parts
            .iter()
            .filter_map(|part| match part {
                TemplatePart::Text(_) => None,
                TemplatePart::Input(id) => Some(format!("the input `{id}`")),
                TemplatePart::Variable(name, _) => Some(format!("your environment variable {name}")),
            })
            .collect();
        EntryValue::Secret(self.secret(key, whole, from.join(" and ")))
    }

    /// Arguments with references in place of secrets.
    pub(super) fn arguments(&mut self, arguments: &[String]) -> Vec<String> {
        let named = |word: &String| self.stored.map_or_else(|| word.clone(), |stored| stored.argument(word));
        let mut arguments: Vec<String> = arguments.iter().map(named).collect();
        while let Some(index) = secret_argument(&arguments) {
            let Some(word) = arguments.get(index).cloned() else { break };
            let (before, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
                Some((flag, value)) => (format!("{flag}="), value),
                None => (String::new(), word.as_str()),
            };
            let key = format!("argument-{}", index + 1);
            let secret = self.secret(&key, Some(value.to_owned()), "the file".to_owned());
            if let Some(argument) = arguments.get_mut(index) {
                *argument = format!("{before}secret:{secret}");
            }
        }
        arguments
    }

    /// A URL with references in place of secrets in its query.
    pub(super) fn address(&mut self, address: &str) -> String {
        let address = self.stored.map_or_else(|| address.to_owned(), |stored| stored.address(address));
        with_query_values(&address, |name, value| {
            let sealed = || self.secret(name, Some(value.to_owned()), "the file".to_owned());
            is_unnamed_secret(name, value).then(sealed).map(|secret| format!("secret:{secret}"))
        })
    }

    /// Adds a secret of this server and returns its name. Different secrets get different names, and none that of a token.
    fn secret(&mut self, key: &str, value: Option<String>, from: String) -> String {
        let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let key: String = key.chars().map(fine).take(MAX_KEY_CHARS).collect();
        let mut name = format!("{}{key}", secret_prefix(self.server));
        let base = name.clone();
        let mut count = 1;
        while let Some(other) = self.secrets.iter().find(|other| other.name == name) {
            if other.value == value && other.from == from {
                return name;
            }
            count += 1;
            name = format!("{base}-{count}");
        }
        self.secrets.push(PlannedSecret { name: name.clone(), value, from });
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_of_an_entry_share_a_name_and_none_is_a_token() {
        let mut extractor = SecretExtractor::new("x", None);
        let text = |text: &str| ImportedValue::Text(text.to_owned());
        let input = |id: &str| ImportedValue::Template(vec![TemplatePart::Input(id.to_owned())]);
        let names = [
            extractor.value("A.TOKEN", &text("one-value")),
            extractor.value("A:TOKEN", &text("two-value")),
            extractor.value("TOKEN_B", &input("A_TOKEN")),
            extractor.value("oauth.grant", &input("oauth.grant")),
        ];
        let secret = |name: &str| EntryValue::Secret(name.to_owned());
        let expected =
            ["mcp.x.A_TOKEN", "mcp.x.A_TOKEN-2", "mcp.x.A_TOKEN-3", "mcp.x.oauth_grant"].map(secret);
        assert_eq!(names, expected);
    }

    #[test]
    fn text_around_an_input_stays_and_secrets_in_arguments_and_queries_are_replaced() {
        let mut extractor = SecretExtractor::new("x", None);
        let parts = vec![TemplatePart::Text("Bearer ".to_owned()), TemplatePart::Input("key".to_owned())];
        let value = extractor.value("Authorization", &ImportedValue::Template(parts));
        let around = EntryValue::Around {
            before: "Bearer ".to_owned(),
            secret: "mcp.x.key".to_owned(),
            after: String::new(),
        };
        assert_eq!(value, around);
        let words = ["--api-key".to_owned(), "s3cr3t".to_owned(), "--token=t0ken-value".to_owned()];
        let expected = ["--api-key", "secret:mcp.x.argument-2", "--token=secret:mcp.x.argument-3"];
        assert_eq!(extractor.arguments(&words), expected);
        let address = extractor.address("https://x.example/mcp?api_key=s3cr3t&region=eu");
        assert_eq!(address, "https://x.example/mcp?api_key=secret:mcp.x.api_key&region=eu");
        let values: Vec<_> = extractor.secrets.iter().map(|secret| secret.value.as_deref()).collect();
        assert_eq!(values, [None, Some("s3cr3t"), Some("t0ken-value"), Some("s3cr3t")]);
    }
}
