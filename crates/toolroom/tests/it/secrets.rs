//! No secret leaves a call: not to its caller, not to the journal, not into an artifact, not as a sign of life.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolroom::call::{CallContext, CallReport, CallRequest, Outcome};
use toolroom::ledger::{Artifacts, CallFilter, CallStatus, Journal};
use toolroom::redact::{Fixed, Patterns, RedactionError, Redactions, Redactor, Secret};
use toolroom::scope::{ProjectId, Scope};
use toolroom::testing::{MemoryLedger, NoSeal, unguarded};
use toolroom::tool::{Arguments, Effect, ToolError, ToolOutput};
use toolroom::{BoxFuture, Toolroom};

use crate::room::{scripted, spec};

const SECRET: &str = "hunter2 & \"friends\"/42";

fn room(ledger: &Arc<MemoryLedger>, redactions: Arc<dyn Redactions>) -> Toolroom {
    Toolroom::builder(Arc::clone(ledger))
        .policy(unguarded())
        .seal(Arc::new(NoSeal))
        .redactions(redactions)
        .build()
}

fn hiding() -> Arc<dyn Redactions> {
    let secret = Secret::new("DOOR_CODE", SECRET);
    Arc::new(Fixed::new(Arc::new(Redactor::new([secret], Patterns::Keys))))
}

/// Says the text in the way it is told to.
async fn blurt(context: CallContext, arguments: Arguments) -> Result<ToolOutput, ToolError> {
    let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    match arguments.get("way").and_then(Value::as_str).unwrap_or_default() {
        "message" => Ok(ToolOutput::new("said").with_message(text)),
        "key" => Ok(ToolOutput::new(json!({ text: [1] }))),
        "error" => Err(ToolError::tool(text)),
        "hint" => Err(ToolError::tool("see the hint").with_hint(text)),
        "cause" => Err(ToolError::tool("see the cause").caused_by(text)),
        "panic" => panic!("{text}"),
        "long" => Ok(ToolOutput::new(format!("{text} ").repeat(3_000))),
        "progress" => {
            context.progress(text, None);
            Ok(ToolOutput::new("said"))
        }
        "halves" => {
            let (first, second) = text.split_at(text.len() / 2);
            context.progress(first, None);
            context.progress(second, None);
            Ok(ToolOutput::new("said"))
        }
        _ => Ok(ToolOutput::new(json!({"deep": [{"text": text}]}))),
    }
}

#[tokio::test]
async fn a_secret_is_redacted_in_every_form_a_tool_returns() {
    for way in ["result", "message", "key", "error", "hint", "cause", "panic", "long", "progress", "halves"] {
        let ledger = Arc::new(MemoryLedger::new());
        let room = room(&ledger, hiding());
        room.catalog().register(scripted(spec(Effect::Pure), blurt)).unwrap();
        let told: Arc<Mutex<String>> = Arc::default();
        let sink = Arc::clone(&told);
        let request = CallRequest::new("probe")
            .argument("text", SECRET)
            .argument("way", way)
            .progress(move |progress| sink.lock().unwrap().push_str(&progress.message));
        let report = room.call(request).await;

        let mut seen = told.lock().unwrap().clone();
        seen.push_str(&all_of(&report));
        for row in ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap() {
            if let Some(id) = &row.artifact {
                let whole = ledger.artifact(&Scope::default(), id).await.unwrap().unwrap();
                seen.push_str(std::str::from_utf8(&whole.bytes).unwrap());
            }
            seen.push_str(&serde_json::to_string(&row).unwrap());
        }
        for part in ["hunter2", "friends\"/42", "friends\\\"/42"] {
            assert!(!seen.contains(part), "{way}: {seen}");
        }
        assert!(way == "halves" || seen.contains("[secret DOOR_CODE]"), "{way}: {seen}");
    }
}

/// Everything a caller can read of a report.
fn all_of(report: &CallReport) -> String {
    let mut text = format!("{:?} {:?}", report.for_model(), report.for_client());
    match &report.outcome {
        Outcome::Done(done) => text.push_str(&format!("{done:?}")),
        Outcome::Failed(error) => text.push_str(&format!("{error:?} {error} {:?}", error.for_operator())),
        Outcome::Denied(denial) => text.push_str(&format!("{denial:?} {:?}", denial.cause())),
        Outcome::Pending(pending) => text.push_str(&format!("{pending:?}")),
    }
    text
}

#[tokio::test]
async fn calls_that_never_run_keep_no_secret_either() {
    let ledger = Arc::new(MemoryLedger::new());
    let room = room(&ledger, hiding());
    let mut strict = spec(Effect::Pure);
    strict.parameters = Arc::new(json!({"type": "object", "properties": {"n": {"type": "integer"}}}));
    room.catalog().register(scripted(strict, blurt)).unwrap();
    for request in [
        CallRequest::new(SECRET),
        CallRequest::new("probe").argument("n", SECRET),
        CallRequest::new("probe").arguments_text(format!("not json {SECRET}")),
        CallRequest::new("probe").arguments_text(format!("{{\"n\": \"{SECRET}\"}}")),
        CallRequest::new("probe").argument("n", format!("{}{SECRET}", "x".repeat(50))),
        CallRequest::new("probe").argument("n", json!([{ SECRET: SECRET }])),
    ] {
        let report = room.call(request).await;
        assert!(!all_of(&report).contains("hunter2"), "{report:?}");
    }
    let rows = ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap();
    assert_eq!(rows.len(), 6);
    assert!(!serde_json::to_string(&rows).unwrap().contains("hunter2"), "{rows:?}");
}

/// A source of secrets that fails.
struct Lost;

impl Redactions for Lost {
    fn redactor<'a>(
        &'a self,
        project: &'a ProjectId,
        _revision: i64,
    ) -> BoxFuture<'a, Result<Arc<Redactor>, RedactionError>> {
        Box::pin(async { Err(RedactionError::new(project.clone(), "the key is gone")) })
    }
}

#[tokio::test]
async fn nothing_runs_and_nothing_is_kept_while_secrets_cannot_be_read() {
    let ledger = Arc::new(MemoryLedger::new());
    let room = room(&ledger, Arc::new(Lost));
    room.catalog().register(scripted(spec(Effect::Pure), blurt)).unwrap();
    let report = room.call(CallRequest::new("probe").argument("text", SECRET)).await;
    let Outcome::Denied(denial) = &report.outcome else { panic!("{report:?}") };
    assert_eq!(denial.rule, "secrets.unreadable");
    assert!(denial.cause().unwrap().contains("the key is gone"));
    let rows = ledger.calls(&Scope::default(), CallFilter::default()).await.unwrap();
    assert_eq!(rows[0].status, CallStatus::Denied);
    assert!(!serde_json::to_string(&rows).unwrap().contains("hunter2"), "{rows:?}");
    let unknown = room.call(CallRequest::new("nothing").argument("text", SECRET)).await;
    assert!(all_of(&unknown).contains("unknown tool `nothing`"), "{unknown:?}");
}

#[tokio::test]
async fn what_a_tool_keeps_for_later_it_can_hide_itself() {
    let ledger = Arc::new(MemoryLedger::new());
    let room = room(&ledger, hiding());
    let tool = scripted(spec(Effect::Pure), |context: CallContext, _arguments| async move {
        let hidden = context.without_secrets(&format!("the code is {SECRET}")).into_owned();
        let plain = context.without_secrets("nothing to see");
        Ok(ToolOutput::new(json!([hidden == "the code is [secret DOOR_CODE]", plain])))
    });
    let name = spec(Effect::Pure).id.to_string();
    room.catalog().register(tool).unwrap();
    let report = room.call(CallRequest::new(name)).await;
    assert_eq!(report.for_model().unwrap(), json!([true, "nothing to see"]));
}
