//! Opens an agent: its record, its models and the toolroom.

use std::error::Error as _;
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
use toolroom_models::retry::RetryingModel;
use toolroom_models::vendor::{ModelName, ModelNameError};

use super::records::{ListedAgent, record};
use crate::app::App;
use crate::models::directory;

/// Selects an agent and its models.
#[derive(Debug, Clone, Default)]
pub struct AgentChoice {
    /// The agent's id; the default one, if absent.
    pub agent: Option<String>,
    /// Models instead of the agent's own, in order.
    pub models: Vec<ModelName>,
    /// Whether the owner named the models at a terminal. Models named over the network must belong to configured vendors.
    pub by_owner: bool,
    /// The model that has answered so far. It is tried first, so that a run continues with its model.
    pub last_model: Option<ModelName>,
}

#[derive(Clone)]
pub struct OpenedAgent {
    pub agent: Agent,
    /// Its models in order, with their context windows in tokens. Empty in offline mode.
    pub models: Vec<(String, u64)>,
    /// Models that are not set up, and why.
    pub skipped_models: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenAgentError {
    #[error("there is no agent `{id}`; {hint}")]
    NotFound {
        /// The id.
        id: String,
        /// The nearest id, or where to look.
        hint: String,
    },
    #[error("the agent `{agent}` has an invalid model name")]
    Name {
        /// The agent.
        agent: String,
        source: ModelNameError,
    },
    #[error(transparent)]
    Model(#[from] OpenError),
    #[error("the agent has an invalid tool pattern")]
    Pattern(#[from] PatternError),
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    #[error("cannot read the keys of model vendors")]
    Keys(#[source] anyhow::Error),
}

/// The port for conversations.
#[must_use]
pub fn conversations(app: &App) -> Arc<dyn Conversations> {
    Arc::new(app.store.clone())
}

/// Opens an agent. Its models are those of the choice, else its own, else the configured ones, else the first one the
/// environment offers, else the offline model. Sends nothing.
///
/// # Errors
/// When there is no such agent, or none of its models is set up.
pub async fn open(app: &App, scope: &Scope, choice: &AgentChoice) -> Result<OpenedAgent, OpenAgentError> {
    let ListedAgent { record, .. } =
        record(app, scope, choice.agent.as_deref().unwrap_or(DEFAULT_AGENT)).await?;
    let known =
        directory(&app.config.config, &app.vault, &scope.project).await.map_err(OpenAgentError::Keys)?;
    let typed = choice.models.iter().filter(|_| choice.by_owner);
    let known = known.named(typed.chain(&choice.last_model));
    let mut names = names(app, &record, choice, &known)?;
    if let Some(last_model) = &choice.last_model {
        names.retain(|name| name != last_model);
        names.insert(0, last_model.clone());
    }
    let mut skipped_models = Vec::new();
    let chain = chain(&names, &known, &mut skipped_models)?;
    let models = chain.iter().map(|one| (one.model.name().to_owned(), one.facts.window)).collect();
    let ranker = match &record.ranker {
        Some(name) => ranker(&model_name(name, &record)?, &known, &mut skipped_models),
        None => None,
    };
    let memories: Arc<dyn Memories> = Arc::new(app.store.clone());
    let mut agent = Agent::new(app.room.clone(), conversations(app), record, chain)?
        .memories(memories)
        .local_clock(Arc::new(local_time));
    if let Some(ranker) = ranker {
        agent = agent.ranker(ranker);
    }
    Ok(OpenedAgent { agent, models, skipped_models })
}

fn names(
    app: &App,
    record: &AgentRecord,
    choice: &AgentChoice,
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
        Some(_) | None => Ok(known.default_model().into_iter().collect()),
    }
}

fn model_name(name: &str, record: &AgentRecord) -> Result<ModelName, OpenAgentError> {
    name.parse().map_err(|source| OpenAgentError::Name { agent: record.id.to_string(), source })
}

/// The usable models. Skips models that are not set up; if none is, the error is that of the first one.
fn chain(
    names: &[ModelName],
    known: &Directory,
    skipped_models: &mut Vec<String>,
) -> Result<Vec<Candidate>, OpenError> {
    let mut chain = Vec::new();
    let mut first = None;
    for name in names {
        match known.open(name) {
            Ok(opened) => chain.push(candidate(opened)),
            Err(error) => {
                skipped_models.push(skip_reason(name, &error));
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if chain.is_empty() => Err(error),
        Some(_) | None => Ok(chain),
    }
}

/// Not retried: without it, tools are ranked by words alone.
fn ranker(name: &ModelName, known: &Directory, skipped_models: &mut Vec<String>) -> Option<Candidate> {
    match known.open(name) {
        Ok(OpenedModel { model, known }) => Some(Candidate::new(model).facts(known.facts)),
        Err(error) => {
            skipped_models.push(skip_reason(name, &error));
            None
        }
    }
}

fn skip_reason(name: &ModelName, error: &OpenError) -> String {
    let why = std::iter::successors(error.source(), |&source| source.source());
    why.fold(format!("`{name}` is passed over: {error}"), |text, cause| format!("{text}: {cause}"))
}

fn candidate(OpenedModel { model, known }: OpenedModel) -> Candidate {
    Candidate::new(Arc::new(RetryingModel::new(model))).facts(known.facts)
}

fn local_time(at: Timestamp) -> LocalTime {
    let zone = environment::time_zone();
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    let time = jiff::Timestamp::from_microsecond(at.as_micros()).unwrap_or_default();
    LocalTime { time: time.to_zoned(zone).strftime("%Y-%m-%dT%H:%M%:z").to_string(), zone: name }
}
