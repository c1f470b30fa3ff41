//! Agents, ready to be asked: a record, the models that answer for it, and the toolroom they use.

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
    /// Whether the owner typed them at a terminal of this machine. Models named over a network open no vendor that is not
    /// configured.
    pub by_owner: bool,
    /// The model that has answered so far, asked before all others: a run goes on with the one it was begun with.
    pub so_far: Option<ModelName>,
}

/// An agent that can be asked.
#[derive(Clone)]
pub struct Opened {
    /// The agent.
    pub agent: Agent,
    /// Its models, the first one first, with the tokens each can take. Empty where what is set up has none to begin with.
    pub models: Vec<(String, u64)>,
    /// Models it goes on without, as they are not set up: which ones, and why.
    pub passed_over: Vec<String>,
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
/// When there is no such agent, or none of its models is set up.
pub async fn open(app: &App, scope: &Scope, choice: &Choice) -> Result<Opened, OpenAgentError> {
    let Known { record, .. } = record(app, scope, choice.agent.as_deref().unwrap_or(DEFAULT_AGENT)).await?;
    let known =
        directory(&app.config.config, &app.vault, &scope.project).await.map_err(OpenAgentError::Keys)?;
    let typed = choice.models.iter().filter(|_| choice.by_owner);
    let known = known.named(typed.chain(&choice.so_far));
    let mut names = names(app, &record, choice, &known)?;
    if let Some(so_far) = &choice.so_far {
        names.retain(|name| name != so_far);
        names.insert(0, so_far.clone());
    }
    let mut passed_over = Vec::new();
    let chain = chain(&names, &known, &mut passed_over)?;
    let models = chain.iter().map(|one| (one.model.name().to_owned(), one.facts.window)).collect();
    let ranker = match &record.ranker {
        Some(name) => ranker(&model_name(name, &record)?, &known, &mut passed_over),
        None => None,
    };
    let memories: Arc<dyn Memories> = Arc::new(app.store.clone());
    let mut agent = Agent::new(app.room.clone(), conversations(app), record, chain)?
        .memories(memories)
        .local_clock(Arc::new(local_time));
    if let Some(ranker) = ranker {
        agent = agent.ranker(ranker);
    }
    Ok(Opened { agent, models, passed_over })
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
        Some(_) | None => Ok(known.default_model().into_iter().collect()),
    }
}

fn model_name(name: &str, record: &AgentRecord) -> Result<ModelName, OpenAgentError> {
    name.parse().map_err(|source| OpenAgentError::Name { agent: record.id.to_string(), source })
}

/// The models that can be asked. One that is not set up keeps nobody from asking the next one; where none is, the reason
/// is that of the first one.
fn chain(
    names: &[ModelName],
    known: &Directory,
    passed_over: &mut Vec<String>,
) -> Result<Vec<Candidate>, OpenError> {
    let mut chain = Vec::new();
    let mut first = None;
    for name in names {
        match known.open(name) {
            Ok(opened) => chain.push(candidate(opened)),
            Err(error) => {
                passed_over.push(without(name, &error));
                first.get_or_insert(error);
            }
        }
    }
    match first {
        Some(error) if chain.is_empty() => Err(error),
        Some(_) | None => Ok(chain),
    }
}

/// Asked once and not again: without its answer words alone decide.
fn ranker(name: &ModelName, known: &Directory, passed_over: &mut Vec<String>) -> Option<Candidate> {
    match known.open(name) {
        Ok(OpenedModel { model, known }) => Some(Candidate::new(model).facts(known.facts)),
        Err(error) => {
            passed_over.push(without(name, &error));
            None
        }
    }
}

fn without(name: &ModelName, error: &OpenError) -> String {
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
