//! Saves and removes agents, for all interfaces.

use serde_json::{Map, Value};
use toolroom::agent::AgentRecord;
use toolroom::conversation::AgentId;
use toolroom::ledger::LedgerError;
use toolroom::redact::{RedactionError, Redactions};
use toolroom::scope::Scope;

use super::check::check;
use crate::app::App;

/// Why an agent was not saved. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SaveAgentError {
    #[error("{0}")]
    Invalid(String),
    /// The configuration overrides the database, so saving would have no effect.
    #[error(
        "the agent `{id}` is written in the configuration, which goes before the database; change it there: {place}"
    )]
    Configured { id: String, place: String },
    #[error(transparent)]
    Redactions(#[from] RedactionError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// Parses an agent record from JSON fields.
pub(crate) fn record_from_fields(id: &str, mut fields: Map<String, Value>) -> Result<AgentRecord, String> {
    // Part of the output of `agents show`, which cannot be set.
    fields.remove("origin");
    match fields.get("id") {
        Some(other) if other != id => {
            return Err(format!("the fields are for the agent {other}, not for `{id}`"));
        }
        _ => fields.insert("id".to_owned(), id.into()),
    };
    fields.entry("name").or_insert_with(|| id.into());
    serde_json::from_value(fields.into()).map_err(|error| format!("not a valid agent: {error}"))
}

/// Fails if the configuration defines the agent.
pub(crate) fn check_not_configured(app: &App, id: &str) -> Result<(), SaveAgentError> {
    let written = app.config.config.agent_records();
    match written.into_iter().find(|(record, _)| record.id.as_str() == id) {
        None => Ok(()),
        Some((_, place)) => Err(SaveAgentError::Configured { id: id.to_owned(), place }),
    }
}

/// Saves an agent, replacing an earlier one with its id.
pub(crate) async fn save(app: &App, scope: &Scope, agent: &AgentRecord) -> Result<(), SaveAgentError> {
    check(agent).map_err(SaveAgentError::Invalid)?;
    check_not_configured(app, agent.id.as_str())?;
    // Prompts and model names are sent to vendors.
    let texts = [&agent.name, &agent.prompt].into_iter().chain(&agent.models);
    if holds_secret(app, scope, texts).await? {
        let text =
            "the name, the prompt or a model holds a secret, and models would read it; nothing was changed";
        return Err(SaveAgentError::Invalid(text.to_owned()));
    }
    Ok(app.agents().set_agent(&scope.project, agent).await?)
}

/// Whether texts hold a secret of the project.
pub(crate) async fn holds_secret(
    app: &App,
    scope: &Scope,
    texts: impl IntoIterator<Item = &String>,
) -> Result<bool, SaveAgentError> {
    let revision = app.room.switchboard().standing(&scope.project).await?.revision;
    let redactor = app.vault.redactor(&scope.project, revision).await?;
    Ok(texts.into_iter().any(|text| redactor.redact_text(text) != text.as_str()))
}

/// Removes a stored agent. Returns whether there was one.
pub(crate) async fn remove(app: &App, scope: &Scope, id: &AgentId) -> Result<bool, SaveAgentError> {
    let removed = app.agents().remove_agent(&scope.project, id).await?;
    if !removed {
        check_not_configured(app, id.as_str())?;
    }
    Ok(removed)
}
