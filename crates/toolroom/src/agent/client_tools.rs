//! The tools a client brought to a run: what of them a model is offered, and what waits for the client.

use std::borrow::Cow;
use std::sync::Arc;

use super::agent::Agent;
use super::settle::newest;
use crate::call::{CallReport, DeliverError, Delivery};
use crate::catalog::{Audience, ToolOffer};
use crate::clock::Timestamp;
use crate::conversation::{Run, RunId};
use crate::ledger::{CallFilter, CallId, CallStatus, LedgerError};
use crate::model::ModelCallId;
use crate::redact::Redactor;
use crate::scope::Scope;
use crate::tool::{ClientTool, ClientToolError, ClientTools};

/// A call that waits for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCall {
    /// The model's id of the call.
    pub id: ModelCallId,
    /// Its row in the journal, for which the client delivers.
    pub call: CallId,
    /// The tool, `client:NAME`.
    pub tool: Arc<str>,
    /// From when on it is too late.
    pub expires_at: Timestamp,
}

impl Agent {
    /// The calls of a run that its client has to run, oldest first. Those about which a person is still to be asked are
    /// not among them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub async fn client_calls(&self, scope: &Scope, run: &RunId) -> Result<Vec<ClientCall>, LedgerError> {
        let filter =
            CallFilter { run: Some(run.to_string()), limit: Some(u32::MAX), ..CallFilter::default() };
        let mut records = self.room.journal.calls(scope, filter).await?;
        records.reverse();
        let mut handed = Vec::new();
        for record in records.into_iter().filter(|record| ClientTool::has_id(&record.tool)) {
            let Some(id) = record.model_call.as_deref().map(ModelCallId::new) else { continue };
            let record = newest(&self.room, scope, record).await?;
            if record.status != CallStatus::Pending {
                continue;
            }
            let question = self.room.approvals.question(scope, &record.id).await?;
            let now = self.room.clock.now();
            if let Some(question) = question.filter(|asked| asked.waits_for_client() && !asked.is_late(now)) {
                let (call, tool) = (record.id, record.tool);
                handed.push(ClientCall { id, call, tool, expires_at: question.approval.expires_at });
            }
        }
        Ok(handed)
    }

    /// Takes what a client says came of a call of this agent, as [`Toolroom::deliver`](crate::Toolroom::deliver) does:
    /// what the agent may no longer use is denied. The run goes on when it is [resumed](Agent::resume).
    ///
    /// # Errors
    /// When nothing was handed to this client, a person has to be asked first, or a result was delivered before.
    pub async fn deliver(&self, mut delivery: Delivery) -> Result<CallReport, DeliverError> {
        delivery.choice = Some(Arc::clone(&self.choice));
        self.room.deliver(delivery).await
    }

    /// Everything the agent may use in a run, as of now.
    pub(super) async fn offer(&self, run: &Run) -> Result<ToolOffer, LedgerError> {
        let (catalog, project) = (&self.room.catalog, &run.scope.project);
        let standing = self.room.switchboard.standing(project).await?;
        let on_device = self.chain.first().is_some_and(|first| first.facts.on_device);
        let audience = if on_device { Audience::OnDevice } else { Audience::Full };
        let offer = catalog.offer(project, &standing.switches, &run.context, audience, &self.choice);
        let brought = &run.client_tools;
        Ok(catalog.offer_brought(offer, brought, &standing.switches, &run.context, &self.choice))
    }
}

/// What models read of a tool is not written by us, and must hold no secret. It is not changed either: a schema with a
/// hole is another one.
pub(super) fn check_brought(tools: &ClientTools, redactor: &Redactor) -> Result<(), ClientToolError> {
    let tells = |tool: &&Arc<ClientTool>| matches!(redactor.redact_text(&tool.readable()), Cow::Owned(_));
    match tools.iter().find(tells) {
        Some(tool) => Err(ClientToolError::Secret { name: redactor.redact_text(tool.name()).into_owned() }),
        None => Ok(()),
    }
}
