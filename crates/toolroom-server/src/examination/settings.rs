//! Configuration and policy, read anew: what holds for the next process that starts.

use tokio::time::Instant;
use toolroom::agent::Agents;
use toolroom::ledger::Switchboard;
use toolroom::policy::Condition;
use toolroom::scope::ProjectId;
use toolroom_host::files::Projects;
use toolroom_host::folders::Folders;
use toolroom_store::Store;

use super::facts::{About, AnswerFacts, ConfigFacts, ConfigTrouble, Oddity, PolicyFacts, ProjectFacts};
use super::gather::{told, within};
use crate::agents::check;
use crate::app::projects;
use crate::config::{Config, ConfigError, Layer, LoadedConfig, Origin, Problem, Sources, Trust, load};

/// What the configuration says.
pub(super) struct Read {
    pub(super) config: Result<ConfigFacts, ConfigTrouble>,
    /// These are absent when it cannot be used.
    pub(super) policy: Option<Result<PolicyFacts, Vec<String>>>,
    pub(super) projects: Option<Result<Projects, String>>,
    pub(super) said: Option<Config>,
}

impl Read {
    fn nothing(trouble: ConfigTrouble) -> Self {
        Self { config: Err(trouble), policy: None, projects: None, said: None }
    }
}

/// What the files say. Without a database no project's file is trusted.
pub(super) async fn read(
    folders: &Folders,
    store: Option<&Store>,
    flags: &[String],
    deadline: Instant,
) -> Read {
    let files = match Sources::find(folders).read() {
        Ok(files) => files,
        Err(error) => return Read::nothing(ConfigTrouble::Unreadable(lines(&error).join("; "))),
    };
    let trust = match store {
        Some(store) => match within(deadline, files.trust(store)).await {
            Ok(Ok(trust)) => trust,
            Ok(Err(error)) => return Read::nothing(ConfigTrouble::Unreadable(told(error))),
            Err(late) => return Read::nothing(ConfigTrouble::Unreadable(late.to_string())),
        },
        None => Trust::Missing,
    };
    let layers = files.layers(trust, flags);
    let loaded = load(&layers).and_then(|loaded| loaded.limits().map(|_| loaded));
    match loaded {
        Err(error) => Read::nothing(ConfigTrouble::Invalid(lines(&error))),
        Ok(loaded) => {
            let policy = loaded.policy().map_err(|error| lines(&error)).map(|policy| PolicyFacts {
                preset: policy.preset(),
                rules: policy.rules().len(),
                examples: examples(&loaded),
            });
            let projects = projects(folders, &loaded.config).map_err(told);
            let mut config = config(&layers, &loaded);
            if let Some(store) = store {
                config.odd.extend(odd_agents(store, &loaded.config, deadline).await);
            }
            let said = Some(loaded.config);
            Read { config: Ok(config), policy: Some(policy), projects: Some(projects), said }
        }
    }
}

fn lines(error: &ConfigError) -> Vec<String> {
    error.problems.iter().map(ToString::to_string).collect()
}

fn config(layers: &[Layer], loaded: &LoadedConfig) -> ConfigFacts {
    let mut facts = ConfigFacts::default();
    for layer in layers {
        match layer {
            Layer::User { path, .. } => facts.user = Some(path.clone()),
            Layer::Project { path, .. } => {
                facts.project = Some(ProjectFacts { path: path.clone(), ignored: loaded.ignored.len() });
            }
            Layer::PassedOver(passed) => facts.passed_over.push(passed.clone()),
            Layer::Environment(_) | Layer::Flags(_) => {}
        }
    }
    let about_files = |warning: &&Problem| matches!(warning.origin, Origin::Project { .. });
    let oddities = loaded.warnings.iter().filter(|warning| !about_files(warning)).map(|warning| Oddity {
        text: warning.to_string(),
        about: match &warning.origin {
            Origin::Environment(name) => About::Variable(name.clone()),
            Origin::Default | Origin::User(_) | Origin::Project { .. } | Origin::Flag => About::Settings,
        },
    });
    facts.odd = oddities.collect();
    facts
}

/// The agents in the database that cannot be asked as they are. Those that are written were looked at with their file.
async fn odd_agents(store: &Store, config: &Config, deadline: Instant) -> Vec<Oddity> {
    let agents = within(deadline, store.agents(&ProjectId::default())).await;
    let agents = agents.ok().and_then(Result::ok).unwrap_or_default();
    let mut odd = Vec::new();
    for agent in agents {
        let wrong = check(&agent).err().into_iter().chain(config.unknown_vendors(&agent.models));
        odd.extend(wrong.map(|why| Oddity {
            text: format!("the agent `{}` cannot be asked: {why}", agent.id),
            about: About::Agent(agent.id.to_string()),
        }));
    }
    odd
}

fn examples(loaded: &LoadedConfig) -> usize {
    loaded.config.rules.iter().map(|rule| rule.text.matches.len() + rule.text.not_matches.len()).sum()
}

/// The standing answers in a database that can be read.
pub(super) async fn answers(store: &Store, deadline: Instant) -> Option<AnswerFacts> {
    let standing = within(deadline, store.standing(&ProjectId::default())).await.ok()?.ok()?;
    let mut facts = AnswerFacts::default();
    for answer in standing.answers.iter() {
        facts.count += 1;
        if answer.when.as_deref().is_some_and(|condition| Condition::parse(condition).is_err()) {
            facts.unreadable.push(answer.id.to_string());
        }
    }
    Some(facts)
}
