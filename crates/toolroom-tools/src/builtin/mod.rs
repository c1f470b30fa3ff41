//! The tools Toolroom ships with: a file or folder each, and one line in [`all`] or [`of_local_machine`].

mod calculator;
mod cost_status;
pub mod create_calendar_event;
mod desktop;
pub mod doctor;
mod effect_by_arguments;
mod files;
mod get_local_time;
pub mod get_location_from_ip;
mod memory;
mod result_read;
pub mod search;
mod session_status;
pub mod shell;
pub mod web;
pub mod web_search;

use std::sync::{Arc, Weak};

use jiff::tz::TimeZone;
use toolroom::catalog::Catalog;
use toolroom::clock::Clock;
use toolroom::conversation::Spending;
use toolroom::ledger::{Artifacts, Journal, Switchboard};
use toolroom::memory::Memories;
use toolroom::tool::{IdError, Tool};
use toolroom_host::files::Projects;
use toolroom_host::process::Supervisor;
use toolroom_host::ssh::SshHome;

use create_calendar_event::Calendars;
use doctor::Checkup;
use get_location_from_ip::LocationService;
use shell::{CommandPolicy, ConversationResources};
use web::Web;
use web_search::SearchEngines;

/// The services that built-in tools use.
pub struct ToolDependencies {
    /// Stores whole results.
    pub artifacts: Arc<dyn Artifacts>,
    /// The calendars of projects.
    pub calendars: Arc<dyn Calendars>,
    /// The current time.
    pub clock: Arc<dyn Clock>,
    /// How commands are judged and confined.
    pub commands: CommandPolicy,
    /// The catalog these tools are registered in, for `search`. Weak, because it owns them.
    pub catalog: Weak<Catalog>,
    /// Runs the checks of `doctor`; `None` if only tool names are needed.
    pub checkup: Option<Arc<dyn Checkup>>,
    /// The workspaces of all projects; `None` if only tool names are needed.
    pub files: Option<Arc<Projects>>,
    /// The search engines of projects.
    pub engines: Arc<dyn SearchEngines>,
    /// Past calls.
    pub journal: Arc<dyn Journal>,
    /// Shells and programs that outlive a call.
    pub conversation_resources: Arc<ConversationResources>,
    /// The service that locates this machine.
    pub location: LocationService,
    /// The stored memories; `None` if only tool names are needed.
    pub memories: Option<Arc<dyn Memories>>,
    /// The record of spending; `None` if only tool names are needed.
    pub spending: Option<Arc<dyn Spending>>,
    /// The ssh configuration that commands may use; `None` if only tool names are needed.
    pub ssh: Option<Arc<SshHome>>,
    /// Starts programs.
    pub supervisor: Supervisor,
    /// Which tools are switched off.
    pub switchboard: Arc<dyn Switchboard>,
    /// The user's time zone.
    pub time_zone: TimeZone,
    /// The HTTP clients of tools.
    pub web: Arc<Web>,
}

/// The built-in tools of every project.
pub fn all(dependencies: &ToolDependencies) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let mut tools = vec![
        calculator::tool()?,
        cost_status::tool(dependencies.spending.clone())?,
        doctor::tool(dependencies.checkup.clone())?,
        get_local_time::tool(dependencies.time_zone.clone())?,
        get_location_from_ip::tool(Arc::clone(&dependencies.web), dependencies.location.clone())?,
        result_read::tool(Arc::clone(&dependencies.artifacts))?,
        search::tool(
            dependencies.catalog.clone(),
            Arc::clone(&dependencies.journal),
            Arc::clone(&dependencies.switchboard),
        )?,
        session_status::tool(dependencies.spending.clone())?,
        web_search::tool(
            Arc::clone(&dependencies.web),
            Arc::clone(&dependencies.engines),
            Arc::clone(&dependencies.clock),
        )?,
    ];
    tools.extend(memory::all(&dependencies.memories)?);
    tools.extend(web::all(&dependencies.web)?);
    Ok(tools)
}

/// The built-in tools that act on this machine. Other projects than its owner's get them only by configuration.
pub fn of_local_machine(dependencies: &ToolDependencies) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let mut tools = files::all(&dependencies.files)?;
    tools.push(create_calendar_event::tool(dependencies)?);
    tools.extend(desktop::all(dependencies)?);
    tools.extend(shell::all(dependencies)?);
    Ok(tools)
}
