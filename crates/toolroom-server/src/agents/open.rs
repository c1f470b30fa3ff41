//! Agents, ready to be asked: a record, the models that answer for it, and the toolroom they use.

use std::sync::Arc;

use toolroom::agent::{Agent, AgentRecord, Candidate, DEFAULT_AGENT, LocalTime};
use toolroom::clock::Timestamp;
use toolroom::conversation::Conversations;
use toolroom::ledger::LedgerError;
use toolroom::memory::Memories;
use toolroom::policy::PatternError;
use toolroom::scope::Scope;
use toolroom_host::environment;
use toolroom_models::directory::{Directory, OpenError, OpenedModel};
use toolroom_models::retry::Patient;
use toolroom_models::vendor::{ModelName, ModelNameError};

use super::records::{Known, record};
use crate::app::App;
use crate::models::directory;

/// Who is to answer.
#[derive(Debug, Clone, Default)]
pub struct Choice {
    /// The agent's id; the default one, if absent.
    pub agent: Option<String>,
    /// Models to be asked instead of the agent's own, the first one first.
    pub models: Vec<ModelName>,
}

/// An agent that can be asked.
#[derive(Clone)]
pub struct Opened {
    /// The agent.
    pub agent: Agent,
    /// Its models, the first one first, with the tokens each can take. Empty where what is set up has none to begin with.
    pub models: Vec<(String, u64)>,
}

/// Why an agent cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum OpenAgentError {
    /// There is none of that id.
    #[error("there is no agent `{id}`; {hint}")]
    NotFound {
        /// The id.
        id: String,
        /// What may be meant, or where to look.
        hint: String,
    },
    /// A model of its record has no name of a model.
    #[error("the agent `{agent}` names a model that is none")]
    Name {
        /// The agent.
        agent: String,
        /// Why not.
        source: ModelNameError,
    },
    /// A model cannot be asked.
    #[error(transparent)]
    Model(#[from] OpenError),
    /// One of its patterns of tools is none.
    #[error("the agent's tools cannot be chosen")]
    Pattern(#[from] PatternError),
    /// The record could not be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Keys of vendors could not be read.
    #[error("the vendors' keys cannot be read")]
    Keys(#[source] anyhow::Error),
}

/// Where conversations are kept.
#[must_use]
pub fn conversations(app: &App) -> Arc<dyn Conversations> {
    Arc::new(app.store.clone())
}

/// Opens an agent. Its models are those of the choice, else its own, else those of the configuration, else the first
/// one that the environment offers, else the offline model. Nothing is sent.
///
/// # Errors
/// When there is no such agent, or one of its models is not set up.
pub async fn open(app: &App, scope: &Scope, choice: &Choice) -> Result<Opened, OpenAgentError> {
    let Known { record, .. } = record(app, scope, choice.agent.as_deref().unwrap_or(DEFAULT_AGENT)).await?;
    let known =
        directory(&app.config.config, &app.vault, &scope.project).await.map_err(OpenAgentError::Keys)?;
    let names = names(app, &record, choice, &known)?;
    let opened = names.iter().map(|name| known.open(name)).collect::<Result<Vec<_>, _>>()?;
    let chain: Vec<Candidate> = opened.into_iter().map(candidate).collect();
    let models = chain.iter().map(|one| (one.model.name().to_owned(), one.facts.window)).collect();
    let ranker = match &record.ranker {
        Some(name) => Some(ranker(name, &record, &known)?),
        None => None,
    };
    let memories: Arc<dyn Memories> = Arc::new(app.store.clone());
    let mut agent = Agent::new(app.room.clone(), conversations(app), record, chain)?
        .memories(memories)
        .wall(Arc::new(wall));
    if let Some(ranker) = ranker {
        agent = agent.ranker(ranker);
    }
    Ok(Opened { agent, models })
}

fn names(
    app: &App,
    record: &AgentRecord,
    choice: &Choice,
    known: &Directory,
) -> Result<Vec<ModelName>, OpenAgentError> {
    if !choice.models.is_empty() {
        return Ok(choice.models.clone());
    }
    if !record.models.is_empty() {
        return record.models.iter().map(|name| model_name(name, record)).collect();
    }
    match &app.config.config.model {
        Some(chain) if !chain.0.is_empty() => Ok(chain.0.clone()),
        Some(_) | None => Ok(known.usual().into_iter().collect()),
    }
}

fn model_name(name: &str, record: &AgentRecord) -> Result<ModelName, OpenAgentError> {
    name.parse().map_err(|source| OpenAgentError::Name { agent: record.id.to_string(), source })
}

/// Asked once and not again: without its answer words alone decide.
fn ranker(name: &str, record: &AgentRecord, known: &Directory) -> Result<Candidate, OpenAgentError> {
    let OpenedModel { model, known } = known.open(&model_name(name, record)?)?;
    Ok(Candidate::new(model).facts(known.facts))
}

fn candidate(OpenedModel { model, known }: OpenedModel) -> Candidate {
    Candidate::new(Arc::new(Patient::new(model))).facts(known.facts)
}

fn wall(at: Timestamp) -> LocalTime {
    let zone = environment::time_zone();
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    let time = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default();
    LocalTime { time: time.to_zoned(zone).strftime("%Y-%m-%dT%H:%M%:z").to_string(), zone: name }
}
