//! Standing answers.

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, AnswerId, Answerer, DecideError, Decision, ParkCall, Standing, StandingAnswer, Storage, Switches,
};
use toolroom::policy::Ruling;
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::ManualClock;

use crate::parked::{decision, parked};

fn answer(clock: &ManualClock, park: &ParkCall) -> StandingAnswer {
    StandingAnswer {
        id: AnswerId::fresh(clock),
        scope: park.record.scope.clone(),
        effect: Ruling::Allow,
        tool: "mcp:søk \"quoted\"\n".into(),
        when: Some("args.command == 'ls'".to_owned()),
        lifts: Some("ask-first".to_owned()),
        definition: Some("definition".into()),
        thread: Some("thread".into()),
        destination: None,
        call: park.record.id.clone(),
        by: Answerer::Operator,
        at: clock.now(),
    }
}

fn answers(standing: &Standing) -> Vec<StandingAnswer> {
    standing.answers.iter().cloned().collect()
}

pub(super) async fn an_answer_that_outlives_its_question_comes_back_whole(
    ledger: &impl Storage,
    clock: &ManualClock,
) {
    let project = ProjectId::new("standing");
    let nothing_set = ledger.standing(&project).await.unwrap();
    assert_eq!(nothing_set.switches, Switches::default());
    assert_eq!(answers(&nothing_set), []);

    let mut given = Vec::new();
    let mut revision = nothing_set.revision;
    for (said, scope) in [
        (Answer::Session, Scope::user("standing", "ana")),
        (Answer::Always, Scope::project("standing")),
        (Answer::Never, Scope::user("standing", "ben")),
    ] {
        let park = parked(clock, &scope, Answerer::Operator);
        ledger.park(park.clone()).await.unwrap();
        let whole = answer(clock, &park);
        let standing = match said {
            Answer::Session => whole,
            Answer::Never => StandingAnswer { effect: Ruling::Deny, lifts: None, ..whole },
            _ => StandingAnswer { when: None, lifts: None, definition: None, thread: None, ..whole },
        };
        given.push(standing.clone());
        let said = Decision { standing: Some(standing), ..decision(clock, &park, said, Answerer::Operator) };
        ledger.decide(said).await.unwrap();
        let now = ledger.standing(&project).await.unwrap();
        assert_eq!(answers(&now), given, "oldest first");
        assert!(now.revision > revision, "{} after {revision}", now.revision);
        revision = now.revision;
    }
    let elsewhere = ledger.standing(&ProjectId::new("standing elsewhere")).await.unwrap();
    assert_eq!(answers(&elsewhere), []);
}

pub(super) async fn an_answer_that_is_not_taken_leaves_nothing(ledger: &impl Storage, clock: &ManualClock) {
    let scope = Scope::project("not standing");
    let park = parked(clock, &scope, Answerer::Operator);
    ledger.park(park.clone()).await.unwrap();
    let before = ledger.standing(&scope.project).await.unwrap().revision;
    let standing = Some(answer(clock, &park));
    let refused = Decision { standing, ..decision(clock, &park, Answer::Always, Answerer::Caller) };
    let refused = ledger.decide(refused).await;
    assert!(matches!(refused, Err(DecideError::NotYours)), "{refused:?}");
    let after = ledger.standing(&scope.project).await.unwrap();
    assert_eq!((answers(&after), after.revision), (Vec::new(), before));

    // An answer for one call does not change standing answers.
    ledger.decide(decision(clock, &park, Answer::Once, Answerer::Operator)).await.unwrap();
    let after = ledger.standing(&scope.project).await.unwrap();
    assert_eq!((answers(&after), after.revision), (Vec::new(), before));
}
