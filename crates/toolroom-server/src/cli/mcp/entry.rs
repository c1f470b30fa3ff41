//! Validates the parts of a server's entry that are given on the command line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolroom::foreign::{EntryValue, ForeignServers, ServerRecord};
use toolroom_host::process::FoundProgram;
use toolroom_host::sandbox::NamedProfile;
use toolroom_host::text_file::current_folder;

use super::{find_server, project};
use crate::app::App;
use crate::cli::console::exit::Usage;
use crate::cli::console::output::visible;
use crate::gateway::{StoredSecrets, check_variables, is_secret, secret_argument};

/// The absolute path of a program. A program that takes its name later is not started.
pub(super) fn resolve_program(command: &str) -> Result<String, Usage> {
    let folder = working_folder()?;
    let missing = || Usage(format!("program `{}` not found", visible(command)));
    let path = FoundProgram::find(command, &folder).ok_or_else(missing)?.path;
    let no_text = || Usage("the path of the program is not UTF-8".to_owned());
    path.into_os_string().into_string().map_err(|_| no_text())
}

fn working_folder() -> Result<PathBuf, Usage> {
    current_folder().map_err(|error| Usage(format!("cannot read the current folder: {error}")))
}

pub(super) fn absolute_path(path: &str) -> Result<String, Usage> {
    let joined = working_folder()?.join(path).into_os_string().into_string();
    joined.map_err(|_| Usage("the path is not UTF-8".to_owned()))
}

pub(super) fn values(
    given: &[String],
    stored: &StoredSecrets,
) -> Result<BTreeMap<String, EntryValue>, Usage> {
    given.iter().map(|text| pair(text, stored)).collect()
}

/// Environment variables. Those that change which code a program runs are rejected.
pub(super) fn variables(
    given: &[String],
    stored: &StoredSecrets,
) -> Result<BTreeMap<String, EntryValue>, Usage> {
    let values = values(given, stored)?;
    check_variables(values.keys()).map_err(Usage)?;
    Ok(values)
}

/// Arguments without secrets: other users can read them.
pub(super) fn checked_arguments(arguments: &[String], stored: &StoredSecrets) -> Result<Vec<String>, Usage> {
    let arguments: Vec<String> = arguments.iter().map(|argument| stored.argument(argument)).collect();
    match secret_argument(&arguments) {
        None => Ok(arguments),
        Some(index) => Err(Usage(format!(
            "argument {} looks like a secret, which others could read; store it with `toolroom secrets set NAME` and pass it \
             in a variable with `--env VARIABLE=secret:NAME`; if the server accepts it only as an argument, write `secret:NAME` \
             there, but every user of this machine can read it in the process list",
            index + 1
        ))),
    }
}

/// A valid sandbox profile.
pub(super) fn profile(text: &str) -> Result<String, Usage> {
    Ok(text.parse::<NamedProfile>().map_err(|error| Usage(error.to_string()))?.to_string())
}

/// Parses `NAME=VALUE`. The value of a stored secret is replaced by a reference to it.
fn pair(text: &str, stored: &StoredSecrets) -> Result<(String, EntryValue), Usage> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| Usage("expected NAME=VALUE, or NAME=secret:SECRET for a secret".to_owned()))?;
    if let Some(secret) = value.strip_prefix("secret:") {
        return Ok((name.to_owned(), EntryValue::Secret(secret.to_owned())));
    }
    if let Some(named) = stored.value(value) {
        return Ok((name.to_owned(), named));
    }
    if is_secret(name, value) {
        return Err(Usage(format!(
            "the value of `{}` looks like a secret, which others could read; store it with `toolroom secrets set NAME` and \
             write `{}=secret:NAME`",
            visible(name),
            visible(name)
        )));
    }
    Ok((name.to_owned(), EntryValue::Plain(value.to_owned())))
}

/// Attempts to change an entry while other processes change it.
const MAX_ATTEMPTS: u32 = 10;

/// Changes an entry; tries again after a concurrent change.
pub(super) async fn change(
    app: &App,
    name: &str,
    mut changed: impl AsyncFnMut(ServerRecord) -> anyhow::Result<ServerRecord>,
) -> anyhow::Result<ServerRecord> {
    for _ in 0..MAX_ATTEMPTS {
        let before = find_server(app, name).await?;
        let after = changed(before.clone()).await?;
        let after = ServerRecord { changed_at: app.room.clock().now(), ..after };
        if app.store.replace_server(&project(), &before, &after).await? {
            return Ok(after);
        }
    }
    anyhow::bail!("the server `{name}` is being changed by other processes; try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_arguments_are_recognised_by_their_flag_and_their_form() {
        let position = |words: &[&str]| {
            secret_argument(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(position(&["-y", "x", "--api-key", "s3cr3t-value"]), Some(3));
        assert_eq!(position(&["--token=s3cr3t-value"]), Some(0));
        assert_eq!(position(&["--api-key", "secret:KEY", "--token=secret:TOKEN"]), None);
        assert_eq!(position(&["--port", "8080", "--key", "--read-only", "/srv/notes", "run"]), None);
    }
}
