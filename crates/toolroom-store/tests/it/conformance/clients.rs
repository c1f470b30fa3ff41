//! Calls that a client runs: only the client delivers their result.

use toolroom::ledger::{
    Answer, Answerer, CallStatus, DecideError, Decision, EditCall, ParkedQuestion, QuestionState, Storage,
};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;

use crate::parked::{SealedState, decision, edit, ended, parked, parked_state, resumed};

pub(super) async fn only_the_client_answers_what_it_runs(ledger: &impl Storage, clock: &ManualClock) {
    let ana = Scope::user("clients", "ana");
    let handed = parked(clock, &ana, Answerer::Client);
    ledger.park(handed.clone()).await.unwrap();
    for (scope, by) in [
        (ana.clone(), Answerer::Caller),
        (ana.clone(), Answerer::Operator),
        (Scope::project("clients"), Answerer::Operator),
    ] {
        for answer in Answer::ALL {
            let decision = Decision { scope: scope.clone(), ..decision(clock, &handed, answer, by) };
            let refused = ledger.decide(decision).await;
            assert!(matches!(refused, Err(DecideError::OnlyClient)), "{by:?} {answer:?}: {refused:?}");
        }
        let other = parked(clock, &ana, Answerer::Caller);
        let edit = EditCall { scope: scope.clone(), ..edit(clock, &handed, by, &other) };
        let refused = ledger.edit(edit).await;
        assert!(matches!(refused, Err(DecideError::OnlyClient)), "{by:?}: {refused:?}");
    }
    for stranger in [Scope::user("clients", "ben"), Scope::project("clients"), Scope::user("other", "ana")] {
        let decision =
            Decision { scope: stranger, ..decision(clock, &handed, Answer::Once, Answerer::Client) };
        let refused = ledger.decide(decision).await;
        assert!(matches!(refused, Err(DecideError::NotWaiting(_))), "{refused:?}");
    }
    assert_eq!(
        parked_state(ledger, &handed).await,
        (CallStatus::Pending, QuestionState::Waiting, SealedState::Stored)
    );

    ledger.decide(decision(clock, &handed, Answer::Once, Answerer::Client)).await.unwrap();
    let twice = ledger.decide(decision(clock, &handed, Answer::Once, Answerer::Client)).await;
    assert!(matches!(twice, Err(DecideError::NotWaiting(_))), "{twice:?}");
    ledger.begin(resumed(clock, &handed)).await.unwrap();
    ledger.close(ended(&handed, CallStatus::Done, ParkedQuestion::Settled)).await.unwrap();
    assert_eq!(
        parked_state(ledger, &handed).await,
        (CallStatus::Done, QuestionState::Used, SealedState::Deleted)
    );
}

pub(super) async fn a_client_answers_nothing_that_people_are_asked(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    let scope = Scope::project("people");
    for (by, expected) in [(Answerer::Caller, 1), (Answerer::Operator, 2)] {
        let asked = parked(clock, &scope, by);
        ledger.park(asked.clone()).await.unwrap();
        let refused = ledger.decide(decision(clock, &asked, Answer::Once, Answerer::Client)).await;
        assert!(matches!(refused, Err(DecideError::NotYours)), "{refused:?}");
        // What waits for a client is no question to people.
        ledger.park(parked(clock, &scope, Answerer::Client)).await.unwrap();
        let listed = ledger.questions(&scope).await.unwrap();
        assert_eq!((listed.questions.len(), listed.unreadable.len()), (expected, 0));
    }
}
