//! A clock that was wrong for a while and was put right.

use std::time::Duration;

use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, AnswerWindow, Answerer, BeginCall, BeginError, CallFilter, CallId, CallRecord, DecideError,
    Journal, Ledger, RateLimit, Storage,
};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;

use crate::database::{begin, call, done};
use crate::parked::{decision, edit, parked, resumed};

const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

pub(super) async fn a_question_from_the_future_is_over(ledger: &impl Storage, clock: &ManualClock) {
    let scope = Scope::project("future question");
    let now = clock.now();
    clock.set(now.after(YEAR));
    let (waiting, granted) =
        (parked(clock, &scope, Answerer::Caller), parked(clock, &scope, Answerer::Caller));
    for park in [&waiting, &granted] {
        ledger.park(park.clone()).await.unwrap();
    }
    ledger.decide(decision(clock, &granted, Answer::Once, Answerer::Caller)).await.unwrap();
    clock.set(now);

    let question = ledger.question(&scope, &waiting.record.id).await.unwrap().unwrap();
    assert!(question.is_late(clock.now()));
    let other = parked(clock, &scope, Answerer::Caller);
    for late in [
        ledger.decide(decision(clock, &waiting, Answer::Once, Answerer::Operator)).await,
        ledger.edit(edit(clock, &waiting, Answerer::Operator, &other)).await,
    ] {
        assert!(matches!(late, Err(DecideError::NotWaiting(_))), "{late:?}");
    }
    let late = ledger.begin(resumed(clock, &granted)).await;
    assert!(matches!(late, Err(BeginError::GrantSpent)), "{late:?}");

    // Clocks that differ a little have no effect.
    let park = parked(clock, &scope, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    clock.set(now.before(AnswerWindow::CLOCK_SLACK));
    ledger.decide(decision(clock, &park, Answer::Once, Answerer::Caller)).await.unwrap();
    ledger.begin(resumed(clock, &park)).await.unwrap();
    clock.set(now);
}

pub(super) async fn calls_from_the_future_lock_no_tool(ledger: &impl Ledger, clock: &ManualClock) {
    let scope = Scope::project("future rates");
    let two = [RateLimit::per_minute(2)];
    let attempt = async || {
        let record = call(clock, &scope);
        ledger.begin(BeginCall { record, rates: two.to_vec(), grant: None }).await
    };
    let now = clock.now();
    clock.set(now.after(YEAR));
    attempt().await.unwrap();
    attempt().await.unwrap();
    clock.set(now);
    attempt().await.unwrap();
    attempt().await.unwrap();
    let limited = attempt().await;
    assert!(matches!(limited, Err(BeginError::RateLimited { .. })), "the limit still holds: {limited:?}");

    // A call that began a moment later is in the same minute.
    clock.set(now.before(Duration::from_secs(1)));
    let limited = attempt().await;
    assert!(matches!(limited, Err(BeginError::RateLimited { .. })), "{limited:?}");
    clock.set(now);
}

/// Ids carry the time, as those of a real clock do.
pub(super) async fn the_last_call_is_the_one_written_last(
    ledger: &(impl Ledger + Journal),
    clock: &ManualClock,
) {
    let scope = Scope::project("future ids");
    let ids = ["call_5", "call_9", "call_1", "call_6"].map(CallId::new);
    for id in &ids {
        let record = CallRecord { id: id.clone(), ..call(clock, &scope) };
        ledger.begin(begin(&record)).await.unwrap();
        ledger.close(done(&record)).await.unwrap();
    }
    let list = async |filter: CallFilter| -> Vec<String> {
        let calls = ledger.calls(&scope, filter).await.unwrap();
        calls.into_iter().map(|call| call.id.to_string()).collect()
    };
    assert_eq!(list(CallFilter::default()).await, ["call_6", "call_1", "call_9", "call_5"]);
    let last = CallFilter { limit: Some(1), ..CallFilter::default() };
    assert_eq!(list(last).await, ["call_6"]);
    let before = CallFilter { before: Some(ids[1].clone()), ..CallFilter::default() };
    assert_eq!(list(before).await, ["call_5"]);
    let before_nothing = CallFilter { before: Some(CallId::new("call_of_nobody")), ..CallFilter::default() };
    assert_eq!(list(before_nothing).await, Vec::<String>::new());
}
