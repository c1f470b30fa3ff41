//! T16: rates and concurrency.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::Semaphore;
use toolroom::call::CallRequest;
use toolroom::clock::Timestamp;
use toolroom::ledger::{CallFilter, Journal, RateKey, RateLimit};
use toolroom::scope::Scope;
use toolroom::testing::{Bench, ManualClock, MemoryLedger, unguarded};
use toolroom::tool::{Effect, ErrorKind, NoArguments, RaisedBy, ToolError, ToolOutput, tool_fn};
use toolroom::{Toolroom, call::Outcome};

use crate::room::{error_of, kind_of, scripted, spec};

#[tokio::test]
async fn a_rate_is_held_for_each_user_and_says_when_to_come_back() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(0)));
    let ledger = Arc::new(MemoryLedger::new());
    let room =
        Toolroom::builder(Arc::clone(&ledger)).policy(unguarded()).clock(Arc::clone(&clock) as _).build();
    let mut limited = spec(Effect::Read);
    limited.rates = vec![RateLimit::per_hour(2)];
    room.catalog().register(scripted(limited, |_c, _a| async { Ok(ToolOutput::new(1)) })).unwrap();
    let call =
        async |user: &str| room.call(CallRequest::new("probe").scope(Scope::user("local", user))).await;

    assert!(call("ann").await.for_client().success);
    clock.advance(Duration::from_secs(600));
    assert!(call("ann").await.for_client().success);
    let refused = call("ann").await;
    let error = error_of(&refused);
    assert_eq!((error.kind(), error.raised_by()), (ErrorKind::RateLimited, RaisedBy::Kernel));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3000)));
    assert!(error.for_model().contains("2 calls an hour"), "{error}");
    assert!(call("bob").await.for_client().success, "bob has his own");

    clock.advance(Duration::from_secs(3001));
    assert!(call("ann").await.for_client().success, "the oldest call has left the window");
    assert!(!call("ann").await.for_client().success);
}

/// Whether an answer is at hand is asked once: what was found is the answer, also if it is gone a moment later.
#[tokio::test]
async fn an_answer_at_hand_is_the_answer_and_counts_as_no_call() {
    for (effect, is_taken) in [(Effect::Pure, true), (Effect::Read, true), (Effect::OnceOnlyWrite, false)] {
        let (looks, runs) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (looked, ran) = (Arc::clone(&looks), Arc::clone(&runs));
        let tool = tool_fn("app:probe", "Looks up", move |_context, _: NoArguments| {
            ran.fetch_add(1, Ordering::SeqCst);
            async { Ok("asked for") }
        })
        .unwrap()
        .with(|spec| spec.effect(effect).rate(RateLimit::per_hour(1)))
        // Only the first who looks finds something.
        .answers_at_hand(move |_, _| {
            let is_first = looked.fetch_add(1, Ordering::SeqCst) == 0;
            async move { Ok(is_first.then(|| ToolOutput::new(json!("found")))) }
        });
        let bench = Bench::new(tool).unwrap();
        let first = bench.run(json!({})).await;
        let expected = if is_taken { "found" } else { "asked for" };
        assert_eq!((first.success, first.result), (true, Some(json!(expected))), "{effect}");
        assert_eq!(runs.load(Ordering::SeqCst), usize::from(!is_taken), "{effect}");
        // What was found has not used up the one call of this hour.
        assert_eq!(bench.run(json!({})).await.success, is_taken, "{effect}");
        assert_eq!(kind_of(&bench.report(json!({})).await), ErrorKind::RateLimited, "{effect}");
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{effect}");
        let row = bench.journal().await.pop().unwrap();
        assert_eq!(row.begun_at.is_none(), is_taken, "{effect}: {row:?}");
    }
}

#[tokio::test]
async fn what_can_never_work_as_things_stand_uses_up_no_rate() {
    let is_set_up = Arc::new(AtomicBool::new(false));
    let looked = Arc::clone(&is_set_up);
    let tool = tool_fn("app:probe", "Looks up", |_context, _: NoArguments| async { Ok("asked for") })
        .unwrap()
        .with(|spec| spec.effect(Effect::Read).rate(RateLimit::per_hour(1)))
        .answers_at_hand(move |_, _| {
            let is_set_up = looked.load(Ordering::SeqCst);
            async move { if is_set_up { Ok(None) } else { Err(ToolError::tool("there is no key")) } }
        });
    let bench = Bench::new(tool).unwrap();
    for _ in 0..3 {
        assert_eq!(bench.run(json!({})).await.message.as_deref(), Some("there is no key"));
    }
    is_set_up.store(true, Ordering::SeqCst);
    assert!(bench.run(json!({})).await.success);
    assert_eq!(kind_of(&bench.report(json!({})).await), ErrorKind::RateLimited);
}

#[tokio::test]
async fn a_rate_can_count_a_whole_project() {
    let mut limited = spec(Effect::Read);
    limited.rates = vec![RateLimit { max: 1, per: Duration::from_secs(60), key: RateKey::Project }];
    let bench = Bench::new(scripted(limited, |_c, _a| async { Ok(ToolOutput::new(1)) })).unwrap();
    let call = async |user: &str| bench.room().call(bench.request().scope(Scope::user("local", user))).await;
    assert!(call("ann").await.for_client().success);
    assert_eq!(kind_of(&call("bob").await), ErrorKind::RateLimited);
}

#[tokio::test]
async fn only_so_many_run_at_a_time_and_the_rest_wait() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let mut narrow = spec(Effect::Read);
    narrow.concurrency = Some(3);
    let (now, peak) = (Arc::clone(&running), Arc::clone(&most));
    let bench = Bench::new(scripted(narrow, move |_context, _arguments| {
        let (now, peak) = (Arc::clone(&now), Arc::clone(&peak));
        async move {
            peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(ToolOutput::new(1))
        }
    }))
    .unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..50 {
        let (room, request) = (bench.room().clone(), bench.request());
        calls.spawn(async move { room.call(request).await.for_client().success });
    }
    assert!(calls.join_all().await.into_iter().all(|success| success));
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn waiting_counts_against_the_deadline_and_the_queue_is_bounded() {
    let gate = Arc::new(Semaphore::new(0));
    let mut narrow = spec(Effect::Read);
    narrow.concurrency = Some(1);
    let door = Arc::clone(&gate);
    let bench = Bench::new(scripted(narrow, move |_context, _arguments| {
        let door = Arc::clone(&door);
        async move {
            door.acquire().await.unwrap().forget();
            Ok(ToolOutput::new(1))
        }
    }))
    .unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..300 {
        // The first one holds the only place for longer than the others may wait.
        let limit = Duration::from_secs(if n == 0 { 60 } else { 30 });
        let (room, request) = (bench.room().clone(), bench.request().timeout(limit));
        calls.spawn(async move { room.call(request).await.outcome });
    }
    let outcomes = calls.join_all().await;
    let count = |wanted: ErrorKind| {
        let is = |outcome: &&Outcome| matches!(outcome, Outcome::Failed(error) if error.kind() == wanted);
        outcomes.iter().filter(is).count()
    };
    // 256 wait until their deadline, 43 find the queue full; none of them ran.
    assert_eq!((count(ErrorKind::Timeout), count(ErrorKind::RateLimited)), (1, 299));
    let every = CallFilter { limit: Some(1_000), ..CallFilter::default() };
    let rows = bench.ledger().calls(&Scope::default(), every).await.unwrap();
    assert_eq!(rows.iter().filter(|row| row.begun_at.is_some()).count(), 1);
    assert_eq!(
        bench.run(json!({})).await.message.as_deref(),
        Some("timed out after 30s"),
        "the place is free again"
    );
}
