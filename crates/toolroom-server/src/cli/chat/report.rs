//! `--json` output of a run.

use serde::Serialize;
use toolroom::agent::RunReport;
use toolroom::conversation::{
    CallNotice, ConversationId, NumberedEvent, Run, RunEvent, RunFailure, RunId, RunState,
};
use toolroom::ledger::CallId;
use toolroom::model::Usage;
use toolroom::tool::Offer;

use crate::cli::models;

#[derive(Serialize)]
pub(in crate::cli) struct ChatOutput<'a> {
    conversation: &'a ConversationId,
    run: &'a RunId,
    state: RunState,
    /// The answer; may be empty.
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    calls: Vec<CallOutput<'a>>,
    /// Calls that wait for approval.
    waiting: &'a [CallId],
    usage: Usage,
    cost: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'a RunFailure>,
    /// What to do about the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

/// A call of the run.
#[derive(Serialize)]
struct CallOutput<'a> {
    #[serde(flatten)]
    notice: &'a CallNotice,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a CallId>,
    /// `pending` while it waits for approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_us: Option<u64>,
    /// URLs to open and files to show or save.
    #[serde(skip_serializing_if = "<[Offer]>::is_empty")]
    offers: &'a [Offer],
}

impl<'a> CallOutput<'a> {
    fn new(notice: &'a CallNotice) -> Self {
        Self { notice, call: None, outcome: None, result: None, duration_us: None, offers: &[] }
    }
}

impl<'a> ChatOutput<'a> {
    pub(in crate::cli) fn new(report: &'a RunReport, events: &'a [NumberedEvent]) -> Self {
        let RunReport { run, text, waiting } = report;
        let Run { id, conversation, state, model, usage, cost, failure, .. } = run;
        Self {
            conversation,
            run: id,
            state: *state,
            text,
            model: model.as_deref(),
            calls: calls(events),
            waiting,
            usage: *usage,
            cost: *cost,
            failure: failure.as_ref(),
            hint: failure.as_ref().and_then(remedy),
        }
    }
}

fn calls(events: &[NumberedEvent]) -> Vec<CallOutput<'_>> {
    let mut calls: Vec<CallOutput<'_>> = Vec::new();
    for NumberedEvent { event, .. } in events {
        let (id, ended) = match event {
            RunEvent::CallBegan(notice) => {
                // A call begins again after its approval.
                calls.retain(|known| known.notice.id != notice.id);
                calls.push(CallOutput::new(notice));
                continue;
            }
            RunEvent::CallEnded { id, call, outcome, result, duration_us, offers, .. } => (
                id,
                (Some(call), Some(outcome.as_str()), Some(&**result), Some(*duration_us), offers.as_slice()),
            ),
            RunEvent::Asks { id, call, .. } | RunEvent::Handed { id, call, .. } => {
                (id, (Some(call), Some("pending"), None, None, &[][..]))
            }
            _ => continue,
        };
        if let Some(known) = calls.iter_mut().find(|known| known.notice.id == *id) {
            (known.call, known.outcome, known.result, known.duration_us, known.offers) = ended;
        }
    }
    calls
}

/// Advice for model errors, if there is any.
pub(super) fn remedy(failure: &RunFailure) -> Option<&'static str> {
    models::remedy(serde_json::from_value(failure.kind.as_str().into()).ok()?)
}
