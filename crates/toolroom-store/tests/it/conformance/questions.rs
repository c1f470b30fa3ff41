//! Questions: their content, lifetime and visibility.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, Answerer, Approvals, Attempt, CallId, CallStatus, ParkedQuestion, Question, QuestionState,
    Storage,
};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;

use crate::database::call;
use crate::parked::{SealedState, begun, decision, ended, parked, parked_state, resumed};

pub(super) async fn a_question_tells_everything(ledger: &impl Storage, clock: &ManualClock) {
    let scope = Scope::user("told", "ana");
    for by in [Answerer::Caller, Answerer::Operator] {
        let mut park = parked(clock, &scope, by);
        park.approval.reason = "it says \"yes\"\nin two lines 🙂".to_owned();
        ledger.park(park.clone()).await.unwrap();
        let asked = Question {
            record: park.record.clone(),
            approval: park.approval.clone(),
            state: QuestionState::Waiting,
            answer: None,
            answered_by: None,
            replaced_by: None,
        };
        assert_eq!(ledger.question(&scope, &park.record.id).await.unwrap(), Some(asked.clone()));

        ledger.decide(decision(clock, &park, Answer::Session, Answerer::Operator)).await.unwrap();
        let granted = Question {
            state: QuestionState::Granted,
            answer: Some(Answer::Session),
            answered_by: Some(Answerer::Operator),
            ..asked
        };
        assert_eq!(ledger.question(&scope, &park.record.id).await.unwrap(), Some(granted.clone()));

        clock.advance(Duration::from_secs(1));
        let begun = resumed(clock, &park);
        ledger.begin(begun.clone()).await.unwrap();
        let used = Question { state: QuestionState::Used, record: begun.record, ..granted };
        assert_eq!(ledger.question(&scope, &park.record.id).await.unwrap(), Some(used));
    }
    let never_parked = call(clock, &scope);
    ledger.begin(crate::database::begin(&never_parked)).await.unwrap();
    assert_eq!(ledger.question(&scope, &never_parked.id).await.unwrap(), None);

    let mut unsealed = parked(clock, &scope, Answerer::Caller);
    unsealed.approval.sealed = None;
    ledger.park(unsealed.clone()).await.unwrap();
    assert_eq!(
        parked_state(ledger, &unsealed).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Deleted)
    );
}

pub(super) async fn a_call_is_parked_once(ledger: &impl Storage, clock: &ManualClock) {
    let park = parked(clock, &Scope::project("once"), Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    assert!(ledger.park(park.clone()).await.is_err(), "a question cannot be asked again");
    assert_eq!(
        parked_state(ledger, &park).await,
        (CallStatus::Pending, QuestionState::Granted, SealedState::Stored)
    );
}

pub(super) async fn a_yes_keeps_what_is_sealed_and_a_no_removes_it(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    use Answer::{Always, Never, No, Once, Session, Stop};
    let scope = Scope::project("sealed");
    for answer in [Once, Session, Always, No, Never, Stop] {
        let park = parked(clock, &scope, Answerer::Caller);
        ledger.park(park.clone()).await.unwrap();
        assert_eq!(
            parked_state(ledger, &park).await,
            (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
        );
        clock.advance(Duration::from_secs(3));
        ledger.decide(decision(clock, &park, answer, Answerer::Caller)).await.unwrap();
        let expected = match answer.is_yes() {
            true => (CallStatus::Pending, QuestionState::Granted, SealedState::Stored),
            false => (CallStatus::Denied, QuestionState::Refused, SealedState::Deleted),
        };
        assert_eq!(parked_state(ledger, &park).await, expected, "{answer:?}");
        let record = ledger.call(&scope, &park.record.id).await.unwrap().unwrap();
        let told = (record.error.as_deref(), record.ended_at, record.duration_us);
        match answer.is_yes() {
            true => assert_eq!(told, (None, None, 0), "{answer:?}"),
            false => assert_eq!(told, (answer.refusal(), Some(clock.now()), 3_000_000), "{answer:?}"),
        }
    }
}

pub(super) async fn only_a_final_status_removes_what_is_sealed_for_a_call_that_ran(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    use CallStatus::{Begun, Cancelled, Denied, Done, Failed, Unknown};
    let scope = Scope::project("settled");
    for last in [Done, Failed, Denied, Cancelled] {
        let park = parked(clock, &scope, Answerer::Caller);
        ledger.park(park.clone()).await.unwrap();
        ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
        ledger.begin(resumed(clock, &park)).await.unwrap();
        assert_eq!(parked_state(ledger, &park).await, (Begun, QuestionState::Used, SealedState::Stored));
        // It may have to begin again.
        ledger.close(ended(&park, Unknown, ParkedQuestion::Settled)).await.unwrap();
        assert_eq!(parked_state(ledger, &park).await, (Unknown, QuestionState::Used, SealedState::Stored));
        ledger.begin(begun(clock, &park, Attempt::Retry)).await.unwrap();
        assert_eq!(parked_state(ledger, &park).await, (Begun, QuestionState::Used, SealedState::Stored));
        ledger.close(ended(&park, last, ParkedQuestion::Settled)).await.unwrap();
        assert_eq!(parked_state(ledger, &park).await, (last, QuestionState::Used, SealedState::Deleted));
        assert!(ledger.close(ended(&park, Done, ParkedQuestion::Settled)).await.is_err());
        assert_eq!(parked_state(ledger, &park).await, (last, QuestionState::Used, SealedState::Deleted));
    }
    // A rejected close leaves the question unchanged.
    let park = parked(clock, &scope, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    ledger.decide(decision(clock, &park, Answer::No, Answerer::Caller)).await.unwrap();
    assert!(ledger.close(ended(&park, Done, ParkedQuestion::Settled)).await.is_err());
    assert_eq!(parked_state(ledger, &park).await, (Denied, QuestionState::Refused, SealedState::Deleted));
}

pub(super) async fn what_is_void_or_has_expired_ends_only_what_is_pending(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    use CallStatus::{Begun, Denied, Done, Unknown};
    let scope = Scope::project("void");
    for (question, state) in
        [(ParkedQuestion::Void, QuestionState::Void), (ParkedQuestion::Expired, QuestionState::Expired)]
    {
        let ask = async || {
            let park = parked(clock, &scope, Answerer::Caller);
            ledger.park(park.clone()).await.unwrap();
            park
        };
        let waiting = ask().await;
        ledger.close(ended(&waiting, Denied, question)).await.unwrap();
        assert_eq!(parked_state(ledger, &waiting).await, (Denied, state, SealedState::Deleted));

        let granted = ask().await;
        ledger.decide(decision(clock, &granted, Answer::Once, Answerer::Caller)).await.unwrap();
        ledger.close(ended(&granted, Denied, question)).await.unwrap();
        assert_eq!(parked_state(ledger, &granted).await, (Denied, state, SealedState::Deleted));
        assert!(ledger.begin(resumed(clock, &granted)).await.is_err());

        let running = ask().await;
        ledger.decide(decision(clock, &running, Answer::Once, Answerer::Caller)).await.unwrap();
        ledger.begin(resumed(clock, &running)).await.unwrap();
        for status in [Begun, Unknown, Done] {
            if status != Begun {
                ledger.close(ended(&running, status, ParkedQuestion::Settled)).await.unwrap();
            }
            let before = parked_state(ledger, &running).await;
            assert_eq!(before.0, status);
            assert!(ledger.close(ended(&running, Denied, question)).await.is_err(), "{status}");
            assert_eq!(parked_state(ledger, &running).await, before);
        }
        let nothing = parked(clock, &scope, Answerer::Caller);
        assert!(ledger.close(ended(&nothing, Denied, question)).await.is_err(), "never parked");
        assert_eq!(ledger.call(&scope, &nothing.record.id).await.unwrap(), None);
    }
}

async fn listed(ledger: &impl Approvals, scope: &Scope) -> Vec<CallId> {
    let questions = ledger.questions(scope).await.unwrap().questions;
    questions.into_iter().map(|question| question.record.id).collect()
}

pub(super) async fn pending_ones_are_listed_oldest_first(ledger: &impl Storage, clock: &ManualClock) {
    let scope = Scope::project("inbox");
    let mut parks = Vec::new();
    for _ in 0..6 {
        clock.advance(Duration::from_secs(1));
        let park = parked(clock, &scope, Answerer::Caller);
        ledger.park(park.clone()).await.unwrap();
        parks.push(park);
    }
    let id = |database: usize| parks[database].record.id.clone();
    assert_eq!(listed(ledger, &scope).await, (0..6).map(id).collect::<Vec<_>>());
    let answer = async |database: usize, answer| {
        ledger.decide(decision(clock, &parks[database], answer, Answerer::Caller)).await.unwrap();
    };
    answer(1, Answer::No).await;
    answer(3, Answer::Once).await;
    answer(4, Answer::Once).await;
    ledger.begin(resumed(clock, &parks[4])).await.unwrap();
    ledger.close(ended(&parks[5], CallStatus::Denied, ParkedQuestion::Expired)).await.unwrap();
    // An approval that was not used is still pending.
    assert_eq!(listed(ledger, &scope).await, [id(0), id(2), id(3)]);
    let first = ledger.questions(&scope).await.unwrap().questions.swap_remove(0);
    assert_eq!(ledger.question(&scope, &id(0)).await.unwrap(), Some(first));
}

pub(super) async fn other_scopes_do_not_see_a_question(ledger: &impl Storage, clock: &ManualClock) {
    let (whole, ana) = (Scope::project("private"), Scope::user("private", "ana"));
    let of_ana = parked(clock, &ana, Answerer::Caller);
    let of_all = parked(clock, &whole, Answerer::Caller);
    ledger.park(of_ana.clone()).await.unwrap();
    ledger.park(of_all.clone()).await.unwrap();
    for (scope, sees_ana, sees_all) in [
        (&whole, true, true),
        (&ana, true, false),
        (&Scope::user("private", "ben"), false, false),
        (&Scope::project("elsewhere"), false, false),
        (&Scope::user("elsewhere", "ana"), false, false),
    ] {
        for (park, sees) in [(&of_ana, sees_ana), (&of_all, sees_all)] {
            let question = ledger.question(scope, &park.record.id).await.unwrap();
            assert_eq!(question.is_some(), sees, "{scope:?}");
            let questions = listed(ledger, scope).await;
            assert_eq!(questions.contains(&park.record.id), sees, "{scope:?}");
        }
    }
    assert_eq!(ledger.question(&whole, &CallId::new("call_of_nobody")).await.unwrap(), None);
}
