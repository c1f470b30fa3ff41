//! A tool that only reads with some arguments and writes with others.

use toolroom::call::{CallContext, CallReport, CallRequest, Outcome};
use toolroom::ledger::{CallStatus, Journal};
use toolroom::policy::Ruling;
use toolroom::scope::Scope;
use toolroom::testing::MemoryLedger;
use toolroom::tool::{Arguments, Capability, Effect, Risk, Tool, ToolError, ToolOutput, ToolSpec};
use toolroom::{BoxFuture, Toolroom};

use std::future::ready;
use std::sync::Arc;

use crate::room::spec;

/// Fetches, or sends when there is a `body`.
struct Fetch {
    reading: ToolSpec,
    sending: ToolSpec,
}

impl Tool for Fetch {
    fn spec(&self) -> &ToolSpec {
        &self.reading
    }

    fn spec_for(&self, arguments: &Arguments) -> &ToolSpec {
        assert!(!arguments.contains_key("crash"), "cannot say");
        if arguments.contains_key("body") { &self.sending } else { &self.reading }
    }

    fn run<'a>(&'a self, _: CallContext, _: Arguments) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(ready(Ok(ToolOutput::new("sent"))))
    }
}

fn room(sending: ToolSpec) -> (Toolroom, Arc<MemoryLedger>) {
    let ledger = Arc::new(MemoryLedger::new());
    let room = Toolroom::builder(Arc::clone(&ledger)).build();
    room.catalog().register(Fetch { reading: reading(), sending }).unwrap();
    (room, ledger)
}

fn reading() -> ToolSpec {
    spec(Effect::Read).capabilities(&[Capability::Egress, Capability::ReadsUntrusted])
}

fn sending() -> ToolSpec {
    let able = [Capability::Egress, Capability::ReadsUntrusted, Capability::Writes];
    spec(Effect::OnceOnlyWrite).capabilities(&able).risk(Risk::Medium)
}

fn with_body() -> CallRequest {
    CallRequest::new("probe").argument("body", "x")
}

fn denial(report: &CallReport) -> &str {
    match &report.outcome {
        Outcome::Denied(denial) => &denial.reason,
        other => panic!("expected a denial, got {other:?}"),
    }
}

#[tokio::test]
async fn a_call_is_judged_and_journaled_by_what_its_arguments_make_of_it() {
    let (room, ledger) = room(sending());
    let read = room.call(CallRequest::new("probe")).await;
    assert!(matches!(read.outcome, Outcome::Done(_)), "{read:?}");
    let sent = room.call(with_body()).await;
    let Outcome::Pending(pending) = &sent.outcome else { panic!("{sent:?}") };
    assert_eq!(pending.rule, "default.write");
    assert!(pending.reason.contains("changes something"), "{}", pending.reason);

    let rows = [read.call_id, sent.call_id].map(|id| {
        let ledger = Arc::clone(&ledger);
        async move { ledger.call(&Scope::default(), &id).await.unwrap().unwrap() }
    });
    let [read, sent] = rows;
    let (read, sent) = (read.await, sent.await);
    assert_eq!((read.status, read.effect), (CallStatus::Done, Some(Effect::Read)));
    assert_eq!((sent.status, sent.effect), (CallStatus::Pending, Some(Effect::OnceOnlyWrite)));
}

#[tokio::test]
async fn an_explanation_tells_what_the_call_counts_as() {
    let (room, _) = room(sending());
    let explanation = room.explain(with_body()).await.unwrap();
    assert_eq!(explanation.spec().effective_effect(), Effect::OnceOnlyWrite);
    assert_eq!(explanation.verdict.unwrap().unwrap().ruling, Ruling::Ask);
    let explanation = room.explain(CallRequest::new("probe")).await.unwrap();
    assert_eq!(explanation.spec().effective_effect(), Effect::Read);
}

#[tokio::test]
async fn a_call_described_as_less_than_its_tool_is_denied() {
    let laxer = [
        spec(Effect::Pure).capabilities(&[Capability::Egress, Capability::ReadsUntrusted]),
        spec(Effect::Read).capabilities(&[Capability::Egress]),
        ToolSpec::new("app:other", "").unwrap().effect(Effect::Destructive),
    ];
    for spec in laxer {
        let (room, _) = room(spec);
        let report = room.call(with_body()).await;
        assert_eq!(denial(&report), "the tool declares less for this call than in its definition");
    }
}

#[tokio::test]
async fn a_tool_that_cannot_say_what_a_call_would_do_is_not_called() {
    let (room, _) = room(sending());
    let report = room.call(CallRequest::new("probe").argument("crash", true)).await;
    assert_eq!(denial(&report), "the tool crashed when asked what the call would do");
}
