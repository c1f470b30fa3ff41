//! A toolroom where nothing asks, so that only the doors stand in the way.

use std::sync::{Arc, Weak};

use toolroom::Toolroom;
use toolroom::catalog::Catalog;
use toolroom::policy::{Policy, Preset};
use toolroom::testing::MemoryLedger;
use toolroom_host::files::Projects;
use toolroom_host::process::Supervisor;
use toolroom_tools::builtin::web::Web;
use toolroom_tools::builtin::{self, Surroundings};

/// With all tools, over this web and these files.
pub(crate) fn room(web: Web, files: Option<Projects>) -> Toolroom {
    let ledger = Arc::new(MemoryLedger::new());
    let around = Surroundings {
        artifacts: Arc::clone(&ledger) as _,
        catalog: Weak::<Catalog>::new(),
        checkup: None,
        files: files.map(Arc::new),
        journal: Arc::clone(&ledger) as _,
        supervisor: Supervisor::new("/nowhere"),
        switchboard: Arc::clone(&ledger) as _,
        time_zone: jiff::tz::TimeZone::UTC,
        web: Arc::new(web),
    };
    let open = Policy::new(Preset::Open, Vec::new()).unwrap();
    let room = Toolroom::builder(ledger).policy(open).build();
    for tools in [builtin::all(&around), builtin::of_this_machine(&around)] {
        room.catalog().register_all(None, tools.unwrap()).unwrap();
    }
    room
}
