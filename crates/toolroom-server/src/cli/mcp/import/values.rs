//! Values of imported entries: what stays as it is, and what is sealed, with the place it comes from.

use toolroom::foreign::EntryValue;
use toolroom_host::environment::variable;
use toolroom_tools::mcp::import::{Given, Piece};

use crate::gateway::{
    StoredSecrets, is_plain, is_unnamed_secret, secret_argument, secrets_of, with_query_values,
};

/// The longest part of a secret's name that comes from a file.
const MAX_KEY_CHARS: usize = 60;

/// A secret that an entry names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecretPlan {
    pub(super) name: String,
    /// Nothing, if somebody has to set it by hand.
    pub(super) value: Option<String>,
    /// Where its value comes from, in words.
    pub(super) from: String,
}

/// Seals the values of one entry.
pub(super) struct Sealing<'a> {
    server: &'a str,
    /// The person's own secrets, whose names are kept instead of their values. Neither they nor the person's variables are
    /// taken for a file that came with another one's folder: it would get each later value, too.
    stored: Option<&'a StoredSecrets>,
    pub(super) secrets: Vec<SecretPlan>,
}

impl<'a> Sealing<'a> {
    pub(super) fn new(server: &'a str, stored: Option<&'a StoredSecrets>) -> Self {
        Self { server, stored, secrets: Vec::new() }
    }

    fn named(&self, text: &str) -> Option<EntryValue> {
        self.stored?.value(text)
    }

    /// A value, sealed unless everybody may see it.
    pub(super) fn value(&mut self, key: &str, given: &Given) -> EntryValue {
        if let Given::Text(text) = given
            && let Some(named) = self.named(text)
        {
            return named;
        }
        let pieces = match given {
            Given::Text(text) if is_plain(key, text) => return EntryValue::Plain(text.clone()),
            Given::Text(text) => {
                let secret = self.secret(key, Some(text.clone()), "the file".to_owned());
                return EntryValue::Secret(secret);
            }
            Given::Pieces(pieces) => pieces.as_slice(),
        };
        let asked = |id: &str| format!("what is asked for there as `{id}`");
        match pieces {
            [Piece::Asked(id)] => EntryValue::Secret(self.secret(id, None, asked(id))),
            [Piece::Text(before), Piece::Asked(id)] => self.around(before, id, "", asked(id)),
            [Piece::Asked(id), Piece::Text(after)] => self.around("", id, after, asked(id)),
            [Piece::Text(before), Piece::Asked(id), Piece::Text(after)] => {
                self.around(before, id, after, asked(id))
            }
            pieces => self.made(key, pieces),
        }
    }

    fn around(&mut self, before: &str, id: &str, after: &str, from: String) -> EntryValue {
        let secret = self.secret(id, None, from);
        EntryValue::Around { before: before.to_owned(), secret, after: after.to_owned() }
    }

    /// A value that is made of several.
    fn made(&mut self, key: &str, pieces: &[Piece]) -> EntryValue {
        let own = |name: &str| variable(name).filter(|_| self.stored.is_some());
        let value = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.clone()),
            Piece::Asked(_) => None,
            Piece::Variable(name, otherwise) => own(name).or_else(|| otherwise.clone()),
        };
        let whole: Option<String> = pieces.iter().map(value).collect();
        if let Some(named) = whole.as_ref().and_then(|whole| self.named(whole)) {
            return named;
        }
        let is_open = |piece: &Piece| match piece {
            Piece::Variable(name, _) => value(piece).is_some_and(|value| is_plain(name, &value)),
            Piece::Text(_) | Piece::Asked(_) => true,
        };
        if let Some(whole) = whole.as_ref().filter(|whole| is_plain(key, whole) && pieces.iter().all(is_open))
        {
            return EntryValue::Plain(whole.clone());
        }
        let from: Vec<String> = pieces
            .iter()
            .filter_map(|piece| match piece {
                Piece::Text(_) => None,
                Piece::Asked(id) => Some(format!("what is asked for there as `{id}`")),
                Piece::Variable(name, _) => Some(format!("your variable {name}")),
            })
            .collect();
        EntryValue::Secret(self.secret(key, whole, from.join(" and ")))
    }

    /// Arguments, with what looks like a secret sealed.
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
            if let Some(place) = arguments.get_mut(index) {
                *place = format!("{before}secret:{secret}");
            }
        }
        arguments
    }

    /// An address, with what looks like a secret in its query sealed.
    pub(super) fn address(&mut self, address: &str) -> String {
        let address = self.stored.map_or_else(|| address.to_owned(), |stored| stored.address(address));
        with_query_values(&address, |name, value| {
            let sealed = || self.secret(name, Some(value.to_owned()), "the file".to_owned());
            is_unnamed_secret(name, value).then(sealed).map(|secret| format!("secret:{secret}"))
        })
    }

    /// The name of a secret of this server. Two different ones never share a name, and none has that of a token.
    fn secret(&mut self, key: &str, value: Option<String>, from: String) -> String {
        let fine = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
        let key: String = key.chars().map(fine).take(MAX_KEY_CHARS).collect();
        let mut name = format!("{}{key}", secrets_of(self.server));
        let base = name.clone();
        let mut count = 1;
        while let Some(other) = self.secrets.iter().find(|other| other.name == name) {
            if other.value == value && other.from == from {
                return name;
            }
            count += 1;
            name = format!("{base}-{count}");
        }
        self.secrets.push(SecretPlan { name: name.clone(), value, from });
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_secrets_of_an_entry_share_a_name_and_none_is_a_token() {
        let mut sealing = Sealing::new("x", None);
        let text = |text: &str| Given::Text(text.to_owned());
        let names = [
            sealing.value("A.TOKEN", &text("one-value")),
            sealing.value("A:TOKEN", &text("two-value")),
            sealing.value("TOKEN_B", &Given::Pieces(vec![Piece::Asked("A_TOKEN".to_owned())])),
            sealing.value("oauth.grant", &Given::Pieces(vec![Piece::Asked("oauth.grant".to_owned())])),
        ];
        let secret = |name: &str| EntryValue::Secret(name.to_owned());
        let expected =
            ["mcp.x.A_TOKEN", "mcp.x.A_TOKEN-2", "mcp.x.A_TOKEN-3", "mcp.x.oauth_grant"].map(secret);
        assert_eq!(names, expected);
    }

    #[test]
    fn text_around_what_is_asked_for_stays_and_arguments_and_queries_are_sealed() {
        let mut sealing = Sealing::new("x", None);
        let pieces = vec![Piece::Text("Bearer ".to_owned()), Piece::Asked("key".to_owned())];
        let value = sealing.value("Authorization", &Given::Pieces(pieces));
        let around = EntryValue::Around {
            before: "Bearer ".to_owned(),
            secret: "mcp.x.key".to_owned(),
            after: String::new(),
        };
        assert_eq!(value, around);
        let words = ["--api-key".to_owned(), "s3cr3t".to_owned(), "--token=t0ken-value".to_owned()];
        let expected = ["--api-key", "secret:mcp.x.argument-2", "--token=secret:mcp.x.argument-3"];
        assert_eq!(sealing.arguments(&words), expected);
        let address = sealing.address("https://x.example/mcp?api_key=s3cr3t&region=eu");
        assert_eq!(address, "https://x.example/mcp?api_key=secret:mcp.x.api_key&region=eu");
        let values: Vec<_> = sealing.secrets.iter().map(|secret| secret.value.as_deref()).collect();
        assert_eq!(values, [None, Some("s3cr3t"), Some("t0ken-value"), Some("s3cr3t")]);
    }
}
