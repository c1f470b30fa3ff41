//! Parked calls, their answers and ends.

use std::sync::Arc;
use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, Answerer, Approval, Approvals, Attempt, BeginCall, CallRecord, CallStatus, CloseCall, Decision,
    EditCall, Grant, ParkCall, ParkedQuestion, QuestionState,
};
use toolroom::scope::Scope;

use crate::database::{call, with_status};

/// How long questions can be answered.
pub(crate) const LIFETIME: Duration = Duration::from_secs(60);

/// A call that waits for `by`, with a request sealed under some key.
pub(crate) fn parked(clock: &dyn Clock, scope: &Scope, by: Answerer) -> ParkCall {
    let record = CallRecord {
        status: CallStatus::Pending,
        begun_at: None,
        rule: Some("ask-first".into()),
        ..call(clock, scope)
    };
    let approval = Approval {
        call: record.id.clone(),
        arguments_hash: "arguments".into(),
        definition_hash: "definition".into(),
        by,
        reason: "it writes".to_owned(),
        expires_at: clock.now().after(LIFETIME),
        sealed: Some(sealed(record.id.as_str()).into()),
    };
    ParkCall { record, approval }
}

/// Sealed bytes as the host makes them: a version, the name of a key, then the ciphertext.
pub(crate) fn sealed(content: &str) -> Vec<u8> {
    sealed_under(b"key1", content)
}

pub(crate) fn sealed_under(key: &[u8; 4], content: &str) -> Vec<u8> {
    [&[1], &key[..], content.as_bytes(), &[0, 255]].concat()
}

pub(crate) fn decision(clock: &dyn Clock, park: &ParkCall, answer: Answer, by: Answerer) -> Decision {
    Decision {
        call: park.record.id.clone(),
        scope: park.record.scope.clone(),
        answer,
        by,
        at: clock.now(),
        standing: None,
    }
}

pub(crate) fn edit(clock: &dyn Clock, of: &ParkCall, by: Answerer, into: &ParkCall) -> EditCall {
    let (scope, park) = (of.record.scope.clone(), into.clone());
    EditCall { of: of.record.id.clone(), scope, by, at: clock.now(), park }
}

/// The parked call, begun for the first time.
pub(crate) fn resumed(clock: &dyn Clock, park: &ParkCall) -> BeginCall {
    begun(clock, park, Attempt::First)
}

/// The parked call, begun in its first or second attempt.
pub(crate) fn begun(clock: &dyn Clock, park: &ParkCall, attempt: Attempt) -> BeginCall {
    let record = CallRecord { status: CallStatus::Begun, begun_at: Some(clock.now()), ..park.record.clone() };
    let grant = Grant {
        call: park.record.id.clone(),
        arguments_hash: Arc::clone(&park.approval.arguments_hash),
        definition_hash: Arc::clone(&park.approval.definition_hash),
        at: clock.now(),
        attempt,
    };
    BeginCall { record, rates: Vec::new(), grant: Some(grant) }
}

/// The end of a parked call.
pub(crate) fn ended(park: &ParkCall, status: CallStatus, question: ParkedQuestion) -> CloseCall {
    CloseCall { question, ..with_status(&park.record, status) }
}

/// The state of a parked call, of its question, and of its sealed request.
pub(crate) type ParkedState = (CallStatus, QuestionState, SealedState);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SealedState {
    Stored,
    Deleted,
}

pub(crate) async fn parked_state(ledger: &impl Approvals, park: &ParkCall) -> ParkedState {
    let question = ledger.question(&park.record.scope, &park.record.id).await.unwrap().unwrap();
    let sealed = match &question.approval.sealed {
        Some(bytes) => {
            assert_eq!(Some(bytes), park.approval.sealed.as_ref(), "stored unchanged");
            SealedState::Stored
        }
        None => SealedState::Deleted,
    };
    (question.record.status, question.state, sealed)
}
