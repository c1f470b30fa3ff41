//! What a person says about a server, checked before anything is kept.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolroom::foreign::{EntryValue, ForeignServers, ServerRecord};
use toolroom_host::process::FoundProgram;
use toolroom_host::sandbox::NamedProfile;
use toolroom_host::text_file::current_folder;

use super::{known, project};
use crate::app::App;
use crate::cli::console::exit::Usage;
use crate::cli::console::output::visible;
use crate::gateway::{StoredSecrets, check_variables, is_secret, secret_argument};

/// The program where it is found now: another one that takes its name later is not started.
pub(super) fn found(command: &str) -> Result<String, Usage> {
    let here = here()?;
    let missing = || Usage(format!("there is no program `{}`", visible(command)));
    let path = FoundProgram::find(command, &here).ok_or_else(missing)?.path;
    let no_text = || Usage("the path of the program is not UTF-8".to_owned());
    path.into_os_string().into_string().map_err(|_| no_text())
}

fn here() -> Result<PathBuf, Usage> {
    current_folder().map_err(|error| Usage(format!("the folder you are in cannot be told: {error}")))
}

pub(super) fn whole_path(path: &str) -> Result<String, Usage> {
    let here = here()?;
    let joined = here.join(path).into_os_string().into_string();
    joined.map_err(|_| Usage("a path is not UTF-8".to_owned()))
}

pub(super) fn values(
    given: &[String],
    stored: &StoredSecrets,
) -> Result<BTreeMap<String, EntryValue>, Usage> {
    given.iter().map(|text| pair(text, stored)).collect()
}

/// Variables, which a program may have: those that change which code it runs are refused now, and not when it starts.
pub(super) fn variables(
    given: &[String],
    stored: &StoredSecrets,
) -> Result<BTreeMap<String, EntryValue>, Usage> {
    let values = values(given, stored)?;
    check_variables(values.keys()).map_err(Usage)?;
    Ok(values)
}

/// Arguments without anything secret: those are seen by everybody here, and by every user of the machine.
pub(super) fn checked_arguments(arguments: &[String], stored: &StoredSecrets) -> Result<Vec<String>, Usage> {
    let arguments: Vec<String> = arguments.iter().map(|argument| stored.argument(argument)).collect();
    match secret_argument(&arguments) {
        None => Ok(arguments),
        Some(index) => Err(Usage(format!(
            "the argument {} looks like a secret, and would be seen by everybody here; keep it with `toolroom secrets \
             set NAME` and give it in a variable with `--env VARIABLE=secret:NAME`; a server that takes it only as an \
             argument gets `secret:NAME` there, which every user of this machine sees in the list of processes",
            index + 1
        ))),
    }
}

/// A sandbox by its name.
pub(super) fn profile(text: &str) -> Result<String, Usage> {
    Ok(text.parse::<NamedProfile>().map_err(|error| Usage(error.to_string()))?.to_string())
}

/// `NAME=VALUE`, where a value that has to stay secret names the secret that holds it. The value of a stored secret becomes
/// its name.
fn pair(text: &str, stored: &StoredSecrets) -> Result<(String, EntryValue), Usage> {
    let (name, value) = text
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| Usage("write NAME=VALUE, or NAME=secret:SECRET for what nobody may see".to_owned()))?;
    if let Some(secret) = value.strip_prefix("secret:") {
        return Ok((name.to_owned(), EntryValue::Secret(secret.to_owned())));
    }
    if let Some(named) = stored.value(value) {
        return Ok((name.to_owned(), named));
    }
    if is_secret(name, value) {
        return Err(Usage(format!(
            "the value of `{}` looks like a secret, and would be seen by everybody here; keep it with `toolroom \
             secrets set NAME` and write `{}=secret:NAME`",
            visible(name),
            visible(name)
        )));
    }
    Ok((name.to_owned(), EntryValue::Plain(value.to_owned())))
}

/// So often somebody else may come in between.
const TRIES: u32 = 10;

/// Changes a server, each time over what is said of it then, until nobody has come in between.
pub(super) async fn change(
    app: &App,
    name: &str,
    mut changed: impl AsyncFnMut(ServerRecord) -> anyhow::Result<ServerRecord>,
) -> anyhow::Result<ServerRecord> {
    for _ in 0..TRIES {
        let before = known(app, name).await?;
        let after = changed(before.clone()).await?;
        let after = ServerRecord { changed_at: app.room.clock().now(), ..after };
        if app.store.replace_server(&project(), &before, &after).await? {
            return Ok(after);
        }
    }
    anyhow::bail!("others keep changing the server `{name}` at the same time; try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_seen_in_arguments_by_their_flag_and_by_their_form() {
        let of = |words: &[&str]| {
            secret_argument(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["-y", "x", "--api-key", "s3cr3t-value"]), Some(3));
        assert_eq!(of(&["--token=s3cr3t-value"]), Some(0));
        assert_eq!(of(&["--api-key", "secret:KEY", "--token=secret:TOKEN"]), None);
        assert_eq!(of(&["--port", "8080", "--key", "--read-only", "/srv/notes", "run"]), None);
    }
}
