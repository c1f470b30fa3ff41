//! Where a run has been: what its calls add to it.

use super::calls::{Answered, Settled};
use super::working::{OpenCall, Working};
use crate::call::described;
use crate::policy::Provenance;
use crate::schema::parse_object;
use crate::tool::{Capabilities, ClientTool, ToolSpec};

impl Working<'_> {
    /// Adds the calls that ran to the facts of the run. Kept by the same step as the events that tell of them.
    pub(super) fn note_where_it_has_been(&mut self, open: &[OpenCall], settled: &[Settled]) {
        for (call, settled) in open.iter().zip(settled) {
            let (capabilities, untrusted) = match settled {
                Settled::Answered(Answered { ran: Some(tool), untrusted, .. }) => {
                    (self.capabilities(tool, call), *untrusted)
                }
                // What it is to be called with is with the client, whatever comes of it.
                Settled::Handed(_) => (ClientTool::capabilities(), false),
                Settled::Answered(_) | Settled::Waits(_) | Settled::Stopped | Settled::Broken(_) => continue,
            };
            let provenance = self.run.provenance.after(capabilities);
            let untrusted = provenance.untrusted || untrusted;
            self.run.provenance = Provenance { untrusted, ..provenance };
        }
    }

    /// What a tool that ran may have done with what this call gave it. It need not be one that was offered: others can
    /// be called by their names. One that is gone by now may have done everything.
    fn capabilities(&self, tool: &str, call: &OpenCall) -> Capabilities {
        if ClientTool::has_id(tool) {
            return ClientTool::capabilities();
        }
        let Ok(entry) = self.agent.room.catalog.find(&self.run.scope.project, tool) else {
            return Capabilities::ALL;
        };
        let arguments = parse_object(&call.arguments).unwrap_or_default();
        described(&entry, &arguments).map_or(Capabilities::ALL, ToolSpec::effective_capabilities)
    }
}
