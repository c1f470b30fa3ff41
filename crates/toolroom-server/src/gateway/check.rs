//! What may be entered of a server, whoever enters it: by hand, from files of others, from a document.

use std::borrow::Cow;

use toolroom::foreign::{AddressEntry, EntryValue, Transport};
use toolroom::redact::Redactor;
use toolroom_host::environment::is_secret_variable;
use toolroom_host::net::{Url, check_header};
use toolroom_host::process::Variables;
use toolroom_tools::mcp::{is_overheard, named_secret, names_secret};

use crate::spelled_out::visible;

/// An address that can be asked, without a password in it.
pub(crate) fn checked_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| format!("the address cannot be used: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("an address begins with `https://`; `{}` is another kind", url.scheme()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address holds a password; send it with `--header` and a secret".to_owned());
    }
    if let Some((name, _)) = url.query_pairs().find(|(name, value)| is_unnamed_secret(name, value)) {
        return Err(format!(
            "`{name}` in the address looks like a secret, and would be seen by everybody here; keep it with `toolroom \
             secrets set NAME` and write `{name}=secret:NAME`, or send it with `--header`",
            name = visible(&name)
        ));
    }
    Ok(url.into())
}

/// An address with other values in its query, where `other` says one for a name and a value.
pub(crate) fn with_query_values(
    address: &str,
    mut other: impl FnMut(&str, &str) -> Option<String>,
) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    let mut is_changed = false;
    let mut pair = |(name, value): (Cow<'_, str>, Cow<'_, str>)| {
        let new = other(&name, &value);
        is_changed |= new.is_some();
        (name.into_owned(), new.unwrap_or_else(|| value.into_owned()))
    };
    let pairs: Vec<(String, String)> = url.query_pairs().map(&mut pair).collect();
    if !is_changed {
        return address.to_owned();
    }
    url.query_pairs_mut().clear().extend_pairs(pairs);
    // A person reads it.
    String::from(url).replace("=secret%3A", "=secret:")
}

/// The first argument that looks like a secret, by its own form or by the flag before it.
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

/// What is to be said of a program with secrets among its arguments, if there are any.
pub(crate) fn seen_by_all(transport: &Transport) -> Option<&'static str> {
    let Transport::Stdio(program) = transport else { return None };
    program.arguments.iter().any(|argument| names_secret(argument)).then_some(
        "a secret among the arguments is seen by every user of this machine in the list of processes while the server \
         runs; if the server takes it from a variable, give it with `--env NAME=secret:SECRET`",
    )
}

/// A single word of letters and digits that is as long as this may be a key, whatever it is called.
const KEY_CHARS: usize = 16;

/// Whether a value has to stay secret: by its name, or by its own form.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    is_secret_variable(name, value) || Redactor::default().redact_text(value) != value
}

/// The same where `secret:NAME` stands for a secret: among arguments, and in the query of an address.
pub(crate) fn is_unnamed_secret(name: &str, value: &str) -> bool {
    match named_secret(value) {
        Some((before, _)) => is_secret("", before),
        None => is_secret(name, value),
    }
}

/// Whether a value is one that everybody may see: neither its name nor its form is that of a secret, and it does not look
/// like a key of a kind that nobody knows.
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

/// Headers that can be sent: one that cannot is refused now, and not with every request. What a secret holds is not known
/// here.
pub(crate) fn check_headers(address: &AddressEntry) -> Result<(), String> {
    address.headers.iter().try_for_each(|(name, value)| {
        let told = match value {
            EntryValue::Plain(value) => value.clone(),
            EntryValue::Secret(_) => String::new(),
            EntryValue::Around { before, after, .. } => format!("{before}{after}"),
        };
        check_header(name, &told).map_err(|error| error.to_string())
    })
}

/// Whether what is secret would go over a way that others can listen to.
pub(crate) fn check_way(address: &AddressEntry) -> Result<(), String> {
    let has_secret = address.headers.values().any(|value| !matches!(value, EntryValue::Plain(_)))
        || Url::parse(&address.url).is_ok_and(|url| url.query_pairs().any(|(_, value)| names_secret(&value)));
    match has_secret && is_overheard(address) {
        false => Ok(()),
        true => Err(
            "others can listen to what goes over `http://`, secrets among it; write `https://`, or `--internal` if the \
             server is inside your network"
                .to_owned(),
        ),
    }
}

/// Variables that a program may have: those that change which code it runs are refused now, and not when it starts.
pub(crate) fn check_variables<'a>(names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
    names
        .into_iter()
        .try_for_each(|name| Variables::clean().with(name, "").map(drop).map_err(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_values_are_plain_and_others_are_not() {
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
    fn naming_a_secret_hides_nothing_that_stands_before_it() {
        assert!(!is_unnamed_secret("key", "secret:KEY") && !is_unnamed_secret("", "--key=secret:KEY"));
        assert!(is_unnamed_secret("x", "ghp_0123456789abcdefghijklmnopqrstuvwxyz=secret:KEY"));
        assert!(is_secret("Authorization", "abcdefgh12345678=secret:KEY"), "a header is sent as it is");
    }
}
