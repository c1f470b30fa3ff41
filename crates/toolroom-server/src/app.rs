//! The composition root: here, and nowhere else, kernel, store, host and tools are put together.

use std::sync::{Arc, Weak};
use std::time::Duration;

use anyhow::Context;
use toolroom::Toolroom;
use toolroom::agent::Agents;
use toolroom::catalog::{Catalog, LimitRule, RegisterError};
use toolroom::clock::SystemClock;
use toolroom::conversation::{ConversationId, Conversations, Spending, StepError};
use toolroom::ledger::{Artifacts, Journal, Switchboard};
use toolroom::memory::Memories;
use toolroom::redact::{Patterns, Secret};
use toolroom::scope::{LOCAL_PROJECT, ProjectId, Scope};
use toolroom::tool::Tool;
use toolroom_host::background::Background;
use toolroom_host::environment;
use toolroom_host::files::{Access, Projects};
use toolroom_host::folders::Folders;
use toolroom_host::machine::FileId;
use toolroom_host::occupancy::Occupancy;
use toolroom_host::process::Supervisor;
use toolroom_host::seal::KEY_FILE;
use toolroom_host::shell::{Interpreter, Shells};
use toolroom_host::ssh::SshHome;
use toolroom_store::Store;
use toolroom_tools::builtin::doctor::Checkup;
use toolroom_tools::builtin::shell::{CommandTerms, Lasting};
use toolroom_tools::builtin::web::Web;
use toolroom_tools::builtin::{self, Surroundings};
use toolroom_tools::mcp::Gateway;

use crate::config::{
    Compiled, Config, FILE_NAME, FileKeys, Folder, Loaded, Openings, PolicyKeys, Sources, Trust,
};
use crate::database::{DATABASE, NOTICE, OccupiedStore, adopt, open_busy_store, open_store};
use crate::examination::Examination;
use crate::gateway::gateway;
use crate::machine::Machine;
use crate::metrics::Figures;
use crate::models::keys_of_variables;
use crate::vault::{Hides, Vault};

/// What was said at the terminal, inside the data folder.
pub(crate) const CHAT_HISTORY: &str = "chat_history";

/// The home of commands inside the data folder, which is not that of the user.
pub(crate) const COMMANDS_HOME: &str = "home";

/// How often somebody looks whether a conversation was deleted by another process, and its programs have to end.
const LOOK_EVERY: Duration = Duration::from_secs(5);

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
    pub config: Loaded,
    /// Where its files are.
    pub sources: Sources,
    /// Where everything is kept.
    pub folders: Folders,
    /// Shells and programs that outlive a call.
    lasting: Arc<Lasting>,
    /// What is counted while it stays.
    pub(crate) figures: Arc<Figures>,
    /// The tools that reach into this machine.
    pub(crate) machine: Machine,
    /// Other servers, and their tools.
    pub(crate) gateway: Arc<Gateway>,
    /// Who can examine it.
    pub(crate) checkup: Arc<dyn Checkup>,
    /// As long as the store is open, nobody puts another database in its place.
    _place: Occupancy,
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
        let folders = Folders::from_environment()?;
        let sources = Sources::find(&folders);
        let read = sources.read()?;
        // What is wrong does not depend on trust, so it is told before anything is opened or made.
        let mut compiled = Compiled::of(&read.layers(Trust::Missing, flags))?;
        let OccupiedStore { store, place } = match stay {
            Stay::Long => open_busy_store(&folders).await?,
            Stay::Short => open_store(&folders).await?,
        };
        let trust = read.trust(&store).await?;
        if trust == Trust::Given {
            compiled = Compiled::of(&read.layers(trust, flags))?;
        }
        let Compiled { loaded: config, policy, limits, openings } = compiled;
        let vault = Arc::new(Vault::new(folders.clone(), store.clone(), hides(&config)));
        let storage = Arc::new(store.clone());
        let file = FileId::of(&folders.data.join(DATABASE)).ok().flatten();
        let checkup: Arc<dyn Checkup> = Arc::new(Examination::of_running(&folders, flags, &store, file));
        let supervisor = Supervisor::new(environment::own_program());
        let lasting = Lasting::new(Shells::new(supervisor.clone(), Interpreter::of_this_machine()));
        let lasting = Arc::new(match stay {
            Stay::Long => lasting
                .with_programs(Background::new(supervisor), Arc::clone(&storage) as _)
                .with_conversations(Arc::clone(&storage) as _),
            Stay::Short => lasting,
        });
        let files = Arc::new(projects(&folders, &config.config)?);
        let doors = Doors {
            checkup: Some(Arc::clone(&checkup)),
            files: Some(Arc::clone(&files)),
            memories: Some(Arc::clone(&storage) as _),
            spending: Some(Arc::clone(&storage) as _),
            lasting: Some(Arc::clone(&lasting)),
            ssh: Some(Arc::new(SshHome::new(&folders.data.join(COMMANDS_HOME)))),
            commands: command_terms(&folders, &config.config.policy),
            openings,
        };
        let (catalog, machine) = full_catalog(Arc::clone(&storage), limits, doors, register)?;
        let machine = Machine::new(machine, store.clone());
        let gateway = Arc::new(gateway(&folders, &files, &store, &vault, &catalog));
        gateway.settle().await?;
        if stay == Stay::Long {
            let keepers = (Arc::downgrade(&lasting), Arc::downgrade(&gateway));
            tokio::spawn(look_after(keepers.0, keepers.1, store.clone(), folders.clone()));
        }
        let figures = Figures::new();
        let room = Toolroom::builder(storage)
            .catalog(catalog)
            .policy(policy)
            .approval_lifetime(config.config.policy.approval_expires.duration())
            .seal(Arc::clone(&vault) as _)
            .redactions(Arc::clone(&vault) as _)
            .clock(Arc::new(SystemClock))
            .witness(figures.witness())
            .build();
        Ok(Self {
            room,
            store,
            vault,
            config,
            sources,
            folders,
            lasting,
            figures,
            machine,
            gateway,
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
            self.lasting.close(&scope.project, id.as_str()).await?;
        }
        Ok(is_deleted)
    }

    /// Writes what is queued and lets go of the database and the network.
    pub async fn close(self) -> anyhow::Result<()> {
        self.lasting.close_ways_out();
        self.gateway.close().await;
        if let Err(error) = self.lasting.look_after().await {
            tracing::warn!(%error, "how programs in the background have ended is not kept");
        }
        Ok(self.store.shutdown().await?)
    }
}

/// Looks after what outlives calls, and what other processes left behind, as long as somebody has it.
async fn look_after(lasting: Weak<Lasting>, gateway: Weak<Gateway>, store: Store, folders: Folders) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let (Some(lasting), Some(gateway)) = (lasting.upgrade(), gateway.upgrade()) else { return };
        if let Err(error) = lasting.look_after().await {
            tracing::debug!(%error, "what outlives calls is looked after later");
        }
        if let Err(error) = gateway.look_after().await {
            tracing::debug!(%error, "other servers are looked after later");
        }
        drop((lasting, gateway));
        adopt(&store, &folders).await;
    }
}

fn hides(config: &Loaded) -> Hides {
    let keys = &config.config.redaction;
    let variables = match keys.environment {
        true => environment::secret_variables(),
        false => Vec::new(),
    };
    // A key that is sent to a vendor is a secret, whatever its variable is called.
    let mut values = keys_of_variables(&config.config);
    values.extend(variables.into_iter().map(|(name, value)| Secret::new(format!("${name}"), value)));
    Hides { patterns: if keys.patterns { Patterns::Keys } else { Patterns::None }, values }
}

/// How commands are judged and confined.
fn command_terms(folders: &Folders, policy: &PolicyKeys) -> CommandTerms {
    CommandTerms {
        judged: policy.judging(),
        profile: policy.exec_sandbox.0.clone(),
        hidden: vec![folders.config.clone(), folders.data.clone()],
        home: Some(folders.data.join(COMMANDS_HOME)),
    }
}

/// The workspaces of all projects. Opens nothing.
pub(crate) fn projects(folders: &Folders, config: &Config) -> anyhow::Result<Projects> {
    let own = [DATABASE, NOTICE, FILE_NAME, KEY_FILE, CHAT_HISTORY].map(|name| folders.data.join(name));
    let beside = ["-wal", "-shm"].map(|end| folders.data.join(format!("{DATABASE}{end}")));
    let files = own.into_iter().chain(beside).chain([folders.config.join(FILE_NAME)]).collect();
    let home = environment::path_variable("HOME");
    let mut projects = Projects::new(folders, LOCAL_PROJECT, files).with_home(home);
    let path = |folder: &Folder| {
        folder
            .path()
            .with_context(|| format!("cannot find `{folder}`: HOME is not set; write the whole path"))
    };
    if let Some(workspace) = &config.workspace {
        projects = projects.with_workspace(path(workspace)?);
    }
    let FileKeys { read, write } = &config.files;
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

/// What tools reach besides the storage; nothing, where only their names are wanted.
#[derive(Default)]
struct Doors {
    checkup: Option<Arc<dyn Checkup>>,
    commands: CommandTerms,
    files: Option<Arc<Projects>>,
    memories: Option<Arc<dyn Memories>>,
    lasting: Option<Arc<Lasting>>,
    spending: Option<Arc<dyn Spending>>,
    ssh: Option<Arc<SshHome>>,
    openings: Openings,
}

/// The tools of every project, and beside them those that reach into this machine, which other projects may be given.
type AllTools = (Arc<Catalog>, Vec<Arc<dyn Tool>>);

/// Every tool there is: the built-in ones over this storage, and an embedder's own.
fn full_catalog<S: Artifacts + Journal + Switchboard + 'static>(
    storage: Arc<S>,
    limits: Vec<LimitRule>,
    Doors { checkup, commands, files, lasting, memories, spending, ssh, openings }: Doors,
    register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
) -> anyhow::Result<AllTools> {
    let catalog = Arc::new(Catalog::with_limits(limits));
    let known = Arc::downgrade(&catalog);
    // What a person opens on their machine is open to their own project.
    let web = Web::new(move |project, tool| match known.upgrade() {
        Some(catalog) if *project == ProjectId::default() => catalog
            .find(project, tool.as_str())
            .map_or_else(|_| Vec::new(), |entry| openings.of(entry.spec())),
        _ => Vec::new(),
    });
    let supervisor = Supervisor::new(environment::own_program());
    let shells = || Shells::new(supervisor.clone(), Interpreter::of_this_machine());
    let around = Surroundings {
        lasting: lasting.unwrap_or_else(|| Arc::new(Lasting::new(shells()))),
        artifacts: Arc::clone(&storage) as _,
        memories,
        spending,
        ssh,
        journal: Arc::clone(&storage) as _,
        switchboard: storage,
        catalog: Arc::downgrade(&catalog),
        checkup,
        commands,
        supervisor,
        files,
        time_zone: environment::time_zone(),
        web: Arc::new(web),
    };
    catalog.register_all(None, builtin::all(&around)?)?;
    let machine = builtin::of_this_machine(&around)?;
    catalog.register_all(Some(&ProjectId::default()), machine.clone())?;
    register(&catalog)?;
    Ok((catalog, machine))
}
