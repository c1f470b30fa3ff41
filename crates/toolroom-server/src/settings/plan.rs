//! What an import would do, worked out before anything is done.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolroom::clock::Timestamp;
use toolroom::foreign::ServerRecord;
use toolroom::ledger::{AnswerId, StandingAnswer, SwitchState};
use toolroom::policy::{Rule, rule_text_of};
use toolroom::redact::{Redactions, Redactor};
use toolroom::scope::{LOCAL_PROJECT, ProjectId};
use toolroom_store::{ProjectRecord, SettingsBatch};

use super::check::check;
use super::document::{ProjectSettings, SettingsDocument};
use super::gather::of_project;
use super::server_check;
use crate::agents::{check as check_agent, refuse_written};
use crate::app::App;
use crate::gateway::{StoredSecrets, entry};
use crate::identity::{check_name, check_project_id, project, projects};

/// What is shown of a prompt.
const PROMPT_CHARS: usize = 200;

/// The longest name of a switch.
const NAME_CHARS: usize = 200;

/// What would become of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Fate {
    New,
    Changed,
    Same,
    Skipped,
}

impl Fate {
    /// In a word.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
            Self::Skipped => "skipped",
        }
    }
}

/// One thing of a document, and what would become of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Line {
    pub(crate) project: ProjectId,
    /// What it is: project, tool, feature, answer, agent or server.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) state: Fate,
    /// What it lets happen, for whoever decides about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) means: Option<String>,
    /// Why it is passed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// Everything that would be done.
#[derive(Debug, Default)]
pub(crate) struct ImportPlan {
    pub(crate) lines: Vec<Line>,
    /// Secrets that are named and not kept here.
    pub(crate) missing: BTreeSet<(ProjectId, String)>,
    /// What has to be written.
    pub(crate) batch: SettingsBatch,
}

impl ImportPlan {
    /// What a document would change here, or what is wrong with it.
    pub(crate) async fn of(app: &App, document: &SettingsDocument) -> anyhow::Result<Result<Self, String>> {
        let mut plan = Self::default();
        let mut seen = BTreeSet::new();
        let homes = homes(app, document).await?;
        for settings in &document.projects {
            if !seen.insert(&settings.id) {
                return Ok(Err(format!("the project `{}` is in it twice", settings.id)));
            }
            let before = match project(&app.store, settings.id.as_str()).await? {
                Some(project) => Some(of_project(app, project).await?),
                None => None,
            };
            let revision = app.room.switchboard().standing(&settings.id).await?.revision;
            let redactor = app.vault.redactor(&settings.id, revision).await?;
            let now = app.room.clock().now();
            let stored = StoredSecrets::load(&app.vault, &settings.id).await?;
            let here = Here {
                app,
                before: before.as_ref(),
                redactor: &redactor,
                stored: &stored,
                now,
                homes: &homes,
            };
            if let Err(problem) = plan.add(&here, settings) {
                return Ok(Err(problem));
            }
        }
        Ok(Ok(plan))
    }

    fn add(&mut self, here: &Here<'_>, settings: &ProjectSettings) -> Result<(), String> {
        check(settings)?;
        self.add_project(here, settings)?;
        self.add_switches(here, settings)?;
        self.add_answers(here, settings)?;
        self.add_agents(here, settings)?;
        self.add_servers(here, settings)?;
        let kept = here.before.iter().flat_map(|before| &before.secrets).collect::<BTreeSet<_>>();
        let named = settings.servers.iter().flat_map(server_check::secrets);
        let missing = settings.secrets.iter().cloned().chain(named).filter(|name| !kept.contains(name));
        self.missing.extend(missing.map(|name| (settings.id.clone(), name)));
        Ok(())
    }

    /// Notes what becomes of something, and says whether it has to be written.
    fn note(&mut self, settings: &ProjectSettings, kind: &'static str, name: &str, state: Fate) -> bool {
        let (project, name) = (settings.id.clone(), name.to_owned());
        self.lines.push(Line { project, kind, name, state, means: None, why: None });
        matches!(state, Fate::New | Fate::Changed)
    }

    /// Says what the last one lets happen.
    fn explain(&mut self, means: String) {
        if let Some(line) = self.lines.last_mut() {
            line.means = Some(means);
        }
    }

    fn skip(&mut self, settings: &ProjectSettings, kind: &'static str, name: &str, why: String) {
        let (project, name) = (settings.id.clone(), name.to_owned());
        self.lines.push(Line { project, kind, name, state: Fate::Skipped, means: None, why: Some(why) });
    }

    fn add_project(&mut self, here: &Here<'_>, settings: &ProjectSettings) -> Result<(), String> {
        let id = settings.id.as_str();
        let is_local = id == LOCAL_PROJECT;
        if !is_local {
            check_project_id(id)?;
        }
        check_name(&settings.name).map_err(|problem| format!("project `{id}`: {problem}"))?;
        // The project of this machine always has its tools.
        let host_tools = settings.host_tools || is_local;
        let new = (settings.name.as_str(), host_tools);
        let state = fate(here.before.map(|before| (before.name.as_str(), before.host_tools)), &new);
        if self.note(settings, "project", id, state) {
            let (id, name) = (settings.id.clone(), settings.name.clone());
            self.batch.project(ProjectRecord { id, name, host_tools, created_at: here.now });
            if host_tools {
                self.explain("it may use the tools that reach into this machine".to_owned());
            }
        }
        Ok(())
    }

    fn add_switches(&mut self, here: &Here<'_>, settings: &ProjectSettings) -> Result<(), String> {
        type Switches = BTreeMap<String, SwitchState>;
        let empty = Switches::new();
        let before = |of: fn(&ProjectSettings) -> &Switches| here.before.map_or(&empty, of);
        let kinds = [
            ("tool", &settings.tools, before(|before| &before.tools)),
            ("feature", &settings.features, before(|before| &before.features)),
        ];
        for (kind, wanted, before) in kinds {
            for (name, state) in wanted {
                if name.is_empty() || name.chars().count() > NAME_CHARS || name.chars().any(char::is_control)
                {
                    return Err(format!("no {kind} is called `{}`", name.escape_debug()));
                }
                if self.note(settings, kind, name, fate(before.get(name), state)) {
                    self.explain(format!("switched {}", state.as_str()));
                    match kind {
                        "tool" => self.batch.tool_toggle(&settings.id, name, *state),
                        _ => self.batch.feature_switch(&settings.id, name, *state),
                    }
                }
            }
        }
        Ok(())
    }

    fn add_answers(&mut self, here: &Here<'_>, settings: &ProjectSettings) -> Result<(), String> {
        for answer in &settings.answers {
            let id = answer.id.as_str();
            if answer.scope.project != settings.id {
                let other = &answer.scope.project;
                return Err(format!("the answer `{id}` of the project `{}` is about `{other}`", settings.id));
            }
            if let Some(other) = here.homes.get(&answer.id).filter(|home| **home != settings.id) {
                return Err(format!(
                    "the answer `{id}` of the project `{}` has the id of one of `{other}`; take it out of the document",
                    settings.id
                ));
            }
            if let Err(error) = Rule::new(rule_text_of(answer)) {
                return Err(format!("the answer `{id}` cannot be read: {:#}", anyhow::Error::new(error)));
            }
            if answer.thread.is_some() {
                self.skip(
                    settings,
                    "answer",
                    id,
                    "it holds in one conversation of another toolroom".to_owned(),
                );
                continue;
            }
            if answer.when.as_ref().is_some_and(|when| here.redactor.redact_text(when) != *when) {
                return Err(format!("the condition of the answer `{id}` holds a secret"));
            }
            let same = |before: &&StandingAnswer| before.id == answer.id;
            let before = here.before.and_then(|before| before.answers.iter().find(same));
            let fate = fate(before, answer);
            // At a question here it would not be taken, whatever was said elsewhere.
            if let (Fate::New | Fate::Changed, Err(error)) = (fate, here.app.room.check_answer(answer)) {
                let why = match here.app.room.catalog().find(&settings.id, &answer.tool) {
                    Ok(_) => error.to_string(),
                    Err(_) => format!(
                        "there is no `{}` here to say yes to; import this again once there is",
                        answer.tool
                    ),
                };
                self.skip(settings, "answer", id, why);
                continue;
            }
            if self.note(settings, "answer", id, fate) {
                self.batch.answer(answer.clone());
                let when = answer.when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
                let lifts = answer.lifts.as_ref().map(|rule| format!(", whatever `{rule}` says"));
                let lifts = lifts.unwrap_or_default();
                self.explain(format!("{} {}{when}{lifts}", answer.effect.as_str(), answer.tool));
            }
        }
        Ok(())
    }

    fn add_agents(&mut self, here: &Here<'_>, settings: &ProjectSettings) -> Result<(), String> {
        for agent in &settings.agents {
            let id = agent.id.as_str();
            check_agent(agent).map_err(|problem| format!("the agent `{id}`: {problem}"))?;
            let holds_secret = |text: &str| here.redactor.redact_text(text) != text;
            let mut texts = [&agent.name, &agent.prompt].into_iter().chain(&agent.models);
            if texts.any(|text| holds_secret(text)) {
                return Err(format!("the name, the prompt or a model of the agent `{id}` holds a secret"));
            }
            if let Err(written) = refuse_written(here.app, id) {
                self.skip(settings, "agent", id, written.to_string());
                continue;
            }
            let before =
                here.before.and_then(|before| before.agents.iter().find(|before| before.id == agent.id));
            if self.note(settings, "agent", id, fate(before, agent)) {
                let mut prompt: String = agent.prompt.chars().take(PROMPT_CHARS).collect();
                if prompt.len() < agent.prompt.len() {
                    prompt.push('…');
                }
                self.explain(format!("its prompt: {prompt}"));
                self.batch.agent(&settings.id, agent).map_err(|error| error.to_string())?;
            }
        }
        Ok(())
    }

    fn add_servers(&mut self, here: &Here<'_>, settings: &ProjectSettings) -> Result<(), String> {
        for server in &settings.servers {
            let name = server.name.as_str();
            let checked = server_check::check(server).and_then(|()| here.stored.check(&server.transport));
            checked.map_err(|problem| format!("the server `{name}`: {problem}"))?;
            let before =
                here.before.and_then(|before| before.servers.iter().find(|before| before.name == name));
            let known = before.filter(|before| before.transport == server.transport);
            // What is started or asked anew is switched on by a person, who also says what its tools do. When somebody last
            // said something about it is not what they said.
            let wanted = |changed_at: Timestamp| ServerRecord {
                changed_at,
                is_enabled: server.is_enabled && known.is_some_and(|known| known.is_enabled),
                traits: known.map(|known| known.traits.clone()).unwrap_or_default(),
                ..server.clone()
            };
            let state = fate(before, &wanted(before.map_or(here.now, |before| before.changed_at)));
            if self.note(settings, "server", name, state) {
                let wanted = wanted(here.now);
                self.explain(server_check::target(&wanted));
                self.batch.server(&settings.id, entry(before, wanted));
            }
        }
        Ok(())
    }
}

/// What is here before, and how it is looked at.
struct Here<'a> {
    app: &'a App,
    /// What is set in the project; nothing where there is none.
    before: Option<&'a ProjectSettings>,
    redactor: &'a Redactor,
    stored: &'a StoredSecrets,
    now: Timestamp,
    /// Whose the standing answers are that are here, or come first in the document.
    homes: &'a BTreeMap<AnswerId, ProjectId>,
}

/// An id belongs to one project: an answer of another one would change nothing, and be lost.
async fn homes(app: &App, document: &SettingsDocument) -> anyhow::Result<BTreeMap<AnswerId, ProjectId>> {
    let mut homes = BTreeMap::new();
    for project in projects(&app.store).await? {
        let standing = app.room.switchboard().standing(&project.id).await?;
        homes.extend(standing.answers.iter().map(|answer| (answer.id.clone(), project.id.clone())));
    }
    for settings in &document.projects {
        for answer in &settings.answers {
            homes.entry(answer.id.clone()).or_insert_with(|| settings.id.clone());
        }
    }
    Ok(homes)
}

fn fate<T: PartialEq + ?Sized>(before: Option<impl std::borrow::Borrow<T>>, wanted: &T) -> Fate {
    match before {
        None => Fate::New,
        Some(before) if before.borrow() == wanted => Fate::Same,
        Some(_) => Fate::Changed,
    }
}
