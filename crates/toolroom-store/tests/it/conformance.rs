//! What every ledger promises to the kernel. Run against the store and against the kernel's ledger in memory.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolroom::clock::Clock;
use toolroom::ledger::{
    Answer, Answerer, Approval, Artifact, ArtifactId, Artifacts, BeginCall, BeginError, CallFilter, CallId,
    CallRecord, CallStatus, CloseCall, DecideError, Decision, Grant, Journal, Ledger, ParkCall, RateKey,
    RateLimit, Switchboard, Switches,
};
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::{ManualClock, MemoryLedger};
use toolroom::tool::{Effect, ErrorKind};

use crate::place::{Place, START, begin, call, done, why, with_status};

#[tokio::test]
async fn the_store_keeps_what_every_ledger_promises() {
    let place = Place::new();
    let store = place.open().await;
    check(&store, &place.clock).await;
    store.shutdown().await.unwrap();
}

#[tokio::test]
async fn the_ledger_in_memory_keeps_what_every_ledger_promises() {
    check(&MemoryLedger::new(), &ManualClock::at(START)).await;
}

/// Each part works in a project of its own.
async fn check(ledger: &(impl Ledger + Journal + Artifacts + Switchboard), clock: &ManualClock) {
    a_call_is_begun_and_closed(ledger, clock).await;
    a_final_status_stays_and_an_open_one_does_not(ledger, clock).await;
    every_field_comes_back(ledger, clock).await;
    a_call_that_never_began_is_inserted(ledger, clock).await;
    listings_are_filtered_and_newest_first(ledger, clock).await;
    scopes_see_their_own(ledger, clock).await;
    a_grant_is_used_once(ledger, clock).await;
    a_grant_holds_only_for_what_was_asked(ledger, clock).await;
    answers_are_taken_from_those_who_may(ledger, clock).await;
    nobody_answers_or_uses_what_is_somebody_elses(ledger, clock).await;
    limits_count_who_they_say(ledger, clock).await;
    artifacts_belong_to_their_scope(ledger, clock).await;
    let nothing_set = ledger.switches(&ProjectId::new("switches")).await.unwrap();
    assert_eq!(*nothing_set, Switches::default());
}

async fn a_call_is_begun_and_closed(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let scope = Scope::project("begun");
    let record = call(clock, &scope);
    ledger.begin(begin(&record)).await.unwrap();
    assert_eq!(ledger.call(&scope, &record.id).await.unwrap(), Some(record.clone()));
    ledger.close(done(&record)).await.unwrap();
    assert_eq!(ledger.call(&scope, &record.id).await.unwrap(), Some(done(&record).record));

    // Not waiting for the begin, as pure calls do not.
    let record = call(clock, &scope);
    drop(ledger.begin(begin(&record)));
    ledger.close(done(&record)).await.unwrap();
    assert_eq!(ledger.call(&scope, &record.id).await.unwrap(), Some(done(&record).record));
}

async fn a_final_status_stays_and_an_open_one_does_not(
    ledger: &(impl Ledger + Journal),
    clock: &ManualClock,
) {
    use CallStatus::{Cancelled, Denied, Done, Failed, Unknown};
    let scope = Scope::project("final");
    for first in [Done, Failed, Denied, Cancelled] {
        let record = call(clock, &scope);
        ledger.begin(begin(&record)).await.unwrap();
        ledger.close(with_status(&record, first)).await.unwrap();
        for second in [Done, Failed, Denied, Cancelled, Unknown] {
            let error = ledger.close(with_status(&record, second)).await.unwrap_err();
            assert!(why(&error).contains("has already been recorded"), "{error:?}");
        }
        assert!(ledger.begin(begin(&record)).await.is_err());
        assert_eq!(ledger.call(&scope, &record.id).await.unwrap().unwrap().status, first);
    }
    let record = call(clock, &scope);
    ledger.begin(begin(&record)).await.unwrap();
    ledger.close(with_status(&record, Unknown)).await.unwrap();
    ledger.close(with_status(&record, Done)).await.unwrap();
    assert_eq!(ledger.call(&scope, &record.id).await.unwrap().unwrap().status, Done);
}

async fn every_field_comes_back(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let scope = Scope::user("fields", "ana");
    let record = CallRecord {
        tool: "mcp:søk \"quoted\"\n".into(),
        status: CallStatus::Failed,
        effect: Some(Effect::Destructive),
        kind: Some(ErrorKind::Upstream),
        arguments: json!({"z": 1, "a": [0.1, 1e300, -5, null, "\u{0}\u{7}é🙂\\"], "nested": {"deep": {}}})
            .into(),
        result: Some(json!("a text").into()),
        artifact: Some(ArtifactId::fresh(clock)),
        message: Some("said".to_owned()),
        error: Some("what a model reads".to_owned()),
        detail: Some("what an operator reads\nin two lines".to_owned()),
        rule: Some("no-rm".into()),
        thread: Some("thread".into()),
        run: Some("run".into()),
        ended_at: Some(clock.now()),
        ..call(clock, &scope)
    };
    ledger.close(CloseCall { record: record.clone(), artifact: None, enqueue: Vec::new() }).await.unwrap();
    let kept = ledger.call(&scope, &record.id).await.unwrap().unwrap();
    assert_eq!(kept, record);
    assert_eq!(kept.arguments.to_string(), record.arguments.to_string(), "the order of keys stays");
}

async fn a_call_that_never_began_is_inserted(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let scope = Scope::project("never began");
    let record = CallRecord {
        status: CallStatus::Failed,
        kind: Some(ErrorKind::NotFound),
        effect: None,
        definition: None,
        begun_at: None,
        arguments: json!("not an object").into(),
        ..call(clock, &scope)
    };
    ledger.close(CloseCall { record: record.clone(), artifact: None, enqueue: Vec::new() }).await.unwrap();
    assert_eq!(ledger.call(&scope, &record.id).await.unwrap(), Some(record));
}

async fn listings_are_filtered_and_newest_first(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let scope = Scope::project("listing");
    let mut ids = Vec::new();
    for number in 0..10 {
        clock.advance(Duration::from_secs(1));
        let tool = if number % 2 == 0 { "builtin:even" } else { "builtin:odd" };
        let record = CallRecord { tool: tool.into(), ..call(clock, &scope) };
        ledger.begin(begin(&record)).await.unwrap();
        if number < 5 {
            ledger.close(done(&record)).await.unwrap();
        }
        ids.insert(0, record.id);
    }
    let list = async |filter: CallFilter| -> Vec<CallId> {
        let calls = ledger.calls(&scope, filter).await.unwrap();
        calls.into_iter().map(|call| call.id).collect()
    };
    let all = CallFilter::default;
    assert_eq!(list(all()).await, ids);
    assert_eq!(list(CallFilter { limit: Some(3), ..all() }).await, ids[..3]);
    assert_eq!(list(CallFilter { before: Some(ids[6].clone()), ..all() }).await, ids[7..]);
    let done = CallFilter { status: Some(CallStatus::Done), ..all() };
    assert_eq!(list(done).await, ids[5..]);
    let odd = CallFilter { tool: Some("builtin:odd".to_owned()), limit: Some(2), ..all() };
    assert_eq!(list(odd).await, [ids[0].clone(), ids[2].clone()]);
    let young = CallFilter { since: Some(clock.now().before(Duration::from_secs(2))), ..all() };
    assert_eq!(list(young).await, ids[..3]);
    let suffix = ids[4].as_str().char_indices().rev().nth(7).map(|(at, _)| ids[4].as_str()[at..].to_owned());
    assert_eq!(list(CallFilter { id_suffix: suffix, ..all() }).await, [ids[4].clone()]);
    let longer = format!("longer-than-any-id-{}", ids[4]);
    assert_eq!(list(CallFilter { id_suffix: Some(longer), ..all() }).await, []);
}

async fn scopes_see_their_own(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let (whole, ana, ben) = (Scope::project("seen"), Scope::user("seen", "ana"), Scope::user("seen", "ben"));
    let of_ana = call(clock, &ana);
    let of_all = call(clock, &whole);
    ledger.begin(begin(&of_ana)).await.unwrap();
    ledger.begin(begin(&of_all)).await.unwrap();
    for (scope, sees_ana, sees_all) in [
        (&whole, true, true),
        (&ana, true, false),
        (&ben, false, false),
        (&Scope::project("elsewhere"), false, false),
        (&Scope::user("elsewhere", "ana"), false, false),
    ] {
        assert_eq!(ledger.call(scope, &of_ana.id).await.unwrap().is_some(), sees_ana, "{scope:?}");
        assert_eq!(ledger.call(scope, &of_all.id).await.unwrap().is_some(), sees_all, "{scope:?}");
        let listed = ledger.calls(scope, CallFilter::default()).await.unwrap();
        assert_eq!(listed.len(), usize::from(sees_ana) + usize::from(sees_all), "{scope:?}");
    }
}

fn parked(clock: &ManualClock, scope: &Scope, by: Answerer) -> ParkCall {
    let record = CallRecord { status: CallStatus::Pending, begun_at: None, ..call(clock, scope) };
    let approval = Approval {
        call: record.id.clone(),
        arguments_hash: "arguments".into(),
        definition_hash: "definition".into(),
        by,
        reason: "it writes".to_owned(),
        expires_at: clock.now().after(Duration::from_secs(60)),
    };
    ParkCall { record, approval }
}

fn decision(clock: &ManualClock, park: &ParkCall, answer: Answer, by: Answerer) -> Decision {
    Decision { call: park.record.id.clone(), scope: park.record.scope.clone(), answer, by, at: clock.now() }
}

/// The parked call, resumed.
fn resumed(clock: &ManualClock, park: &ParkCall) -> BeginCall {
    let record = CallRecord { status: CallStatus::Begun, begun_at: Some(clock.now()), ..park.record.clone() };
    let grant = Grant {
        call: park.record.id.clone(),
        arguments_hash: Arc::clone(&park.approval.arguments_hash),
        definition_hash: Arc::clone(&park.approval.definition_hash),
        at: clock.now(),
    };
    BeginCall { record, rates: Vec::new(), grant: Some(grant) }
}

async fn a_grant_is_used_once(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let scope = Scope::project("granted");
    let park = parked(clock, &scope, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    assert_eq!(ledger.call(&scope, &park.record.id).await.unwrap(), Some(park.record.clone()));

    let early = ledger.begin(resumed(clock, &park)).await;
    assert!(matches!(early, Err(BeginError::GrantSpent)), "nobody has answered: {early:?}");
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

async fn a_grant_holds_only_for_what_was_asked(ledger: &impl Ledger, clock: &ManualClock) {
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

async fn answers_are_taken_from_those_who_may(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
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

async fn nobody_answers_or_uses_what_is_somebody_elses(ledger: &impl Ledger, clock: &ManualClock) {
    let owner = Scope::user("answers", "ana");
    let park = parked(clock, &owner, Answerer::Caller);
    ledger.park(park.clone()).await.unwrap();
    for stranger in [Scope::project("other"), Scope::user("answers", "ben"), Scope::user("other", "ana")] {
        let decision =
            Decision { scope: stranger, ..decision(clock, &park, Answer::Once, Answerer::Operator) };
        let refused = ledger.decide(decision).await;
        assert!(matches!(refused, Err(DecideError::NotWaiting(_))), "{refused:?}");
    }
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

async fn limits_count_who_they_say(ledger: &impl Ledger, clock: &ManualClock) {
    let project = |max, per| RateLimit { max, per: Duration::from_secs(per), key: RateKey::Project };
    let attempt = async |scope: &Scope, tool: &str, limits: &[RateLimit]| {
        let record = CallRecord { tool: tool.into(), ..call(clock, scope) };
        ledger.begin(BeginCall { record, rates: limits.to_vec(), grant: None }).await
    };
    let limited_for = |result: Result<(), BeginError>| match result {
        Err(BeginError::RateLimited { retry_after, .. }) => Some(retry_after.as_secs()),
        other => panic!("not limited: {other:?}"),
    };
    let (ana, ben, nobody) =
        (Scope::user("rates", "ana"), Scope::user("rates", "ben"), Scope::project("rates"));
    let two = [RateLimit::per_minute(2)];
    attempt(&ana, "t", &two).await.unwrap();
    clock.advance(Duration::from_secs(10));
    attempt(&ana, "t", &two).await.unwrap();
    assert_eq!(limited_for(attempt(&ana, "t", &two).await), Some(50));
    attempt(&ben, "t", &two).await.unwrap();
    attempt(&nobody, "t", &two).await.unwrap();
    attempt(&nobody, "t", &two).await.unwrap();
    assert_eq!(
        limited_for(attempt(&nobody, "t", &two).await),
        Some(60),
        "calls without a user count together"
    );
    attempt(&ana, "other", &two).await.unwrap();
    attempt(&Scope::user("other rates", "ana"), "t", &two).await.unwrap();
    // Five have begun in the project: ana twice, ben once, nobody twice.
    attempt(&ben, "t", &[project(6, 60)]).await.unwrap();
    assert_eq!(limited_for(attempt(&ben, "t", &[project(6, 60)]).await), Some(50));
    assert_eq!(limited_for(attempt(&ben, "t", &[project(100, 60), project(0, 7)]).await), Some(7));
    clock.advance(Duration::from_secs(50));
    attempt(&ana, "t", &two).await.unwrap();
}

async fn artifacts_belong_to_their_scope(ledger: &(impl Ledger + Artifacts), clock: &ManualClock) {
    let ana = Scope::user("artifacts", "ana");
    let keep = async |scope: &Scope, media_type, bytes: &[u8]| {
        let record = call(clock, scope);
        let artifact = Artifact {
            id: ArtifactId::fresh(clock),
            call: record.id.clone(),
            scope: scope.clone(),
            media_type,
            bytes: bytes.into(),
            kept_at: clock.now(),
        };
        let close = CloseCall { artifact: Some(artifact.clone()), ..done(&record) };
        ledger.close(close).await.unwrap();
        artifact
    };
    let text = keep(&ana, Artifact::TEXT, b"whole\0text").await;
    let json = keep(&ana, Artifact::JSON, b"[1,2,3]").await;
    let same = keep(&Scope::user("artifacts", "ben"), Artifact::JSON, b"[1,2,3]").await;
    let empty = keep(&ana, Artifact::TEXT, b"").await;
    for artifact in [&text, &json, &same, &empty] {
        let whole = Scope::project("artifacts");
        assert_eq!(ledger.artifact(&artifact.scope, &artifact.id).await.unwrap().as_ref(), Some(artifact));
        assert_eq!(ledger.artifact(&whole, &artifact.id).await.unwrap().as_ref(), Some(artifact));
    }
    assert_eq!(ledger.artifact(&ana, &same.id).await.unwrap(), None, "another user's");
    assert_eq!(ledger.artifact(&Scope::project("other"), &json.id).await.unwrap(), None, "another project's");
    assert_eq!(ledger.artifact(&ana, &ArtifactId::new("art_of_nobody")).await.unwrap(), None);
}
