//! The changes of an import, planned before anything is written.

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
use super::export::project_settings;
use super::server_check;
use crate::agents::{check as check_agent, check_not_configured};
use crate::app::App;
use crate::gateway::{StoredSecrets, entry};
use crate::identity::{check_name, check_project_id, project, projects};

/// Longer prompts are cut for display.
const PROMPT_CHARS: usize = 200;

const NAME_CHARS: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ImportState {
    New,
    Changed,
    Same,
    Skipped,
}

impl ImportState {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
            Self::Skipped => "skipped",
        }
    }
}

/// An item of a document, and how the import changes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ImportItem {
    pub(crate) project: ProjectId,
    /// Project, tool, feature, answer, agent or server.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) state: ImportState,
    /// Its effect, for the person who confirms the import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) means: Option<String>,
    /// Why it is skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
}

/// All changes.
#[derive(Debug, Default)]
pub(crate) struct ImportPlan {
    pub(crate) lines: Vec<ImportItem>,
    /// Secrets that are named but not stored here.
    pub(crate) missing: BTreeSet<(ProjectId, String)>,
    pub(crate) batch: SettingsBatch,
}

impl ImportPlan {
    /// Plans the import of a document. The inner error is what is wrong with it.
    pub(crate) async fn new(app: &App, document: &SettingsDocument) -> anyhow::Result<Result<Self, String>> {
        let mut plan = Self::default();
        let mut seen = BTreeSet::new();
        let answer_projects = answer_projects(app, document).await?;
        for settings in &document.projects {
            if !seen.insert(&settings.id) {
                return Ok(Err(format!("the project `{}` is in it twice", settings.id)));
            }
            let before = match project(&app.store, settings.id.as_str()).await? {
                Some(project) => Some(project_settings(app, project).await?),
                None => None,
            };
            let revision = app.room.switchboard().standing(&settings.id).await?.revision;
            let redactor = app.vault.redactor(&settings.id, revision).await?;
            let now = app.room.clock().now();
            let stored = StoredSecrets::load(&app.vault, &settings.id).await?;
            let context = ProjectContext {
                app,
                before: before.as_ref(),
                redactor: &redactor,
                stored: &stored,
                now,
                answer_projects: &answer_projects,
            };
            if let Err(problem) = plan.add(&context, settings) {
                return Ok(Err(problem));
            }
        }
        Ok(Ok(plan))
    }

    fn add(&mut self, context: &ProjectContext<'_>, settings: &ProjectSettings) -> Result<(), String> {
        check(settings)?;
        self.add_project(context, settings)?;
        self.add_switches(context, settings)?;
        self.add_answers(context, settings)?;
        self.add_agents(context, settings)?;
        self.add_servers(context, settings)?;
        let kept = context.before.iter().flat_map(|before| &before.secrets).collect::<BTreeSet<_>>();
        let named = settings.servers.iter().flat_map(server_check::secrets);
        let missing = settings.secrets.iter().cloned().chain(named).filter(|name| !kept.contains(name));
        self.missing.extend(missing.map(|name| (settings.id.clone(), name)));
        Ok(())
    }

    /// Adds an item. Returns whether it must be written.
    fn note(
        &mut self,
        settings: &ProjectSettings,
        kind: &'static str,
        name: &str,
        state: ImportState,
    ) -> bool {
        let (project, name) = (settings.id.clone(), name.to_owned());
        self.lines.push(ImportItem { project, kind, name, state, means: None, why: None });
        matches!(state, ImportState::New | ImportState::Changed)
    }

    /// Adds the effect of the last item.
    fn explain(&mut self, means: String) {
        if let Some(line) = self.lines.last_mut() {
            line.means = Some(means);
        }
    }

    fn skip(&mut self, settings: &ProjectSettings, kind: &'static str, name: &str, why: String) {
        let (project, name) = (settings.id.clone(), name.to_owned());
        self.lines.push(ImportItem {
            project,
            kind,
            name,
            state: ImportState::Skipped,
            means: None,
            why: Some(why),
        });
    }

    fn add_project(
        &mut self,
        context: &ProjectContext<'_>,
        settings: &ProjectSettings,
    ) -> Result<(), String> {
        let id = settings.id.as_str();
        let is_local = id == LOCAL_PROJECT;
        if !is_local {
            check_project_id(id)?;
        }
        check_name(&settings.name).map_err(|problem| format!("project `{id}`: {problem}"))?;
        // The project `local` always has host tools.
        let host_tools = settings.host_tools || is_local;
        let new = (settings.name.as_str(), host_tools);
        let state = state_of(context.before.map(|before| (before.name.as_str(), before.host_tools)), &new);
        if self.note(settings, "project", id, state) {
            let (id, name) = (settings.id.clone(), settings.name.clone());
            self.batch.project(ProjectRecord { id, name, host_tools, created_at: context.now });
            if host_tools {
                self.explain("it may use host tools".to_owned());
            }
        }
        Ok(())
    }

    fn add_switches(
        &mut self,
        context: &ProjectContext<'_>,
        settings: &ProjectSettings,
    ) -> Result<(), String> {
        type Switches = BTreeMap<String, SwitchState>;
        let empty = Switches::new();
        let before = |of: fn(&ProjectSettings) -> &Switches| context.before.map_or(&empty, of);
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
                if self.note(settings, kind, name, state_of(before.get(name), state)) {
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

    fn add_answers(
        &mut self,
        context: &ProjectContext<'_>,
        settings: &ProjectSettings,
    ) -> Result<(), String> {
        for answer in &settings.answers {
            let id = answer.id.as_str();
            if answer.scope.project != settings.id {
                let other = &answer.scope.project;
                return Err(format!("the answer `{id}` of the project `{}` is about `{other}`", settings.id));
            }
            if let Some(other) = context.answer_projects.get(&answer.id).filter(|home| **home != settings.id)
            {
                return Err(format!(
                    "the answer `{id}` of the project `{}` has the id of one of `{other}`; remove it from the document",
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
                    "it belongs to a conversation of another toolroom".to_owned(),
                );
                continue;
            }
            if answer.when.as_ref().is_some_and(|when| context.redactor.redact_text(when) != *when) {
                return Err(format!("the condition of the answer `{id}` holds a secret"));
            }
            let same = |before: &&StandingAnswer| before.id == answer.id;
            let before = context.before.and_then(|before| before.answers.iter().find(same));
            let state = state_of(before, answer);
            // An answer that no question here would accept is not imported.
            if let (ImportState::New | ImportState::Changed, Err(error)) =
                (state, context.app.room.check_answer(answer))
            {
                let why = match context.app.room.catalog().find(&settings.id, &answer.tool) {
                    Ok(_) => error.to_string(),
                    Err(_) => format!(
                        "there is no `{}` here to say yes to; import this again once there is",
                        answer.tool
                    ),
                };
                self.skip(settings, "answer", id, why);
                continue;
            }
            if self.note(settings, "answer", id, state) {
                self.batch.answer(answer.clone());
                let when = answer.when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
                let lifts = answer.lifts.as_ref().map(|rule| format!(", regardless of `{rule}`"));
                let lifts = lifts.unwrap_or_default();
                self.explain(format!("{} {}{when}{lifts}", answer.effect.as_str(), answer.tool));
            }
        }
        Ok(())
    }

    fn add_agents(&mut self, context: &ProjectContext<'_>, settings: &ProjectSettings) -> Result<(), String> {
        for agent in &settings.agents {
            let id = agent.id.as_str();
            check_agent(agent).map_err(|problem| format!("the agent `{id}`: {problem}"))?;
            let holds_secret = |text: &str| context.redactor.redact_text(text) != text;
            let mut texts = [&agent.name, &agent.prompt].into_iter().chain(&agent.models);
            if texts.any(|text| holds_secret(text)) {
                return Err(format!("the name, the prompt or a model of the agent `{id}` holds a secret"));
            }
            if let Err(written) = check_not_configured(context.app, id) {
                self.skip(settings, "agent", id, written.to_string());
                continue;
            }
            let before =
                context.before.and_then(|before| before.agents.iter().find(|before| before.id == agent.id));
            if self.note(settings, "agent", id, state_of(before, agent)) {
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

    fn add_servers(
        &mut self,
        context: &ProjectContext<'_>,
        settings: &ProjectSettings,
    ) -> Result<(), String> {
        for server in &settings.servers {
            let name = server.name.as_str();
            let checked = server_check::check(server).and_then(|()| context.stored.check(&server.transport));
            checked.map_err(|problem| format!("the server `{name}`: {problem}"))?;
            let before =
                context.before.and_then(|before| before.servers.iter().find(|before| before.name == name));
            let known = before.filter(|before| before.transport == server.transport);
            // A new server is enabled by the operator, who also declares what its tools do. The time of the last change is
            // not a change.
            let wanted = |changed_at: Timestamp| ServerRecord {
                changed_at,
                is_enabled: server.is_enabled && known.is_some_and(|known| known.is_enabled),
                traits: known.map(|known| known.traits.clone()).unwrap_or_default(),
                ..server.clone()
            };
            let state = state_of(before, &wanted(before.map_or(context.now, |before| before.changed_at)));
            if self.note(settings, "server", name, state) {
                let wanted = wanted(context.now);
                self.explain(server_check::target(&wanted));
                self.batch.server(&settings.id, entry(before, wanted));
            }
        }
        Ok(())
    }
}

/// A project as it is now, and what the plan needs to compare it.
struct ProjectContext<'a> {
    app: &'a App,
    /// Its settings. `None` for a new project.
    before: Option<&'a ProjectSettings>,
    redactor: &'a Redactor,
    stored: &'a StoredSecrets,
    now: Timestamp,
    /// The projects of standing answers, stored or first in the document.
    answer_projects: &'a BTreeMap<AnswerId, ProjectId>,
}

/// An answer id belongs to one project: the same id in another project would be lost.
async fn answer_projects(
    app: &App,
    document: &SettingsDocument,
) -> anyhow::Result<BTreeMap<AnswerId, ProjectId>> {
    let mut answer_projects = BTreeMap::new();
    for project in projects(&app.store).await? {
        let standing = app.room.switchboard().standing(&project.id).await?;
        answer_projects.extend(standing.answers.iter().map(|answer| (answer.id.clone(), project.id.clone())));
    }
    for settings in &document.projects {
        for answer in &settings.answers {
            answer_projects.entry(answer.id.clone()).or_insert_with(|| settings.id.clone());
        }
    }
    Ok(answer_projects)
}

fn state_of<T: PartialEq + ?Sized>(before: Option<impl std::borrow::Borrow<T>>, wanted: &T) -> ImportState {
    match before {
        None => ImportState::New,
        Some(before) if before.borrow() == wanted => ImportState::Same,
        Some(_) => ImportState::Changed,
    }
}
