//! Grants: who may give them, and what they permit.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, Answerer, Attempt, BeginError, CallId, CallStatus, DecideError, Decision, Grant, Journal, Ledger,
    ParkedQuestion, Storage,
};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;
use toolroom::tool::ErrorKind;

use crate::database::{call, done};
use crate::parked::{LIFETIME, begun, decision, ended, parked, resumed};

pub(super) async fn a_grant_is_used_once(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let scope = Scope::project("granted");
    let park = parked(clock, &scope, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    assert_eq!(ledger.call(&scope, &park.record.id).await.unwrap(), Some(park.record.clone()));

    let early = ledger.begin(resumed(clock, &park)).await;
    assert!(matches!(early, Err(BeginError::GrantSpent)), "it was not answered: {early:?}");
    ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    let resumed = resumed(clock, &park);
    ledger.begin(resumed.clone()).await.unwrap();
    let running = ledger.call(&scope, &park.record.id).await.unwrap();
    assert_eq!(running, Some(resumed.record.clone()));
    let again = ledger.begin(resumed.clone()).await;
    assert!(matches!(again, Err(BeginError::GrantSpent)), "used twice: {again:?}");

    ledger.close(done(&resumed.record)).await.unwrap();
    let closed = ledger.call(&scope, &park.record.id).await.unwrap();
    assert_eq!(closed, Some(done(&resumed.record).record));
}

pub(super) async fn a_grant_holds_only_for_what_was_asked(ledger: &impl Ledger, clock: &ManualClock) {
    let scope = Scope::project("bound");
    let park = parked(clock, &scope, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    ledger.decide(decision(clock, &park, Answer::Always, Answerer::Operator)).await.unwrap();
    let change_grant = |change: fn(&mut Grant)| {
        let mut begin = resumed(clock, &park);
        begin.grant.as_mut().map(change);
        ledger.begin(begin)
    };
    let other_arguments = change_grant(|grant| grant.arguments_hash = "others".into()).await;
    assert!(matches!(other_arguments, Err(BeginError::GrantSpent)), "{other_arguments:?}");
    let other_definition = change_grant(|grant| grant.definition_hash = "other".into()).await;
    assert!(matches!(other_definition, Err(BeginError::GrantSpent)), "{other_definition:?}");
    let other_call = change_grant(|grant| grant.call = CallId::new("call_of_nobody")).await;
    assert!(matches!(other_call, Err(BeginError::GrantSpent)), "{other_call:?}");
    let too_late = change_grant(|grant| grant.at = grant.at.after(Duration::from_secs(60))).await;
    assert!(matches!(too_late, Err(BeginError::GrantSpent)), "{too_late:?}");
    ledger.begin(resumed(clock, &park)).await.unwrap();
}

pub(super) async fn answers_are_taken_from_those_who_may(
    ledger: &(impl Ledger + Journal),
    clock: &ManualClock,
) {
    let scope = Scope::project("answered");
    let park = parked(clock, &scope, Answerer::Operator);
    let nobody_waits = ledger.decide(decision(clock, &park, Answer::Once, Answerer::Operator)).await;
    assert!(matches!(nobody_waits, Err(DecideError::NotWaiting(_))), "{nobody_waits:?}");
    ledger.park(park.clone()).await.unwrap();
    let caller = ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await;
    assert!(matches!(caller, Err(DecideError::NotYours)), "{caller:?}");
    clock.advance(Duration::from_secs(5));
    ledger.decide(decision(clock, &park, Answer::No, Answerer::Operator)).await.unwrap();
    let denied = ledger.call(&scope, &park.record.id).await.unwrap().unwrap();
    assert_eq!((denied.status, denied.ended_at), (CallStatus::Denied, Some(clock.now())));
    let twice = ledger.decide(decision(clock, &park, Answer::Once, Answerer::Operator)).await;
    assert!(matches!(twice, Err(DecideError::NotWaiting(_))), "{twice:?}");
    let refused = ledger.begin(resumed(clock, &park)).await;
    assert!(matches!(refused, Err(BeginError::GrantSpent)), "{refused:?}");

    let park = parked(clock, &scope, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    clock.advance(Duration::from_secs(60));
    let expired = ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await;
    assert!(matches!(expired, Err(DecideError::NotWaiting(_))), "{expired:?}");
}

pub(super) async fn other_scopes_cannot_answer_or_use_a_question(ledger: &impl Ledger, clock: &ManualClock) {
    let owner = Scope::user("answers", "ana");
    let park = parked(clock, &owner, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    for stranger in [Scope::project("other"), Scope::user("answers", "ben"), Scope::user("other", "ana")] {
        let decision =
            Decision { scope: stranger, ..decision(clock, &park, Answer::Once, Answerer::Operator) };
        let refused = ledger.decide(decision).await;
        assert!(matches!(refused, Err(DecideError::NotWaiting(_))), "{refused:?}");
    }
    let as_caller = Decision {
        scope: Scope::project("answers"),
        ..decision(clock, &park, Answer::Always, Answerer::Caller)
    };
    let refused = ledger.decide(as_caller).await;
    assert!(matches!(refused, Err(DecideError::NotWaiting(_))), "a caller has only their own: {refused:?}");
    let for_project = Decision {
        scope: Scope::project("answers"),
        ..decision(clock, &park, Answer::Once, Answerer::Operator)
    };
    ledger.decide(for_project).await.unwrap();
    let mut theirs = resumed(clock, &park);
    theirs.record = call(clock, &Scope::user("answers", "ben"));
    let spent = ledger.begin(theirs).await;
    assert!(matches!(spent, Err(BeginError::GrantSpent)), "{spent:?}");
    ledger.begin(resumed(clock, &park)).await.unwrap();
}

pub(super) async fn only_a_call_whose_end_is_unknown_begins_again(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    let scope = Scope::project("again");
    let park = parked(clock, &scope, Answerer::Caller);
    let again = async |allowed: Attempt| {
        for attempt in [Attempt::First, Attempt::Retry].into_iter().filter(|attempt| *attempt != allowed) {
            let refused = ledger.begin(begun(clock, &park, attempt)).await;
            assert!(matches!(refused, Err(BeginError::GrantSpent)), "{attempt:?}: {refused:?}");
        }
    };
    let never = async || {
        again(Attempt::First).await;
        again(Attempt::Retry).await;
    };
    never().await;
    ledger.park(park.clone()).await.unwrap();
    never().await;
    ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    again(Attempt::First).await;
    ledger.begin(resumed(clock, &park)).await.unwrap();
    never().await;

    let mut broken = ended(&park, CallStatus::Unknown, ParkedQuestion::Settled);
    broken.record.ended_at = Some(clock.now());
    broken.record.kind = Some(ErrorKind::Cancelled);
    broken.record.error = Some("stopped in the middle".to_owned());
    broken.record.detail = Some("by the test".to_owned());
    ledger.close(broken).await.unwrap();
    again(Attempt::Retry).await;
    clock.advance(Duration::from_secs(5));
    let mut late = begun(clock, &park, Attempt::Retry);
    late.grant.as_mut().unwrap().at = clock.now().after(LIFETIME);
    let late = ledger.begin(late).await;
    assert!(matches!(late, Err(BeginError::GrantSpent)), "{late:?}");
    let mut anew = begun(clock, &park, Attempt::Retry);
    anew.record.rule = Some("another-rule".into());
    ledger.begin(anew.clone()).await.unwrap();
    let running = ledger.call(&scope, &park.record.id).await.unwrap();
    assert_eq!(running, Some(anew.record), "nothing of its first end is left");
    never().await;
    ledger.close(ended(&park, CallStatus::Done, ParkedQuestion::Settled)).await.unwrap();
    never().await;
}

pub(super) async fn a_process_taken_for_dead_does_not_close_a_call_that_began_again(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    let scope = Scope::project("taken for dead");
    let park = parked(clock, &scope, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    let first = resumed(clock, &park);
    ledger.begin(first.clone()).await.unwrap();
    let mut lost = done(&first.record);
    (lost.record.status, lost.question) = (CallStatus::Unknown, ParkedQuestion::Settled);
    ledger.close(lost).await.unwrap();
    clock.advance(Duration::from_secs(1));
    let second = begun(clock, &park, Attempt::Retry);
    ledger.begin(second.clone()).await.unwrap();

    let mut late = done(&first.record);
    late.question = ParkedQuestion::Settled;
    assert!(ledger.close(late).await.is_err(), "another one runs by now");
    let running = ledger.question(&scope, &park.record.id).await.unwrap().unwrap();
    assert_eq!(running.record.status, CallStatus::Begun);
    assert!(running.approval.sealed.is_some(), "what it may need again is kept");
    let mut done = done(&second.record);
    done.question = ParkedQuestion::Settled;
    ledger.close(done).await.unwrap();
}
