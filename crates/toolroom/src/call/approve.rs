//! Station 4: parks calls that need approval, unless they were approved, and calls of client tools, until the client has
//! delivered the result.

use std::error::Error;
use std::sync::Arc;

use serde_json::json;

use super::deliver::Delivered;
use super::open_call::OpenCall;
use super::report::{Denial, Exit, Pending};
use super::request::CallRequest;
use super::{history, permit, resolve, validate};
use crate::approval::{self, EditError, EditRequest, Edited};
use crate::catalog::{Entry, hash_of};
use crate::clock::Timestamp;
use crate::ledger::{
    Answerer, Approval, Attempt, CallStatus, EditCall, Grant, ParkCall, ParkError, Question, SealError,
};
use crate::policy::{Ruling, Verdict};
use crate::tool::{Arguments, ToolError};
use crate::toolroom::Toolroom;

/// What a resumed call brings from its question.
#[derive(Debug)]
pub(super) struct ResumedCall {
    arguments_hash: Arc<str>,
    definition_hash: Arc<str>,
    answered_by: Option<Answerer>,
    expires_at: Timestamp,
    salt: String,
    attempt: Attempt,
    /// The client's result, if the client ran the tool.
    pub(super) delivered: Option<Delivered>,
}

impl ResumedCall {
    pub(super) fn new(
        question: &Question,
        salt: String,
        attempt: Attempt,
        delivered: Option<Delivered>,
    ) -> Self {
        Self {
            delivered,
            expires_at: question.approval.expires_at,
            salt,
            arguments_hash: Arc::clone(&question.approval.arguments_hash),
            definition_hash: Arc::clone(&question.approval.definition_hash),
            answered_by: question.answered_by,
            attempt,
        }
    }

    /// Whether the call has never begun.
    pub(super) fn is_first(&self) -> bool {
        self.attempt == Attempt::First
    }

    /// The grant, if it is for exactly this call and its responder may still give it.
    fn grant(
        &self,
        entry: &Entry,
        arguments: &Arguments,
        verdict: &Verdict,
        call: &OpenCall,
    ) -> Result<Grant, Denial> {
        let void = |reason: &str| {
            Denial::by_rule(
                "approval.void",
                format!("the approval no longer holds: {reason}; make the call again"),
            )
        };
        if self.definition_hash != entry.definition_hash() {
            return Err(void("the tool's definition has changed since"));
        }
        if self.arguments_hash != salted(&self.salt, arguments) {
            return Err(void("these are not the arguments that were approved"));
        }
        let may_answer = self.answered_by.is_some_and(|by| by.may_answer_for(verdict.by));
        if verdict.ruling == Ruling::Ask && !may_answer {
            let responder = if verdict.by == Answerer::Operator { "the operator" } else { "a person" };
            return Err(void(&format!("{responder} has to answer it now")));
        }
        Ok(Grant {
            call: call.record.id.clone(),
            arguments_hash: Arc::clone(&self.arguments_hash),
            definition_hash: Arc::clone(&self.definition_hash),
            at: call.now(),
            attempt: self.attempt,
        })
    }
}

/// The reason of a call that waits for its client.
const CLIENT_RUNS_IT: &str = "the client runs this tool";

/// Passes calls that are allowed or approved; parks calls that need approval. A client tool passes only with the client's
/// result; an allowed call of one is parked for the client.
pub(super) async fn pass(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    verdict: Verdict,
    call: &mut OpenCall,
) -> Result<Option<Grant>, Exit> {
    if let Some(resumed) = &call.resumed {
        let grant = resumed.grant(entry, arguments, &verdict, call).map_err(Exit::Denied)?;
        // The approval stands, and is used once the client has run the tool.
        if call.request.client_tool.is_some() && resumed.delivered.is_none() {
            return Err(Exit::Pending(Pending {
                rule: verdict.rule,
                reason: CLIENT_RUNS_IT.to_owned(),
                by: Answerer::Client,
                expires_at: resumed.expires_at,
            }));
        }
        return Ok(Some(grant));
    }
    let verdict = match (verdict.ruling, &call.request.client_tool) {
        (Ruling::Allow, None) => return Ok(None),
        (Ruling::Allow, Some(_)) => {
            Verdict { reason: CLIENT_RUNS_IT.to_owned(), by: Answerer::Client, ..verdict }
        }
        (Ruling::Ask | Ruling::Deny, _) => redacted(verdict, call),
    };
    if call.request.client_tool.is_some() && room.seal.is_none() {
        let reason = "the client runs this tool, but the toolroom has no seal to store the call with";
        return Err(Exit::Denied(Denial::by_rule("approval.unsealed", reason)));
    }
    let mut is_sealed_anew = false;
    let expires_at = loop {
        let park = question(room, entry, arguments, &verdict, call).map_err(unsealed)?;
        let expires_at = park.approval.expires_at;
        // From here on the ledger owns the row, even if the caller goes away.
        call.settled = true;
        match room.ledger.park(park).await {
            Ok(()) => break expires_at,
            Err(ParkError::Ledger(error)) => return Err(call.not_journaled(error)),
            Err(stale @ ParkError::StaleKey(_)) => {
                call.settled = false;
                // The key may have changed since; sealing again reads the new one.
                if std::mem::replace(&mut is_sealed_anew, true) {
                    return Err(unsealed(stale));
                }
            }
        }
    };
    Err(Exit::Pending(Pending { rule: verdict.rule, reason: verdict.reason, by: verdict.by, expires_at }))
}

fn unsealed(error: impl Error + Send + Sync + 'static) -> Exit {
    let reason = "the call needs approval, but its request cannot be sealed";
    Exit::Denied(Denial::by_rule("approval.unsealed", reason).caused_by(error))
}

/// Redacts the reason of a verdict: that of a tool may repeat the arguments.
fn redacted(mut verdict: Verdict, call: &OpenCall) -> Verdict {
    if let Some(safe) = call.presentable(&verdict.reason) {
        verdict.reason = safe;
    }
    verdict
}

/// Salted hash of the exact arguments. The salt is sealed with them, so that the hash reveals nothing.
fn salted(salt: &str, arguments: &Arguments) -> Arc<str> {
    hash_of(&mut json!({"salt": salt, "arguments": arguments}))
}

/// The row of a parked call and its approval.
fn question(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    verdict: &Verdict,
    call: &OpenCall,
) -> Result<ParkCall, SealError> {
    let salt = room.clock.random_id().simple().to_string();
    let lifts = call.history.as_ref().and_then(|history| history.lifts());
    let approval = Approval {
        call: call.record.id.clone(),
        arguments_hash: salted(&salt, arguments),
        definition_hash: entry.definition_hash(),
        by: verdict.by,
        reason: verdict.reason.clone(),
        expires_at: room.clock.now().after(room.approval_lifetime),
        sealed: approval::seal_request(room, &call.record.id, &call.request, arguments, lifts, salt)?,
    };
    let mut record = call.record.clone();
    record.status = CallStatus::Pending;
    record.rule = Some(verdict.rule.clone());
    Ok(ParkCall { record, approval })
}

impl Toolroom {
    /// Takes a call with edited arguments up to this station and parks it, unless it is denied.
    pub(crate) async fn park_edited(
        &self,
        request: CallRequest,
        edit: EditRequest,
    ) -> Result<Edited, EditError> {
        let mut call = OpenCall::new(self, request);
        // The edit writes the row.
        call.settled = true;
        call.open(self).await;
        let entry = resolve::find(&self.catalog, &call).map_err(|error| refused(error, &call))?;
        resolve::note(&entry, &mut call);
        let arguments = validate::fitting(&entry, &mut call).map_err(|error| refused(error, &call))?;
        let judged = match history::look_back(self, &entry, &arguments, &mut call).await {
            Ok(()) => permit::decide(self, &entry, &arguments, &mut call),
            Err(denial) => Err(denial),
        };
        let verdict = judged.map_err(|mut denial| {
            denial.rewrite(|text| call.presentable(text));
            EditError::Denied(denial)
        })?;
        let verdict = redacted(verdict, &call);
        let park = question(self, &entry, &arguments, &verdict, &call)?;
        let id = park.record.id.clone();
        let by = edit.by.answerer();
        let waits_for = (!by.may_answer_for(verdict.by)).then_some(verdict.by);
        let at = self.clock.now();
        self.ledger.edit(EditCall { of: edit.call, scope: edit.scope, by, at, park }).await?;
        Ok(Edited { call: id, waits_for })
    }
}

fn refused(mut error: ToolError, call: &OpenCall) -> EditError {
    error.rewrite(|text| call.presentable(text));
    EditError::Refused(error)
}
