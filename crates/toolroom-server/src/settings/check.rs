//! Whether what a document says of a project makes sense in itself: nothing twice, and no name that could not be typed.

use std::collections::BTreeSet;

use super::document::ProjectSettings;
use super::server_check;
use crate::vault::{SecretNameError, check_secret_name};

/// Says what is wrong with it.
pub(super) fn check(settings: &ProjectSettings) -> Result<(), String> {
    let project = settings.id.as_str();
    once(project, "answer", settings.answers.iter().map(|answer| answer.id.as_str()))?;
    once(project, "agent", settings.agents.iter().map(|agent| agent.id.as_str()))?;
    once(project, "server", settings.servers.iter().map(|server| server.name.as_str()))?;
    once(project, "secret", settings.secrets.iter().map(String::as_str))?;
    settings.secrets.iter().try_for_each(|name| secret(name))?;
    for server in &settings.servers {
        let named = server_check::secrets(server);
        named
            .iter()
            .try_for_each(|name| secret(name))
            .map_err(|problem| format!("the server `{}`: {problem}", server.name))?;
    }
    Ok(())
}

/// Of two that share a name one would be lost, and nobody could say which.
fn once<'a>(project: &str, kind: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!(
                "the {kind} `{name}` is twice in the project `{project}`; take one of them out of the document"
            ));
        }
    }
    Ok(())
}

/// The name is shown in a line that people copy into a shell.
fn secret(name: &str) -> Result<(), String> {
    check_secret_name(name).map_err(|error| match error {
        SecretNameError::IsValue => format!("{error}; write the name by which it is kept"),
        SecretNameError::NotPlain => format!("{error}; `{name}` is none"),
    })
}
