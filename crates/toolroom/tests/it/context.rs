//! T10: what a tool knows about its call; progress.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, json};
use toolroom::call::{CallContext, Outcome, Progress, UserLocation};
use toolroom::clock::Timestamp;
use toolroom::scope::Scope;
use toolroom::testing::{Bench, ManualClock, MemoryLedger};
use toolroom::tool::{Effect, Offer, OfferedFile, ToolOutput};
use toolroom::{Toolroom, ledger::CallFilter, ledger::Journal};

use crate::room::{echo, scripted, spec};

#[tokio::test]
async fn the_context_carries_identity_and_facts() {
    let tool = scripted(spec(Effect::Pure), |context: CallContext, _arguments| async move {
        Ok(ToolOutput::new(json!({
            "call": context.call_id().as_str(),
            "project": context.scope().project.as_str(),
            "user": context.scope().user.as_ref().map(|user| user.as_str().to_owned()),
            "thread": context.thread_id(),
            "run": context.run_id(),
            "metadata": context.metadata(),
            "client": context.client_context(),
            "cancelled": context.is_cancelled(),
        })))
    });
    let bench = Bench::new(tool).unwrap();
    let mut request = bench.request().scope(Scope::user("local", "ann"));
    request = request.conversation("t1", Some("r1"));
    request.metadata = Map::from_iter([("trace".to_owned(), json!(7))]);
    request.context = Map::from_iter([("email".to_owned(), json!("ann@example.com"))]);
    let report = bench.room().call(request).await;
    assert_eq!(
        report.for_model().unwrap(),
        json!({
            "call": report.call_id.as_str(), "project": "local", "user": "ann", "thread": "t1", "run": "r1",
            "metadata": {"trace": 7}, "client": {"email": "ann@example.com"}, "cancelled": false,
        })
    );
    let row = bench.journal().await.remove(0);
    assert_eq!((row.thread.as_deref(), row.run.as_deref()), (Some("t1"), Some("r1")));
}

#[tokio::test]
async fn progress_reaches_the_caller_bounded() {
    let tool = scripted(spec(Effect::Pure), |context: CallContext, _arguments| async move {
        context.progress("half", Some(0.5));
        context.progress("x".repeat(10_000), Some(7.0));
        context.progress("odd", Some(f64::NAN));
        Ok(ToolOutput::new("done"))
    });
    let bench = Bench::new(tool).unwrap();
    let seen: Arc<Mutex<Vec<Progress>>> = Arc::default();
    let sink = Arc::clone(&seen);
    let mut request = bench.request();
    request.progress = Some(Arc::new(move |progress| sink.lock().unwrap().push(progress)));
    bench.room().call(request).await;
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], Progress { message: "half".into(), fraction: Some(0.5) });
    assert_eq!((seen[1].message.len(), seen[1].fraction), (500, Some(1.0)));
    assert_eq!(seen[2].fraction, None);
}

#[tokio::test]
async fn all_time_comes_from_the_clock_port() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_micros(1_000_000)));
    let ledger = Arc::new(MemoryLedger::new());
    let room = Toolroom::builder(Arc::clone(&ledger)).clock(Arc::clone(&clock) as _).build();
    room.catalog().register(echo()).unwrap();
    room.call(toolroom::call::CallRequest::new("probe")).await;
    clock.advance(Duration::from_secs(5));
    room.call(toolroom::call::CallRequest::new("probe")).await;
    let rows = ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap();
    let times: Vec<i64> = rows.iter().map(|row| row.asked_at.as_micros()).collect();
    assert_eq!(times, [6_000_000, 1_000_000]);
}

#[tokio::test]
async fn a_tool_knows_where_the_person_sits() {
    let tool = scripted(spec(Effect::Pure), |context: CallContext, _arguments| async move {
        Ok(ToolOutput::new(serde_json::to_value(context.user_location()).unwrap()))
    });
    let bench = Bench::new(tool).unwrap();
    assert_eq!(bench.room().call(bench.request()).await.for_model(), Some(json!("away")));
    let here = bench.request().user_location(UserLocation::Local);
    assert_eq!(bench.room().call(here).await.for_model(), Some(json!("here")));
}

#[tokio::test]
async fn what_is_offered_is_told_and_a_file_only_if_it_is_kept() {
    let tool = scripted(spec(Effect::Pure), |context: CallContext, _arguments| async move {
        let (kept, lost) =
            (context.attachment("text/html", b"<p>".to_vec()), context.attachment("a/b", Vec::new()));
        let offers = [
            Offer::OpenUrl { url: "https://example.com/".to_owned() },
            Offer::SaveFile(OfferedFile::from_attachment(&kept, "../a.html")),
            Offer::SaveFile(OfferedFile::from_attachment(&lost, "b")),
        ];
        let output = ToolOutput::new("made").with_attachments(vec![kept]);
        Ok(offers.into_iter().fold(output, ToolOutput::offering))
    });
    let bench = Bench::new(tool).unwrap();
    let report = bench.room().call(bench.request()).await;
    let Outcome::Done(done) = report.outcome else { panic!("{report:?}") };
    let told = serde_json::to_value(&done.offers).unwrap();
    assert_eq!(
        (told[0]["url"].as_str(), told[1]["name"].as_str()),
        (Some("https://example.com/"), Some("a.html"))
    );
    assert_eq!((&told[1]["bytes"], told.as_array().unwrap().len()), (&json!(3), 2), "{told}");
}
