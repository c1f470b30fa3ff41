//! Station 4: what asks is parked, unless it has been said yes to, and what the client runs, until it has.

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

/// A parked call on its second way through the stations.
#[derive(Debug)]
pub(super) struct ResumedCall {
    arguments_hash: Arc<str>,
    definition_hash: Arc<str>,
    answered_by: Option<Answerer>,
    expires_at: Timestamp,
    salt: String,
    attempt: Attempt,
    /// What the client says came of it, if the client ran it.
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

    /// The yes, if it is one to exactly this call, and by somebody who may still give it.
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
            let who = if verdict.by == Answerer::Operator { "the operator" } else { "a person" };
            return Err(void(&format!("{who} has to answer it now")));
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

/// Why a call waits that nobody is asked about.
const CLIENT_RUNS_IT: &str = "the client runs this tool";

/// Lets a call through that is allowed or approved; parks what asks. A tool of the client's is never let through without
/// the result that the client has to bring: what is allowed is parked for the client.
pub(super) async fn pass(
    room: &Toolroom,
    entry: &Entry,
    arguments: &Arguments,
    verdict: Verdict,
    call: &mut OpenCall,
) -> Result<Option<Grant>, Exit> {
    if let Some(resumed) = &call.resumed {
        let grant = resumed.grant(entry, arguments, &verdict, call).map_err(Exit::Denied)?;
        // The yes of a person stands, and is used when the client has run it.
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
        (Ruling::Ask | Ruling::Deny, _) => tellable(verdict, call),
    };
    if call.request.client_tool.is_some() && room.seal.is_none() {
        let reason = "the client would have to run it, but this room has no seal to keep the call under";
        return Err(Exit::Denied(Denial::by_rule("approval.unsealed", reason)));
    }
    let mut is_sealed_anew = false;
    let expires_at = loop {
        let park = question(room, entry, arguments, &verdict, call).map_err(unsealed)?;
        let expires_at = park.approval.expires_at;
        // From here on the row is the ledger's, also if the caller does not wait for it.
        call.settled = true;
        match room.ledger.park(park).await {
            Ok(()) => break expires_at,
            Err(ParkError::Ledger(error)) => return Err(call.not_journaled(error)),
            Err(stale @ ParkError::StaleKey(_)) => {
                call.settled = false;
                // The key may have been changed since it was sealed; whoever seals looks for it again.
                if std::mem::replace(&mut is_sealed_anew, true) {
                    return Err(unsealed(stale));
                }
            }
        }
    };
    Err(Exit::Pending(Pending { rule: verdict.rule, reason: verdict.reason, by: verdict.by, expires_at }))
}

fn unsealed(error: impl Error + Send + Sync + 'static) -> Exit {
    let reason = "it has to be approved, but what is asked cannot be sealed";
    Exit::Denied(Denial::by_rule("approval.unsealed", reason).caused_by(error))
}

/// A verdict whose reason may be kept and told: a tool's own may repeat the arguments.
fn tellable(mut verdict: Verdict, call: &OpenCall) -> Verdict {
    if let Some(told) = call.presentable(&verdict.reason) {
        verdict.reason = told;
    }
    verdict
}

/// Hash of the exact arguments. Salted, and the salt is sealed with them: who finds the hash cannot guess at it.
fn salted(salt: &str, arguments: &Arguments) -> Arc<str> {
    hash_of(&mut json!({"salt": salt, "arguments": arguments}))
}

/// The row of a parked call and what is asked about it.
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
        sealed: approval::keep(room, &call.record.id, &call.request, arguments, lifts, salt)?,
    };
    let mut record = call.record.clone();
    record.status = CallStatus::Pending;
    record.rule = Some(verdict.rule.clone());
    Ok(ParkCall { record, approval })
}

impl Toolroom {
    /// Walks a call with edited arguments up to this station and parks it, whatever the verdict but deny.
    pub(crate) async fn park_edited(
        &self,
        request: CallRequest,
        edit: EditRequest,
    ) -> Result<Edited, EditError> {
        let mut call = OpenCall::new(self, request);
        // The edit writes its row, or nothing does.
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
        let verdict = tellable(verdict, &call);
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
