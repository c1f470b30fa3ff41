//! T6, T15: every way a call can end, what its readers see, and the row it leaves.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};
use toolroom::call::{CallRequest, ClientResult};
use toolroom::ledger::{CallStatus, SwitchState};
use toolroom::scope::ProjectId;
use toolroom::testing::Bench;
use toolroom::tool::{Effect, ErrorKind, RaisedBy, ToolError, ToolOutput};

use crate::room::{echo, error_of, scripted, spec};

#[tokio::test]
async fn success_is_the_bare_result_for_a_model() {
    let bench = Bench::new(scripted(spec(Effect::Pure), |_c, _a| async {
        Ok(ToolOutput::new(42).with_message("the answer"))
    }))
    .unwrap();
    let report = bench.report(json!({"x": 1})).await;
    assert_eq!(report.for_model(), Some(json!(42)));
    let expected =
        ClientResult { success: true, result: Some(json!(42)), message: Some("the answer".into()) };
    assert_eq!(report.for_client(), expected);
    assert_eq!(
        serde_json::to_value(expected).unwrap(),
        json!({"success": true, "result": 42, "message": "the answer"})
    );

    let row = bench.journal().await.remove(0);
    assert_eq!(
        (row.status, row.effect, row.result),
        (CallStatus::Done, Some(Effect::Pure), Some(json!(42).into()))
    );
    assert_eq!((&*row.arguments, row.arguments_bytes, row.result_chars), (&json!({"x": 1}), 7, 2));
    assert_eq!((row.rule.as_deref(), &*row.entrance), (Some("bench"), "embedded"));
    assert!(row.definition.is_some() && row.begun_at.is_some() && row.ended_at.is_some());
}

#[tokio::test]
async fn a_failure_is_an_error_for_the_model_and_a_cause_for_the_operator() {
    for kind in ErrorKind::ALL {
        if kind == ErrorKind::Cancelled {
            continue;
        }
        let tool = scripted(spec(Effect::Pure), move |_context, _arguments| async move {
            let cause = std::io::Error::other("host db-7.internal refused");
            Err(ToolError::new(kind, "it did not work").caused_by(cause))
        });
        let bench = Bench::new(tool).unwrap();
        let report = bench.report(json!({})).await;
        let seen = report.for_model().unwrap();
        assert_eq!(seen["error"], "it did not work");
        assert_eq!(seen.get("hint").is_some(), kind.hint().is_some(), "{kind}");
        assert!(!seen.to_string().contains("db-7"));
        assert_eq!(error_of(&report).raised_by(), RaisedBy::Tool);
        let row = bench.journal().await.remove(0);
        assert_eq!((row.status, row.kind), (CallStatus::Failed, Some(kind)));
        assert_eq!(row.detail.as_deref(), Some("host db-7.internal refused"));
    }
}

#[tokio::test]
async fn an_unknown_tool_gets_suggestions_and_a_row() {
    let bench = Bench::new(echo()).unwrap();
    let report = bench.room().call(CallRequest::new("prob").argument("x", 1)).await;
    assert_eq!(
        (error_of(&report).kind(), error_of(&report).raised_by()),
        (ErrorKind::NotFound, RaisedBy::Kernel)
    );
    assert_eq!(error_of(&report).for_model(), "unknown tool `prob`");
    assert_eq!(error_of(&report).hint(), Some("did you mean `app:probe`?"));
    let row = bench.journal().await.remove(0);
    assert_eq!((&*row.tool, row.status, &*row.arguments), ("prob", CallStatus::Failed, &json!({"x": 1})));

    let hostile = bench.room().call(CallRequest::new("x".repeat(100_000))).await;
    assert!(error_of(&hostile).for_model().len() < 200);
}

#[tokio::test]
async fn a_switched_off_tool_is_denied_with_a_remedy() {
    let bench = Bench::new(echo()).unwrap();
    bench.ledger().set_tool(&ProjectId::default(), "app:probe", SwitchState::Off);
    let report = bench.report(json!({})).await;
    assert_eq!(report.outcome.name(), "denied");
    assert_eq!(report.rule.as_deref(), Some("tool.off"));
    let seen = report.for_model().unwrap();
    assert_eq!(seen["error"], "denied: `app:probe` is switched off");
    assert_eq!(seen["hint"], "this call was refused; do not retry it");
    let row = bench.journal().await.remove(0);
    assert_eq!((row.status, row.begun_at), (CallStatus::Denied, None));
}

#[tokio::test]
async fn explaining_runs_nothing_and_writes_nothing() {
    let bench = Bench::new(scripted(spec(Effect::Destructive), |_context, _arguments| async {
        Err::<ToolOutput, _>(ToolError::tool("this must not run"))
    }))
    .unwrap();
    let explanation = bench.room().explain(bench.request().argument("x", 1)).await.unwrap();
    assert_eq!(Value::Object(explanation.arguments.unwrap()), json!({"x": 1}));
    assert_eq!(explanation.verdict.unwrap().unwrap().rule, "bench");
    assert!(!explanation.trace.unwrap().tried.is_empty());
    assert!(bench.journal().await.is_empty());
}

#[tokio::test]
async fn many_calls_at_once_keep_their_own_results() {
    let bench = Bench::new(echo()).unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..200 {
        let (room, request) = (bench.room().clone(), bench.request().argument("n", n));
        calls.spawn(async move { room.call(request).await.for_model().unwrap()["n"] == json!(n) });
    }
    assert!(calls.join_all().await.into_iter().all(|own| own));
    assert_eq!(bench.ledger().actions().len(), 0);
}

#[tokio::test]
async fn a_write_whose_tool_is_in_doubt_is_unknown() {
    for (effect, status) in [
        (Effect::Read, CallStatus::Failed),
        (Effect::IdempotentWrite, CallStatus::Unknown),
        (Effect::OnceOnlyWrite, CallStatus::Unknown),
    ] {
        let tool = scripted(spec(effect), |_context, _arguments| async {
            Err(ToolError::new(ErrorKind::Timeout, "no answer").in_doubt())
        });
        let bench = Bench::new(tool).unwrap();
        let report = bench.report(json!({})).await;
        assert_eq!(
            (error_of(&report).kind(), error_of(&report).raised_by()),
            (ErrorKind::Timeout, RaisedBy::Tool)
        );
        assert_eq!(error_of(&report).hint().is_some(), status == CallStatus::Unknown, "{effect}");
        assert_eq!(bench.journal().await.remove(0).status, status, "{effect}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_stopped_before_its_effect_has_certainly_changed_nothing() {
    // Before it: waits for ever. Behind it: has done what comes before, and then waits.
    for (waits_before, late, stopped) in
        [(true, CallStatus::Failed, CallStatus::Cancelled), (false, CallStatus::Unknown, CallStatus::Unknown)]
    {
        let tool = scripted(spec(Effect::OnceOnlyWrite), move |context, _arguments| async move {
            let before = async {
                if waits_before {
                    std::future::pending::<()>().await;
                }
            };
            context.before_effect(before).await;
            std::future::pending().await
        });
        let bench = Bench::new(tool).unwrap();
        let report = bench.room().call(bench.request().timeout(Duration::from_secs(1))).await;
        assert_eq!(error_of(&report).kind(), ErrorKind::Timeout);
        assert_eq!(error_of(&report).hint().is_some(), !waits_before, "{report:?}");
        assert_eq!(bench.journal().await.remove(0).status, late);

        let call = tokio::spawn({
            let (room, request) = (bench.room().clone(), bench.request());
            async move { room.call(request).await }
        });
        while bench.journal().await.iter().all(|row| row.status != CallStatus::Begun) {
            tokio::task::yield_now().await;
        }
        // It runs as far as it can.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        call.abort();
        assert!(call.await.is_err());
        let rows = bench.journal().await;
        assert!(
            rows.iter()
                .any(|row| row.status == stopped && row.error.as_deref() == Some("the caller went away"))
        );
    }
}

/// What changes nothing and is over at once has one row; what takes longer can be seen at work.
#[tokio::test]
async fn a_call_that_takes_longer_is_seen_at_work() {
    let (gate, seen) = (Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let (door, told) = (Arc::clone(&gate), Arc::clone(&seen));
    let bench = Bench::new(scripted(spec(Effect::Pure), move |_context, _arguments| {
        let (door, told) = (Arc::clone(&door), Arc::clone(&told));
        async move {
            told.notify_one();
            door.acquire().await.unwrap().forget();
            Ok(ToolOutput::new(1))
        }
    }))
    .unwrap();
    let (room, request) = (bench.room().clone(), bench.request());
    let call = tokio::spawn(async move { room.call(request).await });
    seen.notified().await;
    let rows = bench.journal().await;
    assert_eq!(rows.iter().map(|row| row.status).collect::<Vec<_>>(), [CallStatus::Begun]);
    assert!(rows[0].begun_at.is_some());
    gate.add_permits(1);
    assert!(call.await.unwrap().for_client().success);
    let rows = bench.journal().await;
    assert_eq!(rows.iter().map(|row| row.status).collect::<Vec<_>>(), [CallStatus::Done]);
}
