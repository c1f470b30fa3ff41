//! What may be entered of a server, whoever enters it: by hand, from files of others, from a document.

use toolroom::foreign::{AddressEntry, EntryValue, Reached};
use toolroom::redact::Redactor;
use toolroom_host::environment::is_secret_variable;
use toolroom_host::net::Url;
use toolroom_host::process::Variables;
use toolroom_tools::mcp::{is_overheard, names_secret};

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
    if let Some((name, _)) = url.query_pairs().find(|(name, value)| is_secret(name, value)) {
        return Err(format!(
            "`{name}` in the address looks like a secret, and would be seen by everybody here; keep it with `toolroom \
             secrets set NAME` and write `{name}=secret:NAME`, or send it with `--header`",
            name = visible(&name)
        ));
    }
    Ok(url.into())
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
        is_secret(name, value)
    })
}

/// What is to be said of a program with secrets among its arguments, if there are any.
pub(crate) fn seen_by_all(reached: &Reached) -> Option<&'static str> {
    let Reached::Stdio(program) = reached else { return None };
    program.arguments.iter().any(|argument| names_secret(argument)).then_some(
        "a secret among the arguments is seen by every user of this machine in the list of processes while the server \
         runs; if the server takes it from a variable, give it with `--env NAME=secret:SECRET`",
    )
}

/// Whether a value has to stay secret: by its name, or by its own form.
pub(crate) fn is_secret(name: &str, value: &str) -> bool {
    if names_secret(value) {
        return false;
    }
    is_secret_variable(name, value) || Redactor::default().redact_text(value) != value
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
