//! The catalog of all tools. Only the composition root builds it.

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

/// What tools need besides storage. Empty if tools are only listed.
#[derive(Default)]
pub(crate) struct CatalogDependencies {
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

/// The catalog, and the host tools, which the project `local` has and others may get.
pub(crate) type AllTools = (Arc<Catalog>, Vec<Arc<dyn Tool>>);

/// Registers the built-in tools, and those of an embedder.
pub(crate) fn full_catalog<S: Artifacts + Journal + Switchboard + 'static>(
    storage: Arc<S>,
    limits: Vec<LimitRule>,
    CatalogDependencies {
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
    }: CatalogDependencies,
    register: impl FnOnce(&Catalog) -> Result<(), RegisterError>,
) -> anyhow::Result<AllTools> {
    let catalog = Arc::new(Catalog::with_limits(limits));
    let known = Arc::downgrade(&catalog);
    // Egress rules of the owner apply to the project `local`.
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
    let host_tools = builtin::of_local_machine(&around)?;
    catalog.register_all(Some(&ProjectId::default()), host_tools.clone())?;
    register(&catalog)?;
    Ok((catalog, host_tools))
}
