//! Deadlines, cancellation, panics, and callers that go away.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::oneshot;
use toolroom::call::CallContext;
use toolroom::ledger::{CallStatus, RateLimit};
use toolroom::testing::Bench;
use toolroom::tool::{
    Arguments, Effect, ErrorKind, NoArguments, Pool, RaisedBy, Timeout, Tool, ToolError, ToolOutput, tool_fn,
};

use crate::room::{error_of, kind_of, scripted, spec};

fn endless(effect: Effect) -> impl Tool {
    let mut spec = spec(effect);
    spec.timeout = Timeout::Never;
    scripted(spec, |_context, _arguments| std::future::pending())
}

#[tokio::test(start_paused = true)]
async fn a_tool_gets_the_time_it_declares() {
    let mut limited = spec(Effect::Pure);
    limited.timeout = Timeout::FromArgument {
        name: "timeout".into(),
        default: Duration::from_secs(30),
        max: Duration::from_secs(120),
    };
    let tool = scripted(limited, |context: CallContext, _arguments| async move {
        let left = context.deadline().unwrap() - tokio::time::Instant::now();
        Ok(ToolOutput::new(left.as_secs()))
    });
    let bench = Bench::new(tool).unwrap();
    // Two seconds more than asked, so that a tool which ends by itself can still hand over what it has.
    assert_eq!(bench.run(json!({})).await.result, Some(json!(32)));
    assert_eq!(bench.run(json!({"timeout": 5})).await.result, Some(json!(7)));
    assert_eq!(bench.run(json!({"timeout": 500})).await.result, Some(json!(122)));
}

#[tokio::test(start_paused = true)]
async fn the_default_limit_is_thirty_seconds() {
    let bench =
        Bench::new(scripted(spec(Effect::Pure), |_context, _arguments| std::future::pending())).unwrap();
    let report = bench.report(json!({})).await;
    assert_eq!((kind_of(&report), error_of(&report).raised_by()), (ErrorKind::Timeout, RaisedBy::Kernel));
    assert_eq!(error_of(&report).for_model(), "timed out after 30s");
    assert_eq!(report.duration.as_secs(), 30);
    assert_eq!(bench.journal().await[0].status, CallStatus::Failed);
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_write_is_unknown_in_the_journal() {
    let bench = Bench::new(endless(Effect::OnceOnlyWrite)).unwrap();
    let report = bench.room().call(bench.request().timeout(Duration::from_secs(1))).await;
    assert_eq!(kind_of(&report), ErrorKind::Timeout);
    assert!(error_of(&report).hint().unwrap().contains("check before calling again"));
    assert_eq!(bench.journal().await[0].status, CallStatus::Unknown);
}

#[tokio::test]
async fn cancellation_is_never_a_result() {
    for (effect, status) in
        [(Effect::Read, CallStatus::Cancelled), (Effect::Destructive, CallStatus::Unknown)]
    {
        let bench = Bench::new(endless(effect)).unwrap();
        let request = bench.request();
        request.cancellation.cancel();
        let report = bench.room().call(request).await;
        assert_eq!(kind_of(&report), ErrorKind::Cancelled);
        assert_eq!(bench.journal().await[0].status, CallStatus::Cancelled, "stopped before it began");

        let request = bench.request();
        let stop = request.cancellation.clone();
        let (report, ()) = tokio::join!(bench.room().call(request), async {
            tokio::task::yield_now().await;
            stop.cancel();
        });
        assert_eq!(report.for_model(), None);
        assert_eq!(report.outcome.name(), "cancelled");
        assert_eq!(bench.journal().await[0].status, status, "{effect}");
    }
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_a_closed_row() {
    for (effect, status) in
        [(Effect::Pure, CallStatus::Cancelled), (Effect::OnceOnlyWrite, CallStatus::Unknown)]
    {
        let bench = Bench::new(endless(effect)).unwrap();
        let call = bench.room().call(bench.request());
        assert!(tokio::time::timeout(Duration::ZERO, call).await.is_err());
        let rows = bench.journal().await;
        assert_eq!((rows.len(), rows[0].status), (1, status));
        assert!(rows[0].ended_at.is_some());
    }
}

#[tokio::test]
async fn a_panic_stays_inside_the_call() {
    for pool in [Pool::Inline, Pool::Blocking] {
        let mut shaky = spec(Effect::Pure);
        shaky.pool = pool;
        let bench = Bench::new(scripted(shaky, |_context, _arguments| async {
            panic!("the secret reason");
        }))
        .unwrap();
        let report = bench.report(json!({})).await;
        assert_eq!(kind_of(&report), ErrorKind::Crashed);
        assert_eq!(report.for_model(), Some(json!({"error": "the tool crashed"})), "{pool:?}");
        let row = bench.journal().await.remove(0);
        assert!(row.detail.unwrap().contains("the secret reason"), "the operator reads why");
        assert!(!row.error.unwrap().contains("the secret reason"), "a model does not");
    }
}

#[tokio::test]
async fn a_crash_in_the_middle_of_a_write_leaves_its_effect_unknown() {
    let bench = Bench::new(scripted(spec(Effect::OnceOnlyWrite), |_context, _arguments| async {
        panic!("halfway");
    }))
    .unwrap();
    let report = bench.report(json!({})).await;
    assert!(report.for_model().unwrap()["hint"].as_str().unwrap().contains("check before calling again"));
    assert_eq!(bench.journal().await[0].status, CallStatus::Unknown);
}

#[tokio::test]
async fn a_cause_that_cannot_be_printed_stays_inside_the_call() {
    #[derive(Debug)]
    struct Nasty;
    impl std::fmt::Display for Nasty {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("no words")
        }
    }
    impl std::error::Error for Nasty {}
    #[derive(Debug)]
    struct Endless;
    impl std::fmt::Display for Endless {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("again")
        }
    }
    impl std::error::Error for Endless {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(self)
        }
    }
    let bench = Bench::new(scripted(spec(Effect::Pure), |_context, arguments: Arguments| async move {
        let error = ToolError::tool("no luck");
        Err(if arguments.is_empty() { error.caused_by(Nasty) } else { error.caused_by(Endless) })
    }))
    .unwrap();
    for arguments in [json!({}), json!({"endless": true})] {
        assert_eq!(bench.report(arguments).await.for_model().unwrap()["error"], "no luck");
    }
}

#[tokio::test]
async fn a_blocking_tool_does_not_hold_up_others() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    let mut slow = spec(Effect::Pure);
    slow.pool = Pool::Blocking;
    // On the only thread of this runtime the channel would be waited for without end.
    let bench = Bench::new(scripted(slow, move |_context, _arguments| {
        wait.lock().unwrap().recv().unwrap();
        async { Ok(ToolOutput::new("released")) }
    }))
    .unwrap();
    let (report, ()) = tokio::join!(bench.report(json!({})), async { release.send(()).unwrap() });
    assert_eq!(report.for_model(), Some(json!("released")));
}

#[tokio::test]
async fn a_blocking_tool_is_told_when_its_call_is_over() {
    #[derive(Debug, Clone, Copy)]
    enum End {
        Cancelled,
        Late,
        Dropped,
    }
    for end in [End::Cancelled, End::Late, End::Dropped] {
        let (told, heard) = oneshot::channel();
        let (started, begun) = oneshot::channel();
        let channels = std::sync::Mutex::new(Some((started, told)));
        let tool =
            scripted(spec(Effect::Pure).pool(Pool::Blocking), move |context: CallContext, _arguments| {
                let (started, told) = channels.lock().unwrap().take().unwrap();
                async move {
                    started.send(()).unwrap();
                    while !context.is_cancelled() {
                        std::thread::yield_now();
                    }
                    told.send(()).unwrap();
                    Err(ToolError::tool("stopped"))
                }
            });
        let bench = Bench::new(tool).unwrap();
        let mut request = bench.request();
        let stop = request.cancellation.clone();
        if matches!(end, End::Late) {
            // Long enough to get a thread on a busy machine: what never starts cannot be told.
            request = request.timeout(Duration::from_secs(1));
        }
        let mut call = Box::pin(bench.room().call(request));
        match end {
            End::Late => assert_eq!(kind_of(&call.await), ErrorKind::Timeout),
            End::Cancelled | End::Dropped => {
                tokio::select! {
                    report = &mut call => panic!("{report:?}"),
                    started = begun => started.unwrap(),
                }
                if matches!(end, End::Cancelled) {
                    stop.cancel();
                    assert_eq!(kind_of(&call.await), ErrorKind::Cancelled);
                } else {
                    drop(call);
                }
            }
        }
        heard.await.unwrap();
    }
}

#[tokio::test]
async fn a_call_that_never_began_leaves_a_row_too() {
    let bench =
        Bench::new(scripted(spec(Effect::OnceOnlyWrite).concurrency(1), |_c, _a| std::future::pending()))
            .unwrap();
    let holder = bench.room().call(bench.request());
    let waiter = bench.room().call(bench.request().argument("n", 2));
    let both = async { tokio::join!(holder, waiter) };
    assert!(tokio::time::timeout(Duration::from_millis(10), Box::pin(both)).await.is_err());
    let rows = bench.journal().await;
    let found: Vec<_> = rows.iter().map(|row| (row.status, row.begun_at.is_some())).collect();
    assert_eq!(found, [(CallStatus::Cancelled, false), (CallStatus::Unknown, true)]);
    assert_eq!(*rows[0].arguments, json!({"n": 2}));
}

#[tokio::test]
async fn a_tools_own_timeout_or_cancellation_is_its_own_failure() {
    for kind in [ErrorKind::Timeout, ErrorKind::Cancelled] {
        let bench = Bench::new(scripted(spec(Effect::OnceOnlyWrite), move |_c, _a| async move {
            Err(ToolError::new(kind, "the other side gave up"))
        }))
        .unwrap();
        let report = bench.report(json!({})).await;
        assert_eq!((report.outcome.name(), error_of(&report).raised_by()), ("failed", RaisedBy::Tool));
        assert_eq!(report.for_model().unwrap()["error"], "the other side gave up");
        assert_eq!(bench.journal().await[0].status, CallStatus::Failed);
    }
}

#[tokio::test]
async fn a_deadline_in_the_past_runs_nothing() {
    for spec in [spec(Effect::Pure), spec(Effect::Pure).concurrency(1), spec(Effect::OnceOnlyWrite)] {
        let bench = Bench::new(scripted(spec, |_c, _a| async { Ok(ToolOutput::new("ran")) })).unwrap();
        let report = bench.room().call(bench.request().timeout(Duration::ZERO)).await;
        assert_eq!(kind_of(&report), ErrorKind::Timeout);
    }
}

#[tokio::test]
async fn a_deadline_in_the_past_uses_up_no_rate_and_takes_no_answer_that_is_at_hand() {
    for is_at_hand in [false, true] {
        let tool = tool_fn("app:probe", "Looks up", |_context, _: NoArguments| async { Ok("asked for") })
            .unwrap()
            .with(|spec| spec.effect(Effect::Read).rate(RateLimit::per_hour(1)))
            .answers_at_hand(move |_, _| async move { Ok(is_at_hand.then(|| ToolOutput::new("found"))) });
        let bench = Bench::new(tool).unwrap();
        let report = bench.room().call(bench.request().timeout(Duration::ZERO)).await;
        assert_eq!(kind_of(&report), ErrorKind::Timeout, "{is_at_hand}");
        assert!(bench.journal().await[0].begun_at.is_none(), "{is_at_hand}");
        assert!(bench.run(json!({})).await.success, "{is_at_hand}");
    }
}

#[test]
fn a_call_that_is_over_before_it_gets_a_thread_does_not_run() {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let ran = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ran);
        let bench = Bench::new(scripted(spec(Effect::OnceOnlyWrite).pool(Pool::Blocking), move |_c, _a| {
            flag.store(true, Ordering::SeqCst);
            async { Ok(ToolOutput::new("ran")) }
        }))
        .unwrap();
        let (release, wait) = std::sync::mpsc::channel::<()>();
        let busy = tokio::task::spawn_blocking(move || wait.recv());
        let report = bench.room().call(bench.request().timeout(Duration::from_millis(20))).await;
        assert_eq!(kind_of(&report), ErrorKind::Timeout);
        release.send(()).unwrap();
        busy.await.unwrap().unwrap();
        // The only thread is free again: what was queued behind it has had its turn before this.
        tokio::task::spawn_blocking(|| {}).await.unwrap();
        assert!(!ran.load(Ordering::SeqCst));
    });
}

#[tokio::test]
async fn no_sign_of_life_comes_from_a_call_that_is_over() {
    let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let (done, ended) = oneshot::channel();
    let done = std::sync::Mutex::new(Some(done));
    let tool = scripted(spec(Effect::Pure).pool(Pool::Blocking), move |context: CallContext, _arguments| {
        let done = done.lock().unwrap().take();
        async move {
            context.progress("begun", None);
            while !context.is_cancelled() {
                std::thread::yield_now();
            }
            context.progress("too late", None);
            drop(context);
            done.unwrap().send(()).unwrap();
            Err(ToolError::tool("stopped"))
        }
    });
    let bench = Bench::new(tool).unwrap();
    let request = bench.request().timeout(Duration::from_secs(1));
    bench.room().call(request.progress(move |progress| told.send(progress.message).unwrap())).await;
    ended.await.unwrap();
    assert_eq!(heard.recv().await.as_deref(), Some("begun"));
    assert_eq!(heard.recv().await, None);
}

#[tokio::test]
async fn a_future_that_panics_when_dropped_stays_inside_the_call() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "a bomb");
        }
    }
    let bench = Bench::new(scripted(spec(Effect::Pure), |_context, arguments: Arguments| async move {
        let _bomb = Bomb;
        if arguments.contains_key("wait") {
            std::future::pending::<()>().await;
        }
        Ok(ToolOutput::new("done"))
    }))
    .unwrap();
    assert_eq!(kind_of(&bench.report(json!({})).await), ErrorKind::Crashed);
    let request = bench.request().argument("wait", true).timeout(Duration::from_millis(1));
    assert_eq!(kind_of(&bench.room().call(request).await), ErrorKind::Timeout);
}
