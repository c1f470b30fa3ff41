//! The check `config`: the settings, read anew, as the next process would use them.

use std::path::PathBuf;

use tokio::time::Instant;
use toolroom::agent::Agents;
use toolroom::scope::ProjectId;
use toolroom_host::files::Projects;
use toolroom_host::folders::Folders;
use toolroom_host::text_file::{SkipReason, SkippedFile};
use toolroom_store::Store;
use toolroom_tools::builtin::doctor::{Check, Finding};

use super::policy::PolicyFacts;
use super::{counted, first_of, one, quoted};
use crate::agents;
use crate::app::projects;
use crate::config::{self, Config, ConfigError, Layer, LoadedConfig, Origin, Problem, Sources, Trust, load};
use crate::doctor::gather::{one_line, within};

/// A valid configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ConfigFacts {
    /// The user's file, if there is one.
    pub(crate) user: Option<PathBuf>,
    /// The project's file, if there is one.
    pub(crate) project: Option<ProjectFacts>,
    /// Files that were skipped, such as those of another owner.
    pub(crate) skipped: Vec<SkippedFile>,
    pub(crate) warnings: Vec<ConfigWarning>,
}

/// A project's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProjectFacts {
    pub(crate) path: PathBuf,
    /// Settings that are ignored because the file is not trusted.
    pub(crate) ignored: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ConfigWarning {
    pub(crate) text: String,
    pub(crate) about: WarningSubject,
}

/// What to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WarningSubject {
    /// The files or the command line.
    Settings,
    /// The environment variable of that name.
    Variable(String),
    /// The stored agent of that id.
    Agent(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConfigTrouble {
    /// The user's folders are unknown.
    NoHome(String),
    /// A file cannot be read.
    Unreadable(String),
    /// A line for each problem.
    Invalid(Vec<String>),
}

/// The settings as the next process would read them.
pub(crate) struct Settings {
    pub(crate) config: Result<ConfigFacts, ConfigTrouble>,
    /// `None` if the configuration is invalid, like the fields below.
    pub(crate) policy: Option<Result<PolicyFacts, Vec<String>>>,
    pub(crate) projects: Option<Result<Projects, String>>,
    pub(crate) values: Option<Config>,
}

impl Settings {
    fn unusable(trouble: ConfigTrouble) -> Self {
        Self { config: Err(trouble), policy: None, projects: None, values: None }
    }
}

/// Reads the files. Without a database no project file is trusted.
pub(crate) async fn gather(
    folders: &Folders,
    store: Option<&Store>,
    flags: &[String],
    deadline: Instant,
) -> Settings {
    let files = match Sources::find(folders).read() {
        Ok(files) => files,
        Err(error) => return Settings::unusable(ConfigTrouble::Unreadable(lines(&error).join("; "))),
    };
    let trust = match store {
        Some(store) => match within(deadline, files.trust(store)).await {
            Ok(Ok(trust)) => trust,
            Ok(Err(error)) => return Settings::unusable(ConfigTrouble::Unreadable(one_line(error))),
            Err(late) => return Settings::unusable(ConfigTrouble::Unreadable(late.to_string())),
        },
        None => Trust::Missing,
    };
    let layers = files.layers(trust, flags);
    let loaded = load(&layers).and_then(|loaded| loaded.limits().map(|_| loaded));
    match loaded {
        Err(error) => Settings::unusable(ConfigTrouble::Invalid(lines(&error))),
        Ok(loaded) => {
            let policy = loaded.policy().map_err(|error| lines(&error)).map(|policy| PolicyFacts {
                preset: policy.preset(),
                rules: policy.rules().len(),
                examples: examples(&loaded),
            });
            let projects = projects(folders, &loaded.config).map_err(one_line);
            let mut config = facts(&layers, &loaded);
            if let Some(store) = store {
                config.warnings.extend(agent_warnings(store, &loaded.config, deadline).await);
            }
            let values = Some(loaded.config);
            Settings { config: Ok(config), policy: Some(policy), projects: Some(projects), values }
        }
    }
}

fn lines(error: &ConfigError) -> Vec<String> {
    error.problems.iter().map(ToString::to_string).collect()
}

fn facts(layers: &[Layer], loaded: &LoadedConfig) -> ConfigFacts {
    let mut facts = ConfigFacts::default();
    for layer in layers {
        match layer {
            Layer::User { path, .. } => facts.user = Some(path.clone()),
            Layer::Project { path, .. } => {
                facts.project = Some(ProjectFacts { path: path.clone(), ignored: loaded.ignored.len() });
            }
            Layer::PassedOver(passed) => facts.skipped.push(passed.clone()),
            Layer::Environment(_) | Layer::Flags(_) => {}
        }
    }
    let about_files = |warning: &&Problem| matches!(warning.origin, Origin::Project { .. });
    let oddities =
        loaded.warnings.iter().filter(|warning| !about_files(warning)).map(|warning| ConfigWarning {
            text: warning.to_string(),
            about: match &warning.origin {
                Origin::Environment(name) => WarningSubject::Variable(name.clone()),
                Origin::Default | Origin::User(_) | Origin::Project { .. } | Origin::Flag => {
                    WarningSubject::Settings
                }
            },
        });
    facts.warnings = oddities.collect();
    facts
}

/// Unusable stored agents. Configured agents are checked with their file.
async fn agent_warnings(store: &Store, config: &Config, deadline: Instant) -> Vec<ConfigWarning> {
    let stored = within(deadline, store.agents(&ProjectId::default())).await;
    let stored = stored.ok().and_then(Result::ok).unwrap_or_default();
    let mut odd = Vec::new();
    for agent in stored {
        let wrong = agents::check(&agent).err().into_iter().chain(config.unknown_vendors(&agent.models));
        odd.extend(wrong.map(|why| ConfigWarning {
            text: format!("the agent `{}` cannot be used: {why}", agent.id),
            about: WarningSubject::Agent(agent.id.to_string()),
        }));
    }
    odd
}

fn examples(loaded: &LoadedConfig) -> usize {
    loaded.config.rules.iter().map(|rule| rule.text.matches.len() + rule.text.not_matches.len()).sum()
}

pub(crate) fn check(facts: &Result<ConfigFacts, ConfigTrouble>) -> Check {
    let facts = match facts {
        Ok(facts) => facts,
        Err(ConfigTrouble::NoHome(cause)) => {
            return one(Finding::error("config.no_home", cause, "export TOOLROOM_HOME=\"$HOME/.toolroom\""));
        }
        Err(ConfigTrouble::Unreadable(cause)) => {
            return one(Finding::error("config.unreadable", cause, "toolroom config check"));
        }
        Err(ConfigTrouble::Invalid(problems)) => {
            return one(Finding::error("config.invalid", first_of(problems), "toolroom config check"));
        }
    };
    let mut found = Vec::new();
    for odd in &facts.warnings {
        let remedy = match &odd.about {
            WarningSubject::Settings => "toolroom config check".to_owned(),
            WarningSubject::Variable(name) => format!("unset {name}"),
            WarningSubject::Agent(id) => format!("toolroom agents show {id}"),
        };
        found.push(Finding::warning("config.odd", &odd.text, remedy));
    }
    found.extend(facts.skipped.iter().map(skipped));
    if let Some(project) = facts.project.as_ref().filter(|project| project.ignored > 0) {
        let ignored = counted(project.ignored, "setting");
        let path = project.path.display();
        let details = format!("`{path}` is not trusted: {ignored} ignored");
        found.push(Finding::warning("config.untrusted", details, "toolroom trust"));
    }
    let files = [facts.user.as_ref(), facts.project.as_ref().map(|project| &project.path)];
    let files: Vec<String> =
        files.into_iter().flatten().map(|path| format!("`{}`", path.display())).collect();
    let details = if files.is_empty() { "no file; using defaults".to_owned() } else { files.join(", ") };
    Check::new(details, found)
}

/// Its rules are not in force although the user may rely on them.
fn skipped(passed: &SkippedFile) -> Finding {
    let file = quoted(&passed.path);
    let remedy = match passed.why {
        SkipReason::Stranger(_) => format!("sudo chown \"$(id -u)\" {file}"),
        SkipReason::LeadsNowhere | SkipReason::NotRegular => format!("mv {file} {file}.other"),
    };
    Finding::warning("config.passed_over", config::skipped_file_problem(passed).to_string(), remedy)
}
