//! A toolroom where nothing asks, so that only the doors stand in the way.

use std::sync::Arc;

use toolroom::Toolroom;
use toolroom::policy::{Policy, Preset};
use toolroom::testing::MemoryLedger;
use toolroom_host::files::Projects;
use toolroom_tools::builtin::web::Web;
use toolroom_tools::builtin::{self, ToolDependencies};

use crate::around::surroundings;

/// With all tools, over this web and these files.
pub(crate) fn room(web: Web, files: Option<Projects>) -> Toolroom {
    let ledger = Arc::new(MemoryLedger::new());
    let around = ToolDependencies { files: files.map(Arc::new), web: Arc::new(web), ..surroundings(&ledger) };
    let open = Policy::new(Preset::Open, Vec::new()).unwrap();
    let room = Toolroom::builder(ledger).policy(open).build();
    for tools in [builtin::all(&around), builtin::of_local_machine(&around)] {
        room.catalog().register_all(None, tools.unwrap()).unwrap();
    }
    room
}
