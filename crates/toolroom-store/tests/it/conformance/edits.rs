//! Edits of a parked call: a new call with a question of its own.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, Answerer, CallStatus, DecideError, EditCall, ParkCall, QuestionState, Storage,
};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;

use crate::parked::{LIFETIME, SealedState, decision, edit, parked, parked_state, resumed};

/// A question that waits for `by`, and the call that may replace it.
async fn asked(
    ledger: &impl Storage,
    clock: &ManualClock,
    scope: &Scope,
    by: Answerer,
) -> (ParkCall, ParkCall) {
    let old = parked(clock, scope, by);
    ledger.park(old.clone()).await.unwrap();
    (old, parked(clock, scope, by))
}

pub(super) async fn an_edit_by_who_may_answer_is_a_yes_to_the_other_call(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    use Answerer::{Caller, Operator};
    let scope = Scope::user("edited", "ana");
    for (asks, editor) in [(Caller, Caller), (Caller, Operator), (Operator, Operator)] {
        let (old, new) = asked(ledger, clock, &scope, asks).await;
        clock.advance(Duration::from_secs(2));
        ledger.edit(edit(clock, &old, editor, &new)).await.unwrap();

        assert_eq!(
            parked_state(ledger, &old).await,
            (CallStatus::Denied, QuestionState::Refused, SealedState::Deleted)
        );
        let question = ledger.question(&scope, &old.record.id).await.unwrap().unwrap();
        assert_eq!((question.answer, question.answered_by), (Some(Answer::Edit), Some(editor)));
        assert_eq!(question.replaced_by, Some(new.record.id.clone()));
        let record = question.record;
        assert_eq!(record.error.as_deref(), Some("its arguments were edited; another call takes its place"));
        assert_eq!((record.ended_at, record.duration_us), (Some(clock.now()), 2_000_000));
        assert!(ledger.begin(resumed(clock, &old)).await.is_err(), "the old one never runs");

        assert_eq!(
            parked_state(ledger, &new).await,
            (CallStatus::Pending, QuestionState::Granted, SealedState::Stored)
        );
        let question = ledger.question(&scope, &new.record.id).await.unwrap().unwrap();
        assert_eq!((question.answer, question.answered_by), (Some(Answer::Once), Some(editor)));
        assert_eq!((question.replaced_by, &question.record), (None, &new.record));
        let again = ledger.decide(decision(clock, &new, Answer::No, Operator)).await;
        assert!(matches!(again, Err(DecideError::NotWaiting(_))), "{again:?}");
        ledger.begin(resumed(clock, &new)).await.unwrap();
        assert!(ledger.begin(resumed(clock, &new)).await.is_err(), "once");
    }
}

pub(super) async fn an_edit_by_who_may_not_answer_asks_anew(ledger: &impl Storage, clock: &ManualClock) {
    let scope = Scope::project("edited and asked");
    let (old, _) = asked(ledger, clock, &scope, Answerer::Caller).await;
    let new = parked(clock, &scope, Answerer::Operator);
    ledger.edit(edit(clock, &old, Answerer::Caller, &new)).await.unwrap();
    assert_eq!(
        parked_state(ledger, &old).await,
        (CallStatus::Denied, QuestionState::Refused, SealedState::Deleted)
    );
    assert_eq!(
        parked_state(ledger, &new).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );
    let question = ledger.question(&scope, &new.record.id).await.unwrap().unwrap();
    assert_eq!((question.answer, question.answered_by, question.replaced_by), (None, None, None));
    assert!(ledger.begin(resumed(clock, &new)).await.is_err(), "it was not approved");

    // The new question can be edited again by its answerer.
    let newest = parked(clock, &scope, Answerer::Operator);
    let too_soon = ledger.edit(edit(clock, &new, Answerer::Caller, &newest)).await;
    assert!(matches!(too_soon, Err(DecideError::NotYours)), "{too_soon:?}");
    ledger.edit(edit(clock, &new, Answerer::Operator, &newest)).await.unwrap();
    ledger.begin(resumed(clock, &newest)).await.unwrap();
}

pub(super) async fn an_edit_that_is_not_taken_changes_nothing(ledger: &impl Storage, clock: &ManualClock) {
    let scope = Scope::user("not edited", "ana");
    let refused = async |old: &ParkCall, edit: EditCall| {
        let before = ledger.question(&scope, &old.record.id).await.unwrap();
        let error = ledger.edit(edit.clone()).await.expect_err("it should not be taken");
        assert_eq!(ledger.question(&scope, &old.record.id).await.unwrap(), before);
        let new = &edit.park.record;
        assert_eq!(ledger.call(&new.scope, &new.id).await.unwrap(), None);
        assert_eq!(ledger.question(&new.scope, &new.id).await.unwrap(), None);
        error
    };
    let (old, new) = asked(ledger, clock, &scope, Answerer::Operator).await;
    let caller = refused(&old, edit(clock, &old, Answerer::Caller, &new)).await;
    assert!(matches!(caller, DecideError::NotYours), "{caller:?}");
    for stranger in [Scope::project("other"), Scope::user("not edited", "ben"), Scope::user("other", "ana")] {
        let theirs = EditCall { scope: stranger, ..edit(clock, &old, Answerer::Operator, &new) };
        let error = refused(&old, theirs).await;
        assert!(matches!(error, DecideError::NotWaiting(_)), "{error:?}");
    }
    let nobody = EditCall { of: new.record.id.clone(), ..edit(clock, &old, Answerer::Operator, &new) };
    let error = refused(&old, nobody).await;
    assert!(matches!(error, DecideError::NotWaiting(_)), "{error:?}");

    // The new call must not exist.
    let taken = parked(clock, &scope, Answerer::Operator);
    ledger.park(taken.clone()).await.unwrap();
    let error = ledger.edit(edit(clock, &old, Answerer::Operator, &taken)).await.unwrap_err();
    assert!(matches!(error, DecideError::Ledger(_)), "{error:?}");
    assert_eq!(
        parked_state(ledger, &old).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );
    assert_eq!(
        parked_state(ledger, &taken).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );

    ledger.decide(decision(clock, &old, Answer::Once, Answerer::Operator)).await.unwrap();
    let error = refused(&old, edit(clock, &old, Answerer::Operator, &new)).await;
    assert!(matches!(error, DecideError::NotWaiting(_)), "answered: {error:?}");

    let (old, new) = asked(ledger, clock, &scope, Answerer::Caller).await;
    clock.advance(LIFETIME);
    let error = refused(&old, edit(clock, &old, Answerer::Operator, &new)).await;
    assert!(matches!(error, DecideError::NotWaiting(_)), "too late: {error:?}");
}
