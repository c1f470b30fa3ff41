//! What built-in tools find around them in tests: a ledger in memory, and nothing outside.

use std::sync::{Arc, Weak};

use toolroom::catalog::Catalog;
use toolroom::testing::MemoryLedger;
use toolroom_host::process::Supervisor;
use toolroom_host::shell::{Interpreter, Shells};
use toolroom_tools::builtin::ToolDependencies;
use toolroom_tools::builtin::get_location_from_ip::LocationService;
use toolroom_tools::builtin::shell::{CommandPolicy, ConversationResources};
use toolroom_tools::builtin::web::Web;
use toolroom_tools::builtin::web_search::NoSearchEngines;

pub(crate) fn surroundings(ledger: &Arc<MemoryLedger>) -> ToolDependencies {
    ToolDependencies {
        artifacts: Arc::clone(ledger) as _,
        catalog: Weak::<Catalog>::new(),
        checkup: None,
        clock: Arc::new(toolroom::clock::SystemClock),
        commands: CommandPolicy::default(),
        engines: Arc::new(NoSearchEngines),
        files: None,
        journal: Arc::clone(ledger) as _,
        conversation_resources: Arc::new(ConversationResources::new(Shells::new(
            Supervisor::new("/nowhere"),
            Interpreter::Bash,
        ))),
        location: LocationService::default(),
        calendars: Arc::new(toolroom_tools::builtin::create_calendar_event::NoCalendars),
        memories: None,
        spending: None,
        ssh: None,
        supervisor: Supervisor::new("/nowhere"),
        switchboard: Arc::clone(ledger) as _,
        time_zone: jiff::tz::TimeZone::UTC,
        web: Arc::new(Web::new(|_, _| Vec::new())),
    }
}
