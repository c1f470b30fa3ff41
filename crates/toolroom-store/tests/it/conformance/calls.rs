//! Calls: begun, closed, listed, counted.

use std::time::Duration;

use serde_json::json;
use toolroom::clock::Clock;
use toolroom::ledger::{
    ArtifactId, CallFilter, CallId, CallRecord, CallStatus, CloseCall, Journal, Ledger, ToolUsage,
};
use toolroom::scope::Scope;
use toolroom::testing::ManualClock;
use toolroom::tool::{Effect, ErrorKind};

use crate::database::{begin, call, done, why, with_status};

pub(super) async fn a_call_is_begun_and_closed(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
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

pub(super) async fn a_final_status_stays_and_an_open_one_does_not(
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

pub(super) async fn every_field_comes_back(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
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
    ledger.close(CloseCall { record: record.clone(), ..done(&record) }).await.unwrap();
    let kept = ledger.call(&scope, &record.id).await.unwrap().unwrap();
    assert_eq!(kept, record);
    assert_eq!(kept.arguments.to_string(), record.arguments.to_string(), "the order of keys stays");
}

pub(super) async fn a_call_that_never_began_is_inserted(
    ledger: &(impl Ledger + Journal),
    clock: &ManualClock,
) {
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
    ledger.close(CloseCall { record: record.clone(), ..done(&record) }).await.unwrap();
    assert_eq!(ledger.call(&scope, &record.id).await.unwrap(), Some(record));
}

pub(super) async fn listings_are_filtered_and_newest_first(
    ledger: &(impl Ledger + Journal),
    clock: &ManualClock,
) {
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

pub(super) async fn scopes_see_their_own(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
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

pub(super) async fn usage_counts_what_was_let_run(ledger: &(impl Ledger + Journal), clock: &ManualClock) {
    let (ana, ben) = (Scope::user("usage", "ana"), Scope::user("usage", "ben"));
    let mut last = Vec::new();
    for (scope, tool, times) in [(&ana, "t:one", 3), (&ben, "t:one", 1), (&ben, "t:two", 2)] {
        for _ in 0..times {
            clock.advance(Duration::from_secs(1));
            let record = CallRecord { tool: tool.into(), ..call(clock, scope) };
            ledger.begin(begin(&record)).await.unwrap();
        }
        last.push(clock.now());
    }
    // Done or not makes no difference; never begun does.
    let over = CallRecord { tool: "t:two".into(), ..call(clock, &ana) };
    ledger.close(done(&over)).await.unwrap();
    let never = CallRecord { tool: "t:three".into(), begun_at: None, ..call(clock, &ana) };
    ledger.close(with_status(&never, CallStatus::Denied)).await.unwrap();
    let usage = async |scope: &Scope| {
        let mut usage = ledger.usage(scope).await.unwrap();
        usage.sort_by(|one, other| one.tool.cmp(&other.tool));
        usage
    };
    let used = |tool: &str, calls, last_at| ToolUsage { tool: tool.into(), calls, last_at };
    let over_at = clock.now();
    assert_eq!(usage(&ana).await, [used("t:one", 3, last[0]), used("t:two", 1, over_at)]);
    assert_eq!(usage(&ben).await, [used("t:one", 1, last[1]), used("t:two", 2, last[2])]);
    let whole = usage(&Scope::project("usage")).await;
    assert_eq!(whole, [used("t:one", 4, last[1]), used("t:two", 3, last[2].max(over_at))]);
    assert_eq!(usage(&Scope::user("no usage", "ana")).await, []);
}
