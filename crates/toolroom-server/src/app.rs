//! The composition root: here, and nowhere else, kernel, store, host and tools are put together.

use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context;
use tokio::sync::Notify;
use toolroom::Toolroom;
use toolroom::agent::Agents;
use toolroom::catalog::{Catalog, LimitRule, RegisterError};
use toolroom::clock::SystemClock;
use toolroom::conversation::{ConversationId, Conversations, StepError};
use toolroom::foreign::{ForeignServers, UnreadableServer};
use toolroom::ledger::{Artifacts, Journal, Switchboard};
use toolroom::memory::Memories;
use toolroom::redact::{Patterns, Secret};
use toolroom::scope::{LOCAL_PROJECT, ProjectId, Scope};
use toolroom_host::background::Background;
use toolroom_host::environment;
use toolroom_host::files::{Access, Projects};
use toolroom_host::folder_lock::FolderLock;
use toolroom_host::folders::Folders;
use toolroom_host::machine::FileId;
use toolroom_host::net::EgressRule;
use toolroom_host::process::Supervisor;
use toolroom_host::shell::{Interpreter, Shells};
use toolroom_host::ssh::SshHome;
use toolroom_store::Store;
use toolroom_tools::builtin::doctor::Checkup;
use toolroom_tools::builtin::get_location_from_ip::LocationService;
use toolroom_tools::builtin::shell::{CommandPolicy, ConversationResources};
use toolroom_tools::mcp::Gateway;

use crate::all_tools::{Doors, full_catalog};
use crate::calendar::{self, ConfiguredCalendar};
use crate::config::{
    CompiledConfig, Config, FileKeys, Folder, LoadedConfig, LocationKeys, PolicyKeys, Sources, Trust,
};
use crate::database::{
    DATABASE, LockedStore, open_store, open_store_with_write_ahead, replay_orphaned_files,
};
use crate::doctor::Doctor;
use crate::gateway::gateway;
use crate::machine::Machine;
use crate::metrics::Figures;
use crate::models::keys_of_variables;
use crate::own_files::own_files;
use crate::search::{self, ConfiguredEngines};
use crate::vault::{Hides, Vault};

/// What was said at the terminal, inside the data folder.
pub(crate) const CHAT_HISTORY: &str = "chat_history";

/// The home of commands inside the data folder, which is not that of the user.
pub(crate) const COMMANDS_HOME: &str = "home";

/// How often somebody looks whether a conversation was deleted by another process, and its programs have to end.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How long the end of everything waits for what outlives calls. Each server has less than that for itself.
const LAST_LOOKS: Duration = Duration::from_secs(5);

/// How long whoever opens a toolroom stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// For one command: nothing can be left running.
    Short,
    /// Until somebody leaves, who can look after what runs meanwhile.
    Long,
}

/// A running toolroom: its calls, and what is behind them.
pub struct App {
    /// The one door to every tool.
    pub room: Toolroom,
    /// Journal, artifacts, questions and settings.
    pub store: Store,
    /// Secrets and the master key.
    pub vault: Arc<Vault>,
    /// The configuration, and where each value comes from.
    pub config: LoadedConfig,
    /// Where its files are.
    pub sources: Sources,
    /// Where everything is kept.
    pub folders: Folders,
    /// Shells and programs that outlive a call.
    conversation_resources: Arc<ConversationResources>,
    /// What is counted while it stays.
    pub(crate) figures: Arc<Figures>,
    /// The tools that reach into this machine.
    pub(crate) machine: Machine,
    /// Other servers, and their tools.
    pub(crate) gateway: Arc<Gateway>,
    /// What everything may reach in private networks.
    pub(crate) openings: Vec<EgressRule>,
    /// Who can examine it.
    pub(crate) checkup: Arc<dyn Checkup>,
    /// As long as the store is open, nobody puts another database in its place.
    _place: FolderLock,
}

impl App {
    /// Opens the user's toolroom. Tools that start programs do so through the running program itself, which has to call
    /// [`crate::run`], or [`toolroom_host::process::helper_main`] when its first argument says so. `flags` are settings
    /// from the command line, `register` adds an embedder's own tools.
    pub async fn open(
        flags: &[String],
        stay: Stay,
        register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
    ) -> anyhow::Result<Self> {
        Self::open_in(Folders::from_environment()?, flags, stay, register).await
    }

    /// Opens the toolroom of these folders, like [`App::open`].
    pub async fn open_in(
        folders: Folders,
        flags: &[String],
        stay: Stay,
        register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
    ) -> anyhow::Result<Self> {
        let sources = Sources::find(&folders);
        let read = sources.read()?;
        // What is wrong does not depend on trust, so it is told before anything is opened or made.
        let mut compiled = CompiledConfig::of(&read.layers(Trust::Missing, flags))?;
        let LockedStore { store, lock: place } = match stay {
            Stay::Long => open_store_with_write_ahead(&folders).await?,
            Stay::Short => open_store(&folders).await?,
        };
        let trust = read.trust(&store).await?;
        if trust == Trust::Given {
            compiled = CompiledConfig::of(&read.layers(trust, flags))?;
        }
        let CompiledConfig { loaded: config, policy, limits, openings } = compiled;
        let vault = Arc::new(Vault::new(folders.clone(), store.clone(), hides(&config)));
        let storage = Arc::new(store.clone());
        let file = FileId::from_path(&folders.data.join(DATABASE)).ok().flatten();
        let checkup: Arc<dyn Checkup> = Arc::new(Doctor::for_running(&folders, flags, &store, file));
        let supervisor = Supervisor::new(environment::own_program());
        let conversation_resources =
            ConversationResources::new(Shells::new(supervisor.clone(), Interpreter::detect()));
        let conversation_resources = Arc::new(match stay {
            Stay::Long => conversation_resources
                .with_programs(Background::new(supervisor), Arc::clone(&storage) as _)
                .with_conversations(Arc::clone(&storage) as _),
            Stay::Short => conversation_resources,
        });
        let files = Arc::new(projects(&folders, &config.config)?);
        let everywhere = openings.everywhere().to_vec();
        let commands = command_policy(&folders, &config.config.policy);
        let disk_bytes = commands.disk_bytes;
        let doors = Doors {
            checkup: Some(Arc::clone(&checkup)),
            files: Some(Arc::clone(&files)),
            memories: Some(Arc::clone(&storage) as _),
            spending: Some(Arc::clone(&storage) as _),
            conversation_resources: Some(Arc::clone(&conversation_resources)),
            ssh: Some(Arc::new(SshHome::new(&folders.data.join(COMMANDS_HOME)))),
            commands,
            openings,
            engines: Some(Arc::new(ConfiguredEngines::new(config.config.search.clone(), Arc::clone(&vault)))),
            location: location(&config.config.location),
            calendars: Some(Arc::new(ConfiguredCalendar::new(
                config.config.calendar.clone(),
                Arc::clone(&vault),
            ))),
        };
        let (catalog, machine) = full_catalog(Arc::clone(&storage), limits, doors, register)?;
        let machine = Machine::new(machine, store.clone());
        let gateway = Arc::new(gateway(&folders, &files, &store, &vault, &catalog, &everywhere, disk_bytes));
        gateway.reconcile().await?;
        for UnreadableServer { name, why } in store.unreadable(&ProjectId::default()).await? {
            tracing::warn!(server = name, why, "the entry of a server cannot be read, and it is not used");
        }
        if stay == Stay::Long {
            tokio::spawn(maintain(Arc::downgrade(&conversation_resources), store.clone(), folders.clone()));
            tokio::spawn(look_after_servers(Arc::downgrade(&gateway), gateway.outdated()));
        }
        let figures = Figures::new();
        let room = Toolroom::builder(storage)
            .catalog(catalog)
            .policy(policy)
            .memories(Arc::new(store.clone()))
            .file_provenance(config.config.policy.provenance.of_files())
            .direct_calls_count_for(config.config.policy.provenance.direct_calls.duration())
            .approval_lifetime(config.config.policy.approval_expires.duration())
            .seal(Arc::clone(&vault) as _)
            .redactions(Arc::clone(&vault) as _)
            .clock(Arc::new(SystemClock))
            .observer(figures.observer())
            .build();
        Ok(Self {
            room,
            store,
            vault,
            config,
            sources,
            folders,
            conversation_resources,
            figures,
            machine,
            gateway,
            openings: everywhere,
            checkup,
            _place: place,
        })
    }

    /// What is remembered of users.
    #[must_use]
    pub fn memories(&self) -> &dyn Memories {
        &self.store
    }

    /// The agents that people made.
    #[must_use]
    pub fn agents(&self) -> &dyn Agents {
        &self.store
    }

    /// Deletes a conversation, ends its shell and its programs in the background, and forgets what was opened to them.
    /// Where another process looks after them, that one ends them when it next looks. Says whether there was a
    /// conversation.
    ///
    /// # Errors
    /// When a run is at work in it, or the database fails.
    pub async fn delete_conversation(&self, scope: &Scope, id: &ConversationId) -> Result<bool, StepError> {
        let is_deleted = self.store.delete_conversation(scope, id).await?;
        if is_deleted {
            self.conversation_resources.close(&scope.project, id.as_str()).await?;
        }
        Ok(is_deleted)
    }

    /// Writes what is queued and lets go of the database, the network and other servers. For whoever ends, and knows that
    /// nobody else works here any more.
    ///
    /// # Errors
    /// When the last write fails.
    pub async fn close(&self) -> anyhow::Result<()> {
        self.conversation_resources.close_proxies();
        let last_looks = async {
            self.gateway.close().await;
            self.conversation_resources.maintain().await
        };
        match tokio::time::timeout(LAST_LOOKS, last_looks).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "how programs in the background have ended is not kept"),
            Err(_) => tracing::warn!("other servers or programs in the background are left without a word"),
        }
        Ok(self.store.shutdown().await?)
    }
}

/// Looks after what outlives calls, and what other processes left behind, as long as somebody has it.
async fn maintain(conversation_resources: Weak<ConversationResources>, store: Store, folders: Folders) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(conversation_resources) = conversation_resources.upgrade() else { return };
        if let Err(error) = conversation_resources.maintain().await {
            tracing::debug!(%error, "what outlives calls is looked after later");
        }
        drop(conversation_resources);
        replay_orphaned_files(&store, &folders).await;
    }
}

/// Looks after other servers, and at once when a call has found that they are not what they were.
async fn look_after_servers(gateway: Weak<Gateway>, outdated: Arc<Notify>) {
    loop {
        drop(tokio::time::timeout(LOOK_EVERY, outdated.notified()).await);
        let Some(gateway) = gateway.upgrade() else { return };
        if let Err(error) = gateway.maintain().await {
            tracing::debug!(%error, "other servers are looked after later");
        }
    }
}

fn hides(config: &LoadedConfig) -> Hides {
    let keys = &config.config.redaction;
    let variables = match keys.environment {
        true => environment::secret_variables(),
        false => Vec::new(),
    };
    // A key that is sent to a vendor is a secret, whatever its variable is called.
    let mut values = keys_of_variables(&config.config);
    values.extend(search::keys_of_variables(&config.config.search));
    values.extend(calendar::password_of_variable(&config.config.calendar));
    values.extend(variables.into_iter().map(|(name, value)| Secret::new(format!("${name}"), value)));
    Hides { patterns: if keys.patterns { Patterns::Keys } else { Patterns::None }, values }
}

/// How commands are judged and confined.
fn command_policy(folders: &Folders, policy: &PolicyKeys) -> CommandPolicy {
    CommandPolicy {
        judged: policy.judging(),
        profile: policy.exec_sandbox.0.clone(),
        disk_bytes: policy.disk_bytes(),
        hidden: vec![folders.config.clone(), folders.data.clone()],
        home: Some(folders.data.join(COMMANDS_HOME)),
    }
}

/// Who is asked where this machine is.
fn location(keys: &LocationKeys) -> LocationService {
    LocationService {
        locator: keys.provider,
        url: keys.url.as_ref().map(|url| url.as_str().to_owned()),
        opening: keys.url.as_ref().and_then(|url| url.opening().cloned()),
    }
}

/// The workspaces of all projects. Opens nothing.
pub(crate) fn projects(folders: &Folders, config: &Config) -> anyhow::Result<Projects> {
    let home = environment::path_variable("HOME");
    let mut projects = Projects::new(folders, LOCAL_PROJECT, own_files(folders)).with_home(home);
    let path = |folder: &Folder| {
        folder
            .path()
            .with_context(|| format!("cannot find `{folder}`: HOME is not set; write the whole path"))
    };
    if let Some(workspace) = &config.workspace {
        projects = projects.with_workspace(path(workspace)?);
    }
    let FileKeys { read, write, programs_read } = &config.files;
    projects = projects.with_programs_read(programs_read.clone());
    for (list, access) in [(read, Access::ReadOnly), (write, Access::Writable)] {
        for folder in list {
            projects = projects.with_root(path(folder)?, access);
        }
    }
    Ok(projects)
}

/// Every tool there is, for whoever does not call them: nothing can be examined or opened from here.
pub(crate) fn catalog<S: Artifacts + Journal + Switchboard + 'static>(
    storage: Arc<S>,
    limits: Vec<LimitRule>,
    register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
) -> anyhow::Result<Arc<Catalog>> {
    Ok(full_catalog(storage, limits, Doors::default(), register)?.0)
}
