//! Provenance of a run: what it has read and sent.

use super::active_run::{ActiveRun, UnansweredCall};
use super::tool_calls::{Answered, Settled};
use crate::call::adds_of_call;
use crate::ledger::LedgerError;
use crate::model::{Block, Message};
use crate::policy::Provenance;
use crate::schema::parse_object;

/// The provenance of a history that the client sends.
pub(super) fn history_provenance(history: &[Message]) -> Provenance {
    let is_result = |block: &Block| matches!(block, Block::Result { .. });
    match history.iter().flat_map(|message| &message.blocks).any(is_result) {
        true => Provenance::FROM_CLIENT,
        false => Provenance::NONE,
    }
}

impl ActiveRun<'_> {
    /// Loads the conversation's track. Direct calls, or work before a crash, may have added to it.
    pub(super) async fn load_provenance(&mut self) -> Result<(), LedgerError> {
        let run = &self.run;
        let kept = self.agent.room.provenance_of(&run.scope, run.conversation.as_str(), &run.source).await?;
        self.run.provenance = run.provenance.and(kept);
        Ok(())
    }

    /// The provenance each call of one answer is judged by: the run's, with what the calls before it may add.
    pub(super) fn provenance_before(&self, open: &[UnansweredCall]) -> Vec<Provenance> {
        let mut known = self.run.provenance;
        let before = open.iter().map(|call| {
            let tool =
                self.tools.find(&call.name).map_or(call.name.as_str(), |entry| entry.spec().id.as_str());
            let arguments = parse_object(&call.arguments).unwrap_or_default();
            let adds = adds_of_call(&self.agent.room, &self.run.scope, tool, &arguments);
            let before = known;
            known = known.and(adds);
            before
        });
        before.collect()
    }

    /// Adds what the calls have read and sent. Stored in the same step as their events.
    pub(super) fn add_call_provenance(&mut self, settled: &[Settled]) {
        let added = settled.iter().map(|settled| match settled {
            Settled::Answered(Answered { provenance, .. }) | Settled::AtClient(_, provenance) => *provenance,
            Settled::Waits(_) | Settled::Stopped | Settled::Broken(_) => Provenance::NONE,
        });
        self.run.provenance = added.fold(self.run.provenance, Provenance::and);
    }
}
