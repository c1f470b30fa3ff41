//! Checks a server of a document like one that is added by hand.

use std::collections::BTreeMap;

use toolroom::foreign::{EntryValue, ServerRecord, Transport};
use toolroom_host::net::Url;
use toolroom_host::sandbox::NamedProfile;
use toolroom_tools::mcp::named_secret;

use crate::gateway::{
    check_encryption, check_headers, check_variables, checked_url, is_plain, is_secret, process_list_warning,
    secret_argument,
};

pub(super) fn check(server: &ServerRecord) -> Result<(), String> {
    if !ServerRecord::is_name(&server.name) {
        return Err("a name has 1 to 64 letters, digits, `_` and `-`".to_owned());
    }
    match &server.transport {
        Transport::Stdio(program) => {
            program.profile.parse::<NamedProfile>().map_err(|error| error.to_string())?;
            if let Some(index) = secret_argument(&program.arguments) {
                return Err(format!(
                    "its argument {} looks like a secret; write `secret:NAME` there",
                    index + 1
                ));
            }
            check_variables(program.environment.keys())?;
            check_values(&program.environment)
        }
        Transport::Http(address) | Transport::Sse(address) => {
            checked_url(&address.url)?;
            check_headers(address)?;
            check_encryption(address)?;
            check_values(&address.headers)
        }
    }
}

/// Rejects values that look like secrets: a document only names secrets.
fn check_values(values: &BTreeMap<String, EntryValue>) -> Result<(), String> {
    let is_open = |name: &str, value: &EntryValue| match value {
        EntryValue::Plain(value) => is_secret(name, value),
        EntryValue::Around { before, after, .. } => {
            [before, after].into_iter().any(|text| is_secret("", text))
        }
        EntryValue::Secret(_) => false,
    };
    match values.iter().find(|(name, value)| is_open(name, value)) {
        Some((name, _)) => Err(format!(
            "the value of `{name}` looks like a secret; write {{\"secret\": \"NAME\"}} there, and keep it with \
             `toolroom secrets set NAME`"
        )),
        None => Ok(()),
    }
}

/// The program or URL of a server and what it gets, for the person who confirms the import.
pub(super) fn target(server: &ServerRecord) -> String {
    let (mut parts, values, what) = match &server.transport {
        Transport::Stdio(program) => {
            let words = std::iter::once(&program.command).chain(&program.arguments);
            let words: Vec<&str> = words.map(String::as_str).collect();
            let mut parts = vec![words.join(" "), format!("sandbox profile `{}`", program.profile)];
            if !program.readable.is_empty() {
                parts.push(format!("may read {}", program.readable.join(", ")));
            }
            parts.extend(process_list_warning(&server.transport).map(str::to_owned));
            (parts, &program.environment, "variable")
        }
        Transport::Http(address) | Transport::Sse(address) => {
            let mut parts = vec![address.url.clone()];
            if address.is_internal {
                parts.push("its name may resolve to an internal address".to_owned());
            }
            (parts, &address.headers, "header")
        }
    };
    parts.extend(values.iter().map(|(name, value)| match value {
        EntryValue::Plain(value) if is_plain(name, value) => format!("{what} {name}={value}"),
        EntryValue::Plain(_) => format!("{what} {name} with a value that is not shown, as it may be a key"),
        EntryValue::Secret(secret) | EntryValue::Around { secret, .. } => {
            format!("{what} {name} with the secret `{secret}`")
        }
    }));
    parts.push(if server.is_enabled { "on" } else { "off" }.to_owned());
    parts.join("; ")
}

/// The secrets that a server names.
pub(super) fn secrets(server: &ServerRecord) -> Vec<String> {
    let (values, texts): (_, Vec<String>) = match &server.transport {
        Transport::Stdio(program) => (&program.environment, program.arguments.clone()),
        Transport::Http(address) | Transport::Sse(address) => {
            let url = Url::parse(&address.url);
            let query = url.iter().flat_map(Url::query_pairs).map(|(_, value)| value.into_owned());
            (&address.headers, query.collect())
        }
    };
    let named = values.values().filter_map(|value| match value {
        EntryValue::Secret(name) | EntryValue::Around { secret: name, .. } => Some(name.clone()),
        EntryValue::Plain(_) => None,
    });
    named.chain(texts.iter().filter_map(|text| named_secret(text).map(|(_, name)| name.to_owned()))).collect()
}
