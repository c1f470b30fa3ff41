//! The tools Toolroom ships with: a file or folder each, and one line in [`all`] or [`of_this_machine`].

mod calculator;
pub mod calendar;
mod cost_status;
mod desktop;
pub mod doctor;
mod files;
mod get_local_time;
mod graver;
pub mod location;
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

use calendar::Calendars;
use doctor::Checkup;
use location::LocationService;
use shell::{CommandTerms, Lasting};
use web::Web;
use web_search::Engines;

/// What built-in tools need from the outside.
pub struct Surroundings {
    /// Where whole results are kept.
    pub artifacts: Arc<dyn Artifacts>,
    /// Whose calendars events are put into.
    pub calendars: Arc<dyn Calendars>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// How commands are judged and confined.
    pub commands: CommandTerms,
    /// The tools that can be found: the catalog these are registered in. Weak, because it holds them.
    pub catalog: Weak<Catalog>,
    /// Who can examine this toolroom; `None` where only names are wanted.
    pub checkup: Option<Arc<dyn Checkup>>,
    /// The workspaces of all projects; `None` where only names are wanted.
    pub files: Option<Arc<Projects>>,
    /// Who is asked when something is searched on the web.
    pub engines: Arc<dyn Engines>,
    /// What has been called.
    pub journal: Arc<dyn Journal>,
    /// Shells and programs that outlive a call.
    pub lasting: Arc<Lasting>,
    /// Who is asked where this machine is.
    pub location: LocationService,
    /// What is remembered of users; `None` where only names are wanted.
    pub memories: Option<Arc<dyn Memories>>,
    /// What was spent on models; `None` where only names are wanted.
    pub spending: Option<Arc<dyn Spending>>,
    /// The ssh configuration that commands may use; `None` where only names are wanted.
    pub ssh: Option<Arc<SshHome>>,
    /// Who starts programs.
    pub supervisor: Supervisor,
    /// What is switched off.
    pub switchboard: Arc<dyn Switchboard>,
    /// The user's time zone.
    pub time_zone: TimeZone,
    /// How far tools reach into the web.
    pub web: Arc<Web>,
}

/// The built-in tools of every project, by name.
pub fn all(around: &Surroundings) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let mut tools = vec![
        calculator::tool()?,
        cost_status::tool(around.spending.clone())?,
        doctor::tool(around.checkup.clone())?,
        get_local_time::tool(around.time_zone.clone())?,
        location::tool(Arc::clone(&around.web), around.location.clone())?,
        result_read::tool(Arc::clone(&around.artifacts))?,
        search::tool(around.catalog.clone(), Arc::clone(&around.journal), Arc::clone(&around.switchboard))?,
        session_status::tool(around.spending.clone())?,
        web_search::tool(Arc::clone(&around.web), Arc::clone(&around.engines), Arc::clone(&around.clock))?,
    ];
    tools.extend(memory::all(&around.memories)?);
    tools.extend(web::all(&around.web)?);
    Ok(tools)
}

/// The built-in tools that reach into this machine. They belong to the project of the person whose machine it is, and
/// to others only where somebody says so.
pub fn of_this_machine(around: &Surroundings) -> Result<Vec<Arc<dyn Tool>>, IdError> {
    let mut tools = files::all(&around.files)?;
    tools.push(calendar::tool(around)?);
    tools.extend(desktop::all(around)?);
    tools.extend(shell::all(around)?);
    Ok(tools)
}
