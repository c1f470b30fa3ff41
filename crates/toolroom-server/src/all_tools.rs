//! Every tool there is, over what tools reach. Only the composition root calls it.

use std::sync::Arc;

use toolroom::catalog::{Catalog, LimitRule, RegisterError};
use toolroom::clock::SystemClock;
use toolroom::conversation::Spending;
use toolroom::ledger::{Artifacts, Journal, Switchboard};
use toolroom::memory::Memories;
use toolroom::scope::ProjectId;
use toolroom::tool::Tool;
use toolroom_host::environment;
use toolroom_host::files::Projects;
use toolroom_host::process::Supervisor;
use toolroom_host::shell::{Interpreter, Shells};
use toolroom_host::ssh::SshHome;
use toolroom_tools::builtin::create_calendar_event::{Calendars, NoCalendars};
use toolroom_tools::builtin::doctor::Checkup;
use toolroom_tools::builtin::get_location_from_ip::LocationService;
use toolroom_tools::builtin::shell::{CommandPolicy, ConversationResources};
use toolroom_tools::builtin::web::Web;
use toolroom_tools::builtin::web_search::{NoSearchEngines, SearchEngines};
use toolroom_tools::builtin::{self, ToolDependencies};

use crate::config::Openings;

/// What tools reach besides the storage; nothing, where only their names are wanted.
#[derive(Default)]
pub(crate) struct Doors {
    pub(crate) checkup: Option<Arc<dyn Checkup>>,
    pub(crate) commands: CommandPolicy,
    pub(crate) files: Option<Arc<Projects>>,
    pub(crate) memories: Option<Arc<dyn Memories>>,
    pub(crate) conversation_resources: Option<Arc<ConversationResources>>,
    pub(crate) spending: Option<Arc<dyn Spending>>,
    pub(crate) ssh: Option<Arc<SshHome>>,
    pub(crate) openings: Openings,
    pub(crate) engines: Option<Arc<dyn SearchEngines>>,
    pub(crate) location: LocationService,
    pub(crate) calendars: Option<Arc<dyn Calendars>>,
}

/// The tools of every project, and beside them those that reach into this machine, which other projects may be given.
pub(crate) type AllTools = (Arc<Catalog>, Vec<Arc<dyn Tool>>);

/// Every tool there is: the built-in ones over this storage, and an embedder's own.
pub(crate) fn full_catalog<S: Artifacts + Journal + Switchboard + 'static>(
    storage: Arc<S>,
    limits: Vec<LimitRule>,
    Doors {
        checkup,
        commands,
        files,
        conversation_resources,
        memories,
        spending,
        ssh,
        openings,
        engines,
        location,
        calendars,
    }: Doors,
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
    let shells = || Shells::new(supervisor.clone(), Interpreter::detect());
    let around = ToolDependencies {
        conversation_resources: conversation_resources
            .unwrap_or_else(|| Arc::new(ConversationResources::new(shells()))),
        artifacts: Arc::clone(&storage) as _,
        memories,
        spending,
        ssh,
        journal: Arc::clone(&storage) as _,
        switchboard: storage,
        catalog: Arc::downgrade(&catalog),
        checkup,
        clock: Arc::new(SystemClock),
        engines: engines.unwrap_or_else(|| Arc::new(NoSearchEngines)),
        location,
        calendars: calendars.unwrap_or_else(|| Arc::new(NoCalendars)),
        commands,
        supervisor,
        files,
        time_zone: environment::time_zone(),
        web: Arc::new(web),
    };
    catalog.register_all(None, builtin::all(&around)?)?;
    let machine = builtin::of_local_machine(&around)?;
    catalog.register_all(Some(&ProjectId::default()), machine.clone())?;
    register(&catalog)?;
    Ok((catalog, machine))
}
