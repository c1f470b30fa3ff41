//! Validation of servers' entries, wherever they come from: the command line, imported files, documents.

use std::borrow::Cow;

use toolroom::foreign::{AddressEntry, EntryValue, Transport};
use toolroom::redact::Redactor;
use toolroom_host::environment::is_secret_variable;
use toolroom_host::net::{Url, check_header};
use toolroom_host::process::Variables;
use toolroom_tools::mcp::{is_unencrypted, named_secret, names_secret};

use crate::escape::visible;

/// A valid URL without a password or a secret.
pub(crate) fn checked_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("invalid URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("unsupported URL scheme `{}`; use `https` or `http`", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the URL contains a password; use `--header` with a secret".to_owned());
    }
    if let Some((name, _)) = url.query_pairs().find(|(name, value)| is_unnamed_secret(name, value)) {
        return Err(format!(
            "`{name}` in the URL looks like a secret, which others could read; store it with `toolroom secrets set NAME` and \
             write `{name}=secret:NAME`, or use `--header`",
            name = visible(&name)
        ));
    }
    Ok(url.into())
}

/// Replaces values in the query of a URL. `replace` returns the new value for a name and a value.
pub(crate) fn with_query_values(
    address: &str,
    mut replace: impl FnMut(&str, &str) -> Option<String>,
) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    let mut is_changed = false;
    let mut pair = |(name, value): (Cow<'_, str>, Cow<'_, str>)| {
        let new = replace(&name, &value);
        is_changed |= new.is_some();
        (name.into_owned(), new.unwrap_or_else(|| value.into_owned()))
    };
    let pairs: Vec<(String, String)> = url.query_pairs().map(&mut pair).collect();
    if !is_changed {
        return address.to_owned();
    }
    url.query_pairs_mut().clear().extend_pairs(pairs);
    // Keeps references readable.
    String::from(url).replace("=secret%3A", "=secret:")
}

/// The first argument that looks like a secret, by its form or by the flag before it.
pub(crate) fn secret_argument(arguments: &[String]) -> Option<usize> {
    let mut flag = "";
    arguments.iter().position(|argument| {
        let before = std::mem::take(&mut flag);
        let (name, value) = match argument.split_once('=').filter(|_| argument.starts_with('-')) {
            Some((name, value)) => (name.trim_start_matches('-'), value),
            None if argument.starts_with('-') => {
                flag = argument.trim_start_matches('-');
                ("", argument.as_str())
            }
            None => (before, argument.as_str()),
        };
        is_unnamed_secret(name, value)
    })
}

/// A warning about a program with secrets among its arguments.
pub(crate) fn process_list_warning(transport: &Transport) -> Option<&'static str> {
    let Transport::Stdio(program) = transport else { return None };
    program.arguments.iter().any(|argument| names_secret(argument)).then_some(
        "every user of this machine can read the secret in its arguments from the process list while the server runs; if \
         it accepts a variable, use `--env NAME=secret:SECRET`",
    )
}

/// Words of at least this length with letters and digits may be keys.
const KEY_CHARS: usize = 16;

/// Whether a value is secret, by its name or by its form.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    is_secret_variable(name, value) || Redactor::default().redact_text(value) != value
}

/// Like [`is_secret`], but a reference `secret:NAME` is not secret.
pub(crate) fn is_unnamed_secret(name: &str, value: &str) -> bool {
    match named_secret(value) {
        Some((before, _)) => is_secret("", before),
        None => is_secret(name, value),
    }
}

/// Whether a value is harmless: neither its name nor its form is that of a secret, and it does not look like a key of an
/// unknown format.
pub(crate) fn is_plain(name: &str, value: &str) -> bool {
    let has_password = value.split_once("://").is_some_and(|(_, rest)| {
        rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
    });
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '=');
    let is_like_key = value.len() >= KEY_CHARS
        && value.chars().all(is_word)
        && value.chars().any(|c| c.is_ascii_digit())
        && value.chars().any(|c| c.is_ascii_alphabetic());
    !is_secret(name, value) && !has_password && !is_like_key
}

/// Rejects invalid headers now instead of with every request. The values of secrets are not checked.
pub(crate) fn check_headers(address: &AddressEntry) -> Result<(), String> {
    address.headers.iter().try_for_each(|(name, value)| {
        let text = match value {
            EntryValue::Plain(value) => value.clone(),
            EntryValue::Secret(_) => String::new(),
            EntryValue::Around { before, after, .. } => format!("{before}{after}"),
        };
        check_header(name, &text).map_err(|error| error.to_string())
    })
}

/// Rejects secrets over a connection without encryption.
pub(crate) fn check_encryption(address: &AddressEntry) -> Result<(), String> {
    let has_secret = address.headers.values().any(|value| !matches!(value, EntryValue::Plain(_)))
        || Url::parse(&address.url).is_ok_and(|url| url.query_pairs().any(|(_, value)| names_secret(&value)));
    match has_secret && is_unencrypted(address) {
        false => Ok(()),
        true => Err(
            "secrets would be sent unencrypted over `http://`; use `https://`, or `--internal` if the server is inside your \
             network"
                .to_owned(),
        ),
    }
}

/// Rejects environment variables that change which code a program runs.
pub(crate) fn check_variables<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    names
        .into_iter()
        .try_for_each(|name| Variables::clean().with(name, "").map(drop).map_err(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_values_are_plain_and_secrets_and_keys_are_not() {
        for (key, value) in [
            ("AWS_REGION", "us-east-1"),
            ("TOOLSETS", "repos,issues"),
            ("LOG_LEVEL", "debug"),
            ("ROOT", "/srv/notes"),
            ("BASE_URL", "https://x.example/api"),
            ("PORT", "8080"),
            ("USER_AGENT", "my agent"),
        ] {
            assert!(is_plain(key, value), "{key}={value}");
        }
        for (key, value) in [
            ("GITHUB_TOKEN", "abc"),
            ("DATABASE_URL", "postgres://ann:pw@db.example/x"),
            ("FIGMA", "figd_0123456789abcdef"),
            ("X", "ghp_0123456789abcdefghijklmnopqrstuvwxyz"),
        ] {
            assert!(!is_plain(key, value), "{key}={value}");
        }
    }

    #[test]
    fn a_reference_does_not_hide_a_secret_before_it() {
        assert!(!is_unnamed_secret("key", "secret:KEY") && !is_unnamed_secret("", "--key=secret:KEY"));
        assert!(is_unnamed_secret("x", "ghp_0123456789abcdefghijklmnopqrstuvwxyz=secret:KEY"));
        assert!(is_secret("Authorization", "abcdefgh12345678=secret:KEY"), "headers have no references");
    }
}
