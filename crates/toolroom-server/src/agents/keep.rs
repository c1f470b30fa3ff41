//! Keeping agents that people make, and taking them out again: the same on every surface.

use serde_json::{Map, Value};
use toolroom::agent::AgentRecord;
use toolroom::conversation::AgentId;
use toolroom::ledger::LedgerError;
use toolroom::redact::{RedactionError, Redactions};
use toolroom::scope::Scope;

use super::check::check;
use crate::app::App;

/// Why an agent was not kept. Nothing has changed then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum KeepAgentError {
    /// What is said about it makes no sense.
    #[error("{0}")]
    Order(String),
    /// What is written goes before what is kept, so keeping it would change nothing.
    #[error(
        "the agent `{id}` is written in the configuration, which goes before the database; change it there: {place}"
    )]
    Written {
        /// The agent.
        id: String,
        /// Where it is written.
        place: String,
    },
    /// It cannot be told whether it holds a secret.
    #[error(transparent)]
    Redactions(#[from] RedactionError),
    /// The database fails.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// The agent that these fields describe.
pub(crate) fn of_fields(id: &str, mut fields: Map<String, Value>) -> Result<AgentRecord, String> {
    // Whoever shows an agent says where it is from; that is nothing one can set.
    fields.remove("origin");
    match fields.get("id") {
        Some(other) if other != id => {
            return Err(format!("this is about the agent {other}, not about `{id}`"));
        }
        _ => fields.insert("id".to_owned(), id.into()),
    };
    fields.entry("name").or_insert_with(|| id.into());
    serde_json::from_value(fields.into()).map_err(|error| format!("this describes no agent: {error}"))
}

/// Fails if the agent is written in the configuration.
pub(crate) fn refuse_written(app: &App, id: &str) -> Result<(), KeepAgentError> {
    let written = app.config.config.agent_records();
    match written.into_iter().find(|(record, _)| record.id.as_str() == id) {
        None => Ok(()),
        Some((_, place)) => Err(KeepAgentError::Written { id: id.to_owned(), place }),
    }
}

/// Keeps an agent, in the place of another with its id.
pub(crate) async fn keep(app: &App, scope: &Scope, agent: &AgentRecord) -> Result<(), KeepAgentError> {
    check(agent).map_err(KeepAgentError::Order)?;
    refuse_written(app, agent.id.as_str())?;
    // A prompt is what every model reads first, and the name of a model is sent to its vendor.
    let texts = [&agent.name, &agent.prompt].into_iter().chain(&agent.models);
    if holds_secret(app, scope, texts).await? {
        let text =
            "the name, the prompt or a model holds a secret, and models would read it; nothing was changed";
        return Err(KeepAgentError::Order(text.to_owned()));
    }
    Ok(app.agents().set_agent(&scope.project, agent).await?)
}

/// Whether texts hold what is hidden in a project.
pub(crate) async fn holds_secret(
    app: &App,
    scope: &Scope,
    texts: impl IntoIterator<Item = &String>,
) -> Result<bool, KeepAgentError> {
    let revision = app.room.switchboard().standing(&scope.project).await?.revision;
    let redactor = app.vault.redactor(&scope.project, revision).await?;
    Ok(texts.into_iter().any(|text| redactor.redact_text(text) != text.as_str()))
}

/// Takes an agent out; says whether one was kept.
pub(crate) async fn remove(app: &App, scope: &Scope, id: &AgentId) -> Result<bool, KeepAgentError> {
    let removed = app.agents().remove_agent(&scope.project, id).await?;
    if !removed {
        refuse_written(app, id.as_str())?;
    }
    Ok(removed)
}
