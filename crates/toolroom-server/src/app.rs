//! The composition root: the only place where kernel, store, host and tools are joined.

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

use crate::all_tools::{CatalogDependencies, full_catalog};
use crate::calendar::{self, ConfiguredCalendar};
use crate::config::{
    CompiledConfig, Config, FileKeys, Folder, LoadedConfig, LocationKeys, PolicyKeys, Sources, Trust,
};
use crate::database::{
    DATABASE, LockedStore, open_store, open_store_with_write_ahead, replay_orphaned_files,
};
use crate::doctor::Doctor;
use crate::gateway::gateway;
use crate::host_tools::HostTools;
use crate::metrics::Metrics;
use crate::models::keys_of_variables;
use crate::own_files::own_files;
use crate::search::{self, ConfiguredEngines};
use crate::vault::{RedactedValues, Vault};

/// The input history of `chat`, in the data folder.
pub(crate) const CHAT_HISTORY: &str = "chat_history";

/// The home folder of commands, in the data folder.
pub(crate) const COMMANDS_HOME: &str = "home";

/// How often background tasks run, such as ending the programs of conversations that another process deleted.
const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(5);

/// How long shutdown waits for background programs and MCP servers. A single server has less time.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the process uses a toolroom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessLifetime {
    /// For one command: no program keeps running.
    OneCommand,
    /// For a session or as a server: background programs are supported.
    LongRunning,
}

/// An open toolroom.
pub struct App {
    /// Calls every tool.
    pub room: Toolroom,
    /// Journal, artifacts, questions and settings.
    pub store: Store,
    /// Secrets and the master key.
    pub vault: Arc<Vault>,
    /// The configuration, and where each value comes from.
    pub config: LoadedConfig,
    pub sources: Sources,
    pub folders: Folders,
    /// Shells and programs that outlive a call.
    conversation_resources: Arc<ConversationResources>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) host_tools: HostTools,
    /// MCP servers and their tools.
    pub(crate) gateway: Arc<Gateway>,
    /// Egress rules for all tools.
    pub(crate) openings: Vec<EgressRule>,
    pub(crate) checkup: Arc<dyn Checkup>,
    /// Keeps a restore from replacing the open database.
    _lock: FolderLock,
}

impl App {
    /// Opens the user's toolroom. Tools that start programs do so through the running program itself, which has to call
    /// [`crate::run`], or [`toolroom_host::process::helper_main`] when its first argument says so. `flags` are settings
    /// from the command line, `register` adds an embedder's own tools.
    pub async fn open(
        flags: &[String],
        lifetime: ProcessLifetime,
        register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
    ) -> anyhow::Result<Self> {
        Self::open_in(Folders::from_environment()?, flags, lifetime, register).await
    }

    /// Opens the toolroom of these folders, like [`App::open`].
    pub async fn open_in(
        folders: Folders,
        flags: &[String],
        lifetime: ProcessLifetime,
        register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
    ) -> anyhow::Result<Self> {
        let sources = Sources::find(&folders);
        let read = sources.read()?;
        // Errors do not depend on trust, so they are reported before anything is opened or created.
        let mut compiled = CompiledConfig::of(&read.layers(Trust::Missing, flags))?;
        let LockedStore { store, lock: place } = match lifetime {
            ProcessLifetime::LongRunning => open_store_with_write_ahead(&folders).await?,
            ProcessLifetime::OneCommand => open_store(&folders).await?,
        };
        let trust = read.trust(&store).await?;
        if trust == Trust::Given {
            compiled = CompiledConfig::of(&read.layers(trust, flags))?;
        }
        let CompiledConfig { loaded: config, policy, limits, openings } = compiled;
        let vault = Arc::new(Vault::new(folders.clone(), store.clone(), redacted_values(&config)));
        let storage = Arc::new(store.clone());
        let file = FileId::from_path(&folders.data.join(DATABASE)).ok().flatten();
        let checkup: Arc<dyn Checkup> = Arc::new(Doctor::for_running(&folders, flags, &store, file));
        let supervisor = Supervisor::new(environment::own_program());
        let conversation_resources =
            ConversationResources::new(Shells::new(supervisor.clone(), Interpreter::detect()));
        let conversation_resources = Arc::new(match lifetime {
            ProcessLifetime::LongRunning => conversation_resources
                .with_programs(Background::new(supervisor), Arc::clone(&storage) as _)
                .with_conversations(Arc::clone(&storage) as _),
            ProcessLifetime::OneCommand => conversation_resources,
        });
        let files = Arc::new(projects(&folders, &config.config)?);
        let everywhere = openings.everywhere().to_vec();
        let commands = command_policy(&folders, &config.config.policy);
        let disk_bytes = commands.disk_bytes;
        let dependencies = CatalogDependencies {
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
        let (catalog, host_tools) = full_catalog(Arc::clone(&storage), limits, dependencies, register)?;
        let host_tools = HostTools::new(host_tools, store.clone());
        let gateway = Arc::new(gateway(&folders, &files, &store, &vault, &catalog, &everywhere, disk_bytes));
        gateway.reconcile().await?;
        for UnreadableServer { name, why } in store.unreadable(&ProjectId::default()).await? {
            tracing::warn!(server = name, why, "skipping an MCP server whose entry cannot be read");
        }
        if lifetime == ProcessLifetime::LongRunning {
            tokio::spawn(maintain(Arc::downgrade(&conversation_resources), store.clone(), folders.clone()));
            tokio::spawn(maintain_servers(Arc::downgrade(&gateway), gateway.outdated()));
        }
        let metrics = Metrics::new();
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
            .observer(metrics.observer())
            .build();
        Ok(Self {
            room,
            store,
            vault,
            config,
            sources,
            folders,
            conversation_resources,
            metrics,
            host_tools,
            gateway,
            openings: everywhere,
            checkup,
            _lock: place,
        })
    }

    /// The memories of users.
    #[must_use]
    pub fn memories(&self) -> &dyn Memories {
        &self.store
    }

    /// The stored agents.
    #[must_use]
    pub fn agents(&self) -> &dyn Agents {
        &self.store
    }

    /// Deletes a conversation and ends its shell and background programs. Another process ends its own programs of the
    /// conversation with its next maintenance. Returns whether the conversation existed.
    ///
    /// # Errors
    /// When a run is active in it, or the database fails.
    pub async fn delete_conversation(&self, scope: &Scope, id: &ConversationId) -> Result<bool, StepError> {
        let is_deleted = self.store.delete_conversation(scope, id).await?;
        if is_deleted {
            self.conversation_resources.close(&scope.project, id.as_str()).await?;
        }
        Ok(is_deleted)
    }

    /// Writes what is queued and closes the database, the network and MCP servers. Call it last, when all work has ended.
    ///
    /// # Errors
    /// When the last write fails.
    pub async fn close(&self) -> anyhow::Result<()> {
        self.conversation_resources.close_proxies();
        let shutdown = async {
            self.gateway.close().await;
            self.conversation_resources.maintain().await
        };
        match tokio::time::timeout(SHUTDOWN_TIMEOUT, shutdown).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot store how background programs ended"),
            Err(_) => tracing::warn!("MCP servers or background programs did not end in time"),
        }
        Ok(self.store.shutdown().await?)
    }
}

/// Maintains background programs, and adopts the work of dead processes, until the app is dropped.
async fn maintain(conversation_resources: Weak<ConversationResources>, store: Store, folders: Folders) {
    loop {
        tokio::time::sleep(MAINTENANCE_INTERVAL).await;
        let Some(conversation_resources) = conversation_resources.upgrade() else { return };
        if let Err(error) = conversation_resources.maintain().await {
            tracing::debug!(%error, "maintenance of background programs failed, trying again later");
        }
        drop(conversation_resources);
        replay_orphaned_files(&store, &folders).await;
    }
}

/// Maintains MCP servers, immediately when a call finds that one has changed.
async fn maintain_servers(gateway: Weak<Gateway>, outdated: Arc<Notify>) {
    loop {
        drop(tokio::time::timeout(MAINTENANCE_INTERVAL, outdated.notified()).await);
        let Some(gateway) = gateway.upgrade() else { return };
        if let Err(error) = gateway.maintain().await {
            tracing::debug!(%error, "maintenance of MCP servers failed, trying again later");
        }
    }
}

fn redacted_values(config: &LoadedConfig) -> RedactedValues {
    let keys = &config.config.redaction;
    let variables = match keys.environment {
        true => environment::secret_variables(),
        false => Vec::new(),
    };
    // The key of a vendor is a secret even if the name of its variable does not look like one.
    let mut values = keys_of_variables(&config.config);
    values.extend(search::keys_of_variables(&config.config.search));
    values.extend(calendar::password_of_variable(&config.config.calendar));
    values.extend(variables.into_iter().map(|(name, value)| Secret::new(format!("${name}"), value)));
    RedactedValues { patterns: if keys.patterns { Patterns::Keys } else { Patterns::None }, values }
}

/// The limits of commands.
fn command_policy(folders: &Folders, policy: &PolicyKeys) -> CommandPolicy {
    CommandPolicy {
        judged: policy.judging(),
        profile: policy.exec_sandbox.0.clone(),
        disk_bytes: policy.disk_bytes(),
        hidden: vec![folders.config.clone(), folders.data.clone()],
        home: Some(folders.data.join(COMMANDS_HOME)),
    }
}

/// The location service.
fn location(keys: &LocationKeys) -> LocationService {
    LocationService {
        locator: keys.provider,
        url: keys.url.as_ref().map(|url| url.as_str().to_owned()),
        opening: keys.url.as_ref().and_then(|url| url.opening().cloned()),
    }
}

/// The workspaces of all projects, not yet opened.
pub(crate) fn projects(folders: &Folders, config: &Config) -> anyhow::Result<Projects> {
    let home = environment::path_variable("HOME");
    let mut projects = Projects::new(folders, LOCAL_PROJECT, own_files(folders)).with_home(home);
    let path = |folder: &Folder| {
        folder
            .path()
            .with_context(|| format!("cannot find `{folder}`: HOME is not set; use an absolute path"))
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

/// The catalog without dependencies, for listing tools.
pub(crate) fn catalog<S: Artifacts + Journal + Switchboard + 'static>(
    storage: Arc<S>,
    limits: Vec<LimitRule>,
    register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
) -> anyhow::Result<Arc<Catalog>> {
    Ok(full_catalog(storage, limits, CatalogDependencies::default(), register)?.0)
}
