//! Client tools of a run: how they are offered to the model, and the calls that wait for the client.

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
    /// Its row in the journal; the client delivers the result for it.
    pub call: CallId,
    /// The tool, `client:NAME`.
    pub tool: Arc<str>,
    /// When the call expires.
    pub expires_at: Timestamp,
}

impl Agent {
    /// The calls of a run that its client has to run, oldest first. Calls that still wait for an approval are left out.
    ///
    /// # Errors
    /// When the journal cannot be read.
    pub async fn client_calls(&self, scope: &Scope, run: &RunId) -> Result<Vec<ClientCall>, LedgerError> {
        let filter =
            CallFilter { run: Some(run.to_string()), limit: Some(u32::MAX), ..CallFilter::default() };
        let mut records = self.room.journal.calls(scope, filter).await?;
        records.reverse();
        let mut calls = Vec::new();
        for record in records.into_iter().filter(|record| ClientTool::has_id(&record.tool)) {
            let Some(id) = record.model_call.as_deref().map(ModelCallId::new) else { continue };
            let record = newest(&self.room, scope, record).await?;
            if record.status != CallStatus::Pending {
                continue;
            }
            let question = self.room.approvals.question(scope, &record.id).await?;
            let now = self.room.clock.now();
            if let Some(question) =
                question.filter(|question| question.waits_for_client() && !question.is_late(now))
            {
                let (call, tool) = (record.id, record.tool);
                calls.push(ClientCall { id, call, tool, expires_at: question.approval.expires_at });
            }
        }
        Ok(calls)
    }

    /// Delivers a client's result for a call of this agent, as [`Toolroom::deliver`](crate::Toolroom::deliver) does. A tool
    /// the agent may no longer use is denied. [`Agent::resume`] then continues the run.
    ///
    /// # Errors
    /// When no such call waits for this client, an approval is missing, or a result was delivered before.
    pub async fn deliver(&self, mut delivery: Delivery) -> Result<CallReport, DeliverError> {
        delivery.choice = Some(Arc::clone(&self.choice));
        self.room.deliver(delivery).await
    }

    /// The tools the agent may use in a run.
    pub(super) async fn offer(&self, run: &Run) -> Result<ToolOffer, LedgerError> {
        let (catalog, project) = (&self.room.catalog, &run.scope.project);
        let standing = self.room.switchboard.standing(project).await?;
        let on_device = self.chain.first().is_some_and(|first| first.facts.on_device);
        let audience = if on_device { Audience::OnDevice } else { Audience::Full };
        let offer = catalog.offer(project, &standing.switches, &run.context, audience, &self.choice);
        let client_tools = &run.client_tools;
        Ok(catalog.with_client_tools(offer, client_tools, &standing.switches, &run.context, &self.choice))
    }
}

/// Refuses client tools whose texts contain a secret. They are not redacted, as a redacted schema is another schema.
pub(super) fn check_client_tools(tools: &ClientTools, redactor: &Redactor) -> Result<(), ClientToolError> {
    let has_secret =
        |tool: &&Arc<ClientTool>| matches!(redactor.redact_text(&tool.readable()), Cow::Owned(_));
    match tools.iter().find(has_secret) {
        Some(tool) => Err(ClientToolError::Secret { name: redactor.redact_text(tool.name()).into_owned() }),
        None => Ok(()),
    }
}
