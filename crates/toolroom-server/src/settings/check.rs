//! Checks a project of a document by itself: no duplicates, and only valid names.

use std::collections::BTreeSet;

use super::document::ProjectSettings;
use super::server_check;
use crate::vault::{SecretNameError, check_secret_name};

pub(super) fn check(settings: &ProjectSettings) -> Result<(), String> {
    let project = settings.id.as_str();
    check_unique(project, "answer", settings.answers.iter().map(|answer| answer.id.as_str()))?;
    check_unique(project, "agent", settings.agents.iter().map(|agent| agent.id.as_str()))?;
    check_unique(project, "server", settings.servers.iter().map(|server| server.name.as_str()))?;
    check_unique(project, "secret", settings.secrets.iter().map(String::as_str))?;
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

/// Rejects duplicates: one of the two would be lost.
fn check_unique<'a>(project: &str, kind: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!(
                "the {kind} `{name}` is twice in the project `{project}`; remove one of them from the document"
            ));
        }
    }
    Ok(())
}

/// The name appears in a command that users copy into a shell.
fn secret(name: &str) -> Result<(), String> {
    check_secret_name(name).map_err(|error| match error {
        SecretNameError::IsValue => format!("{error}; write the name by which it is kept"),
        SecretNameError::NotPlain => format!("{error}; `{name}` is none"),
    })
}
