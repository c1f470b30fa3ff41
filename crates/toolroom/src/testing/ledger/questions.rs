//! Questions about parked calls.

use std::time::Duration;

use super::rows::{Rows, already_recorded};
use crate::clock::Timestamp;
use crate::ledger::{
    Answer, AnswerWindow, Answerer, Approval, Attempt, BeginError, CallId, CallRecord, CallStatus, CloseCall,
    DecideError, Decision, EXPIRED_RULE, EditCall, Grant, LedgerError, ParkCall, ParkedQuestion, Question,
    QuestionState,
};
use crate::policy::Answers;
use crate::scope::Scope;

/// Minimum time between two checks for expired questions.
const EXPIRE_EVERY: Duration = Duration::from_secs(1);

/// The question about a parked call.
#[derive(Debug)]
pub(super) struct QuestionRow {
    approval: Approval,
    pub(super) state: QuestionState,
    answer: Option<Answer>,
    answered_by: Option<Answerer>,
    replaced_by: Option<CallId>,
}

impl QuestionRow {
    fn answer_window(&self, call: &CallRecord) -> AnswerWindow {
        AnswerWindow { asked_at: call.asked_at, expires_at: self.approval.expires_at }
    }
}

impl Rows {
    /// Denies questions that were not answered in time and drops their sealed requests. Runs when a call arrives, begins or
    /// ends, because the ledger has no clock.
    pub(super) fn expire(&mut self, now: Timestamp) {
        let is_due = self.expired_at.is_none_or(|last| now < last || now.since(last) >= EXPIRE_EVERY);
        if self.questions.is_empty() || !is_due {
            return;
        }
        self.expired_at = Some(now);
        for (id, asked) in &mut self.questions {
            let Some(call) = self.calls.get_mut(id).filter(|call| asked.answer_window(call).is_over(now))
            else {
                continue;
            };
            asked.approval.sealed = None;
            if !matches!(asked.state, QuestionState::Waiting | QuestionState::Granted) {
                continue;
            }
            asked.state = QuestionState::Expired;
            if call.status == CallStatus::Pending {
                call.rule = Some(EXPIRED_RULE.into());
                deny(call, now, asked.approval.by.expiry_reason());
            }
        }
    }

    pub(super) fn check(&self, grant: &Grant, scope: &Scope) -> Result<(), BeginError> {
        let wanted = match grant.attempt {
            Attempt::First => (QuestionState::Granted, CallStatus::Pending),
            Attempt::Retry => (QuestionState::Used, CallStatus::Unknown),
        };
        let call = self.calls.get(&grant.call).filter(|call| call.scope == *scope);
        let call = call.ok_or(BeginError::GrantSpent)?;
        let asked = self.questions.get(&grant.call).ok_or(BeginError::GrantSpent)?;
        let holds = (asked.state, call.status) == wanted
            && !asked.answer_window(call).is_over(grant.at)
            && asked.approval.arguments_hash == grant.arguments_hash
            && asked.approval.definition_hash == grant.definition_hash;
        if holds { Ok(()) } else { Err(BeginError::GrantSpent) }
    }

    pub(super) fn question(&self, call: &CallRecord) -> Option<Question> {
        let asked = self.questions.get(&call.id)?;
        Some(Question {
            record: call.clone(),
            approval: asked.approval.clone(),
            state: asked.state,
            answer: asked.answer,
            answered_by: asked.answered_by,
            replaced_by: asked.replaced_by.clone(),
        })
    }

    pub(super) fn park(&mut self, park: ParkCall, granted_by: Option<Answerer>) -> Result<(), LedgerError> {
        self.expire(park.record.asked_at);
        self.calls.insert(park.record).map_err(|known| already_recorded(&known))?;
        let state = if granted_by.is_some() { QuestionState::Granted } else { QuestionState::Waiting };
        let answer = granted_by.map(|_| Answer::Once);
        let asked = QuestionRow {
            approval: park.approval,
            state,
            answer,
            answered_by: granted_by,
            replaced_by: None,
        };
        self.questions.insert(asked.approval.call.clone(), asked);
        self.make_room();
        Ok(())
    }

    /// The question, if it waits for this answerer.
    fn waiting(
        &mut self,
        call: &CallId,
        scope: &Scope,
        by: Answerer,
        at: Timestamp,
    ) -> Result<&mut QuestionRow, DecideError> {
        let not_waiting = || DecideError::NotWaiting(call.clone());
        let parked = self.calls.get(call).filter(|parked| by.may_answer_call_of(scope, &parked.scope));
        let pending = parked.filter(|parked| parked.status == CallStatus::Pending).ok_or_else(not_waiting)?;
        let asked = self.questions.get_mut(call).ok_or_else(not_waiting)?;
        if asked.state != QuestionState::Waiting || asked.answer_window(pending).is_over(at) {
            return Err(not_waiting());
        }
        DecideError::check(by, asked.approval.by)?;
        Ok(asked)
    }

    pub(super) fn decide(&mut self, decision: Decision) -> Result<(), DecideError> {
        let asked = self.waiting(&decision.call, &decision.scope, decision.by, decision.at)?;
        asked.answer = Some(decision.answer);
        asked.answered_by = Some(decision.by);
        match decision.answer.refusal() {
            None => asked.state = QuestionState::Granted,
            Some(refusal) => self.refuse(&decision.call, decision.at, refusal),
        }
        if let Some(answer) = decision.standing {
            let project = answer.scope.project.clone();
            self.change(&project, |standing| {
                let answers = standing.answers.iter().cloned().chain([answer]).collect();
                standing.answers = Answers::new(answers);
            });
        }
        Ok(())
    }

    pub(super) fn edit(&mut self, edit: EditCall) -> Result<(), DecideError> {
        self.waiting(&edit.of, &edit.scope, edit.by, edit.at)?;
        let new = edit.park.record.id.clone();
        let granted_by = edit.by.may_answer_for(edit.park.approval.by).then_some(edit.by);
        self.park(edit.park, granted_by)?;
        if let Some(asked) = self.questions.get_mut(&edit.of) {
            asked.answer = Some(Answer::Edit);
            asked.answered_by = Some(edit.by);
            asked.replaced_by = Some(new);
        }
        if let Some(refusal) = Answer::Edit.refusal() {
            self.refuse(&edit.of, edit.at, refusal);
        }
        Ok(())
    }

    fn refuse(&mut self, call: &CallId, at: Timestamp, why: &str) {
        if let Some(asked) = self.questions.get_mut(call) {
            asked.state = QuestionState::Refused;
            asked.approval.sealed = None;
        }
        if let Some(call) = self.calls.get_mut(call) {
            deny(call, at, why);
        }
    }

    /// Updates the question of a closing call. It becomes void or expires only if the call is *pending*.
    pub(super) fn settle(&mut self, close: &CloseCall) -> Result<(), LedgerError> {
        let call = &close.record.id;
        let row = self.calls.get(call);
        let known = row.map(|row| row.status);
        // A process presumed dead must not close a call that another process has begun again.
        let begun = row.and_then(|row| row.begun_at).zip(close.record.begun_at);
        if known.is_some_and(CallStatus::is_final) || begun.is_some_and(|(row, close)| row != close) {
            return Err(already_recorded(call));
        }
        let state = match close.question {
            ParkedQuestion::None => return Ok(()),
            // An *unknown* call may begin again, so its sealed request stays.
            ParkedQuestion::Settled if !close.record.status.is_final() => return Ok(()),
            ParkedQuestion::Settled => QuestionState::Used,
            ParkedQuestion::Void | ParkedQuestion::Expired if known != Some(CallStatus::Pending) => {
                return Err(already_recorded(call));
            }
            ParkedQuestion::Void => QuestionState::Void,
            ParkedQuestion::Expired => QuestionState::Expired,
        };
        if let Some(asked) = self.questions.get_mut(call) {
            asked.state = state;
            asked.approval.sealed = None;
        }
        Ok(())
    }
}

/// A parked call that will not run.
fn deny(call: &mut CallRecord, at: Timestamp, why: &str) {
    call.status = CallStatus::Denied;
    call.ended_at = Some(at);
    call.error = Some(why.to_owned());
    call.duration_us = u64::try_from(at.since(call.asked_at).as_micros()).unwrap_or(u64::MAX);
}
